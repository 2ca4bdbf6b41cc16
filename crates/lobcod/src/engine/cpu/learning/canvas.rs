//! A plane, or a band of a large one, laid out for the pass over the atoms.
//!
//! A band also stores the codes of neighbouring bands whose patches overlap its own, so its
//! residual is updated in the same order as on the whole plane, without communication.

use crate::engine::cpu::data::footprint::{Footprint, Layout};
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::ranks::wire::WireCode;
use crate::error::Result;
use crate::geometry::{InDomain, Point, Region};
use crate::grid::Grid;
use crate::real::Real;
use crate::simd::AtomRows;
use std::array::from_fn;
use std::ops::Range;

/// A code on a canvas.
#[derive(Clone, Copy)]
pub struct PlacedCode<T> {
    /// Start of its patch on the canvas, in raster order.
    pub offset: u32,
    /// Whether any weight of its patch differs from 1.
    pub clipped: bool,
    /// Whether it belongs to this band, not to a neighbouring one.
    pub own: bool,
    pub atom: u16,
    pub value: T,
}

/// A plane or a band: its residual, and its codes by atom.
pub struct Canvas<T> {
    /// Index of the plane, and of the band within the plane.
    pub plane: usize,
    pub band: usize,
    /// Positions of the band along its axis; `None`: the plane is a single band.
    pub positions: Option<Range<i64>>,
    /// Whether it is the last band of this session, which also owns the samples after it.
    pub last: bool,
    pub axis: usize,
    pub turn: i64,
    /// The band and the positions whose patches overlap it, as a single tile.
    pub grid: Grid,
    pub layout: Layout,
    pub footprint: Footprint<T>,
    /// Sorted by atom, then raster; those of atom `k` begin at `first[k]`.
    pub codes: Vec<PlacedCode<T>>,
    pub first: Vec<usize>,
    /// Sum over consecutive patches, rows padded.
    pub chain: Vec<T>,
    /// `sum_i a_i P_i R` over the codes of the last inspected atom, rows padded.
    pub gradient: Vec<f64>,
    /// Autocorrelation of those codes, and the largest shift.
    pub autocorrelation: Vec<f64>,
    pub overlap: [i32; 3],
}

impl<T: Real> Canvas<T> {
    /// The canvases of a plane.
    pub fn of_plane(
        number: usize,
        plane: &PlaneState<T>,
        atoms: &AtomRows<T>,
    ) -> Result<Vec<Self>> {
        if plane.bands.count == 1 {
            return Ok(vec![Self::new((number, 0), plane, None, atoms)?]);
        }
        plane
            .bands
            .own
            .iter()
            .map(|(band, positions)| {
                Self::new((number, *band), plane, Some(positions.clone()), atoms)
            })
            .collect()
    }

    fn new(
        (number, band): (usize, usize),
        plane: &PlaneState<T>,
        positions: Option<Range<i64>>,
        atoms: &AtomRows<T>,
    ) -> Result<Self> {
        let mut grid = plane.grid.as_one_tile();
        let axis = plane.bands.axis;
        if let Some(positions) = &positions {
            let overlap = grid.atom[axis] as i64 - 1;
            grid.wraps[axis] = false;
            let around = positions.start - overlap..positions.end + overlap;
            grid.tiles[0].region = grid.tiles[0].region.with_range(axis, around);
        }
        let layout = Layout::new(&grid, plane.channels, atoms.width)?;
        let span: usize = grid.atom.iter().map(|h| 2 * h - 1).product();
        Ok(Self {
            plane: number,
            band,
            last: plane.bands.own.last().is_some_and(|(number, _)| *number == band),
            axis,
            turn: plane.bands.turn,
            positions,
            footprint: Footprint::new(layout.len),
            codes: Vec::new(),
            first: Vec::new(),
            chain: vec![T::ZERO; atoms.rows * atoms.width],
            gradient: vec![0.0; atoms.rows * atoms.width],
            autocorrelation: vec![0.0; span],
            overlap: grid.atom.map(|h| h as i32 - 1),
            grid,
            layout,
        })
    }

    pub fn bytes(&self) -> usize {
        self.footprint.bytes()
            + self.codes.capacity() * size_of::<PlacedCode<T>>()
            + self.first.capacity() * 8
            + size_of_val(&self.layout.patch[..])
            + size_of_val(&self.chain[..])
            + size_of_val(&self.gradient[..])
            + size_of_val(&self.autocorrelation[..])
    }

    /// The band and its surroundings.
    fn region(&self) -> Region<InDomain> {
        self.grid.tiles[0].region
    }

    /// Start, in the domain, of the patch at `offset` of the canvas.
    fn point(&self, offset: u32) -> Point<InDomain> {
        self.region().first() + self.layout.coordinates(offset as usize).map(|x| x as i64)
    }

    /// Adds a code at a position of the canvas.
    fn push(&mut self, at: Point<InDomain>, clipped: bool, own: bool, atom: u16, value: T) {
        let offset = self.layout.offset((at - self.region().first()).map(|x| x as usize)) as u32;
        self.codes.push(PlacedCode { offset, clipped, own, atom, value });
    }

    /// Loads the residual and the codes of the band; `tiles` are those of the plane.
    pub fn load(&mut self, plane: &PlaneState<T>, residual: &[T], tiles: &[TileState<T>]) {
        let whole = self.grid.tiles[0];
        self.layout.load(
            &plane.raster(),
            &plane.touched(&whole),
            residual,
            &mut self.footprint.residual,
        );
        plane.load_weights_of(&self.layout, &whole, &mut self.footprint);
        self.codes.clear();
        let (positions, axis) = (self.positions.clone(), self.axis);
        let inside = |state: &&TileState<T>| {
            positions.as_ref().is_none_or(|own| own.contains(&state.tile.region.start[axis]))
        };
        for state in tiles.iter().filter(inside) {
            for code in &state.codes {
                self.push(
                    plane.point(&state.tile, code.offset as usize),
                    code.clipped,
                    true,
                    code.atom,
                    code.value,
                );
            }
        }
    }

    /// The codes that neighbouring bands need.
    pub fn rim(&self) -> Vec<WireCode> {
        let Some(positions) = &self.positions else { return Vec::new() };
        let overlap = i64::from(self.overlap[self.axis]);
        let rim = self.codes.iter().filter(|code| code.own).filter_map(|code| {
            let at = self.point(code.offset);
            let near = at.at[self.axis] < positions.start + overlap
                || at.at[self.axis] >= positions.end - overlap;
            near.then(|| WireCode {
                position: self.grid.to_signal(at).at,
                value: code.value.to_f64(),
                atom: u32::from(code.atom),
                clipped: u32::from(code.clipped),
                plane: self.plane as u64,
            })
        });
        rim.collect()
    }

    /// Adds the codes of other bands that overlap this one, and sorts all codes.
    pub fn complete(&mut self, rims: &[WireCode], atoms: usize) {
        let (region, axis) = (self.region(), self.axis);
        if let Some(own) = self.positions.clone() {
            let turns = if self.turn > 0 { -1..2 } else { 0..1 };
            let plane = self.plane as u64;
            for code in rims.iter().filter(|code| code.plane == plane) {
                for turn in turns.clone() {
                    let step = from_fn(|a| if a == axis { turn * self.turn } else { 0 });
                    let at = self.grid.to_domain(Point::new(code.position)) + step;
                    if region.range(axis).contains(&at.at[axis]) && !own.contains(&at.at[axis]) {
                        self.push(
                            at,
                            code.clipped != 0,
                            false,
                            code.atom as u16,
                            T::from_f64(code.value),
                        );
                    }
                }
            }
        }
        self.first.clear();
        self.first.resize(atoms + 1, 0);
        self.codes.iter().for_each(|code| self.first[usize::from(code.atom) + 1] += 1);
        (0..atoms).for_each(|k| self.first[k + 1] += self.first[k]);
        let (mut next, found) = (self.first.clone(), self.codes.clone());
        for code in found {
            let place = &mut next[usize::from(code.atom)];
            self.codes[*place] = code;
            *place += 1;
        }
        for k in 0..atoms {
            self.codes[self.first[k]..self.first[k + 1]].sort_unstable_by_key(|code| code.offset);
        }
    }

    /// Writes the residual back: for a band, its own samples.
    pub fn give_back(&self, plane: &PlaneState<T>, residual: &mut [T]) {
        let whole = plane.touched(&self.grid.tiles[0]);
        let (axis, overlap) = (self.axis, i64::from(self.overlap[self.axis]));
        let own = self.positions.as_ref().map_or(whole, |positions| {
            let behind = if self.last && !self.grid.periodic[axis] { overlap } else { 0 };
            whole.with_range(axis, positions.start..positions.end + behind)
        });
        let at = self.layout.offset((own.first() - whole.first()).map(|x| x as usize));
        self.layout.runs(&plane.raster(), &own, |start, into, length| {
            if let Some(into) = into {
                residual[into..into + length]
                    .copy_from_slice(&self.footprint.residual[at + start..at + start + length]);
            }
        });
    }

    /// Whether atom `k` has any code here.
    pub fn uses(&self, k: usize) -> bool {
        self.first[k] < self.first[k + 1]
    }
}
