//! A tile's needles, and the layers they are visited in.

use super::changes::Seen;
use super::footprint::Layout;
use super::plane::PlaneState;
use crate::grid::{AxisLayer, AxisLayers, Grid, Tile, axis_order};
use crate::real::Real;
use crate::simd::Level;
use std::ops::Range;

/// A non-zero code of a tile.
#[derive(Clone, Copy)]
pub(super) struct LocalCode<T> {
    /// Where its patch begins in the footprint.
    pub(super) offset: u32,
    pub(super) atom: u16,
    /// Is any weight of its patch not 1?
    pub(super) cut: bool,
    pub(super) value: T,
    /// Energy of its atom under the weights of its patch.
    pub(super) curvature: T,
}

/// A needle found wanting by a measurement, with the range of its codes.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) layer: u32,
    pub(super) offset: u32,
    pub(super) codes: (u32, u32),
}

/// A tile with its codes, in the order of the layers, then needles, then atoms.
pub(super) struct TileState<T> {
    pub(super) plane: usize,
    /// Number of the tile among those of all planes.
    pub(super) number: usize,
    /// Number of the tile in its plane's grid.
    pub(super) index: usize,
    pub(super) tile: Tile,
    pub(super) codes: Vec<LocalCode<T>>,
    /// Does the curvature of the codes belong to the present atoms?
    pub(super) curvature_holds: bool,
    pub(super) candidates: Vec<Candidate>,
    /// What the last sweep did here: largest change of a code, the same in its last round.
    pub(super) largest_change: f64,
    pub(super) last_change: f64,
    /// `sum weight_ik |a_ik|` when last measured, and `||r||^2` and `<A (Y - B), r>` over its own samples.
    pub(super) weighted_l1: f64,
    pub(super) energies: (f64, f64),
    /// Largest correlation when last measured.
    pub(super) largest_correlation: f64,
    /// Reach of every needle (in the order of the layers) when last measured, with a minus where it is only known not to be more;
    /// empty: nothing is known.
    pub(super) reaches: Vec<T>,
    /// Needles correlated, or codes updated, by the last sweep or measurement.
    pub(super) visited: usize,
    pub(super) seen: Seen,
}

impl<T: Real> TileState<T> {
    pub(super) fn new(plane: usize, number: usize, index: usize, tile: Tile) -> Self {
        Self {
            plane,
            number,
            index,
            tile,
            codes: Vec::new(),
            curvature_holds: true,
            candidates: Vec::new(),
            largest_change: 0.0,
            last_change: 0.0,
            weighted_l1: 0.0,
            energies: (0.0, 0.0),
            largest_correlation: f64::INFINITY,
            reaches: Vec::new(),
            visited: 0,
            seen: Seen::NOTHING,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.codes.capacity() * size_of::<LocalCode<T>>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.reaches.capacity() * size_of::<T>()
    }

    /// What work on the tile costs, roughly: as much for being there as for a few codes.
    pub(super) fn cost(&self) -> usize {
        self.codes.len() + 8
    }

    /// Measures the codes and the residual.
    pub(super) fn weigh(&mut self, level: Level, plane: &PlaneState<T>, atom_weights: &[T]) {
        self.energies = plane.energies(level, &self.tile);
        let size = |code: &LocalCode<T>| {
            let weight = plane.position_weight(&self.tile, code.offset as usize) * atom_weights[code.atom as usize];
            weight.to_f64() * code.value.to_f64().abs()
        };
        self.weighted_l1 = self.codes.iter().map(size).sum();
    }

    /// First sample of the patch at `offset`, in samples of the domain.
    pub(super) fn place(&self, layout: &Layout, offset: u32) -> [i32; 3] {
        let local = layout.coordinates(offset as usize);
        std::array::from_fn(|a| (self.tile.origin[a] + local[a] as i64) as i32)
    }

    /// Where the codes of a layer stand.
    pub(super) fn codes_of_layer(&self, plane: &PlaneState<T>, layer: usize) -> Range<usize> {
        let (grid, layout) = (&plane.grid, &plane.layout);
        let [_, ny, nx] = Layers::of(grid, &self.tile).axes.map(|axis| axis.count());
        let of = |code: &LocalCode<T>| {
            let at = layout.coordinates(code.offset as usize);
            let [z, y, x]: [usize; 3] =
                std::array::from_fn(|a| axis_order(at[a], self.tile.size[a], grid.period[a], grid.wraps[a]).0);
            (z * ny + y) * nx + x
        };
        self.codes.partition_point(|c| of(c) < layer)..self.codes.partition_point(|c| of(c) <= layer)
    }

    /// Sorts the codes into the order of the layers.
    pub(super) fn sort(&mut self, grid: &Grid, layout: &Layout) {
        let key = |offset: u32| {
            let at = layout.coordinates(offset as usize);
            let order: [(usize, usize); 3] =
                std::array::from_fn(|a| axis_order(at[a], self.tile.size[a], grid.period[a], grid.wraps[a]));
            (order.map(|o| o.0), order.map(|o| o.1))
        };
        self.codes.sort_by_cached_key(|c| (key(c.offset), c.atom));
    }
}

/// All layers of a tile.
pub(super) struct Layers {
    axes: [AxisLayers; 3],
}

impl Layers {
    pub(super) fn of(grid: &Grid, tile: &Tile) -> Self {
        Self { axes: std::array::from_fn(|a| AxisLayers::new(tile.size[a], grid.period[a], grid.wraps[a])) }
    }

    pub(super) fn count(&self) -> usize {
        self.axes.iter().map(AxisLayers::count).product()
    }

    fn along_axes(&self, layer: usize) -> [AxisLayer; 3] {
        let (ny, nx) = (self.axes[1].count(), self.axes[2].count());
        [self.axes[0].layer(layer / (ny * nx)), self.axes[1].layer(layer / nx % ny), self.axes[2].layer(layer % nx)]
    }

    /// Needles of a layer.
    pub(super) fn size(&self, layer: usize) -> usize {
        self.along_axes(layer).iter().map(|axis| axis.count).product()
    }

    /// Offsets of all needles, layer after layer.
    #[inline(always)]
    pub(super) fn all_needles(&self, layout: &Layout, into: &mut Vec<u32>) {
        into.clear();
        for z in self.axes[0].iter() {
            for y in self.axes[1].iter() {
                self.axes[2].iter().for_each(|x| append_needles([z, y, x], layout, into));
            }
        }
    }

    /// Appends the offsets of the needles of a layer, in order.
    #[inline(always)]
    pub(super) fn append(&self, layer: usize, layout: &Layout, into: &mut Vec<u32>) {
        append_needles(self.along_axes(layer), layout, into);
    }
}

#[inline(always)]
fn append_needles([lz, ly, lx]: [AxisLayer; 3], layout: &Layout, into: &mut Vec<u32>) {
    for z in 0..lz.count {
        for y in 0..ly.count {
            let row = layout.offset([lz.start + z * lz.step, ly.start + y * ly.step, lx.start]) as u32;
            into.extend((0..lx.count as u32).map(|x| row + x * lx.step as u32));
        }
    }
}
