//! A plane, or a band of a large one, laid out for the pass over the atoms: every patch, cut or not, is read and written in whole
//! vectors.
//!
//! A band also keeps the codes of its neighbours whose patches meet its own: so the residual follows without a word between bands, and
//! sample by sample in the order in which it would on the whole plane.

use super::footprint::{Footprint, Layout};
use super::plane::PlaneState;
use super::rims::RimCode;
use super::tile::TileState;
use crate::error::Result;
use crate::grid::Grid;
use crate::real::Real;
use crate::simd::AtomRows;
use std::ops::Range;

/// A code as the pass sees it.
#[derive(Clone, Copy)]
pub(super) struct PlacedCode<T> {
    /// Where its patch begins on the canvas: in the order of the raster.
    pub(super) offset: u32,
    /// Is any weight of its patch not 1?
    pub(super) cut: bool,
    /// Is it a code of this band, and not of one beside it?
    pub(super) own: bool,
    pub(super) atom: u16,
    pub(super) value: T,
}

/// A plane or a band: its residual, and its codes by atom.
pub(super) struct Canvas<T> {
    /// Number of the plane, and of the band among those of the plane.
    pub(super) plane: usize,
    pub(super) band: usize,
    /// Positions of the band along the axis of bands; `None`: the plane is a single one.
    pub(super) positions: Option<Range<i64>>,
    /// Is it the last of this session's bands, which keeps also the samples behind it?
    pub(super) last: bool,
    pub(super) axis: usize,
    pub(super) turn: i64,
    /// The band, and the positions beside it whose patches meet its own, as a single tile.
    pub(super) grid: Grid,
    pub(super) layout: Layout,
    pub(super) footprint: Footprint<T>,
    /// Sorted by atom, then raster; those of atom `k` begin at `first[k]`.
    pub(super) codes: Vec<PlacedCode<T>>,
    pub(super) first: Vec<usize>,
    /// A chain of patches, rows padded.
    pub(super) chain: Vec<T>,
    /// `sum_i a_i P_i R` over the codes of the atom last looked at, rows padded.
    pub(super) gradient: Vec<f64>,
    /// Correlation of those codes with themselves at every shift, and how far a shift goes.
    pub(super) autocorrelation: Vec<f64>,
    pub(super) reach: [i32; 3],
}

impl<T: Real> Canvas<T> {
    /// The canvases of a plane.
    pub(super) fn of_plane(number: usize, plane: &PlaneState<T>, atoms: &AtomRows<T>) -> Result<Vec<Self>> {
        if plane.bands.count == 1 {
            return Ok(vec![Self::new((number, 0), plane, None, atoms)?]);
        }
        plane
            .bands
            .own
            .iter()
            .map(|(band, positions)| Self::new((number, *band), plane, Some(positions.clone()), atoms))
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
            let reach = grid.atom[axis] as i64 - 1;
            grid.wraps[axis] = false;
            grid.tiles[0].origin[axis] = positions.start - reach;
            grid.tiles[0].size[axis] = (positions.end - positions.start + 2 * reach) as usize;
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
            reach: grid.atom.map(|h| h as i32 - 1),
            grid,
            layout,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.footprint.bytes()
            + self.codes.capacity() * size_of::<PlacedCode<T>>()
            + self.first.capacity() * 8
            + size_of_val(&self.layout.patch[..])
            + size_of_val(&self.chain[..])
            + size_of_val(&self.gradient[..])
            + size_of_val(&self.autocorrelation[..])
    }

    /// Takes up the residual and the codes of the band; `tiles` are those of the plane.
    pub(super) fn take_up(&mut self, plane: &PlaneState<T>, tiles: &[TileState<T>]) {
        let whole = self.grid.tiles[0];
        self.layout.load(&self.grid, &whole, &plane.residual, plane.weights.as_deref(), &mut self.footprint);
        self.codes.clear();
        let inside = |tile: &&TileState<T>| self.positions.as_ref().is_none_or(|own| own.contains(&tile.tile.origin[self.axis]));
        for tile in tiles.iter().filter(inside) {
            for code in &tile.codes {
                let local = plane.layout.coordinates(code.offset as usize);
                let at = std::array::from_fn(|a| (tile.tile.origin[a] - whole.origin[a]) as usize + local[a]);
                let offset = self.layout.offset(at);
                let cut = if tile.curvature_holds { code.cut } else { !self.footprint.is_plain(offset, &self.layout) };
                self.codes.push(PlacedCode { offset: offset as u32, cut, own: true, atom: code.atom, value: code.value });
            }
        }
    }

    /// The codes that bands beside this one must know of.
    pub(super) fn rim(&self) -> Vec<RimCode<T>> {
        let Some(positions) = &self.positions else { return Vec::new() };
        let reach = i64::from(self.reach[self.axis]);
        let rim = self.codes.iter().filter(|code| code.own).filter_map(|code| {
            let local = self.layout.coordinates(code.offset as usize);
            let at: [i64; 3] = std::array::from_fn(|a| self.grid.tiles[0].origin[a] + local[a] as i64);
            let near = at[self.axis] < positions.start + reach || at[self.axis] >= positions.end - reach;
            let whole = std::array::from_fn(|a| self.grid.start[a] + at[a]);
            near.then_some(RimCode { plane: self.plane, at: whole, atom: code.atom, cut: code.cut, value: code.value })
        });
        rim.collect()
    }

    /// Adds the codes of other bands that meet this one's, and puts all in order.
    pub(super) fn complete(&mut self, rims: &[RimCode<T>], atoms: usize) {
        let tile = self.grid.tiles[0];
        if let Some(own) = self.positions.clone() {
            let turns = if self.turn > 0 { -1..2 } else { 0..1 };
            for code in rims.iter().filter(|code| code.plane == self.plane) {
                for turn in turns.clone() {
                    let mut at: [i64; 3] = std::array::from_fn(|a| code.at[a] - self.grid.start[a]);
                    at[self.axis] += turn * self.turn;
                    let local: [i64; 3] = std::array::from_fn(|a| at[a] - tile.origin[a]);
                    let inside = (0..tile.size[self.axis] as i64).contains(&local[self.axis]);
                    if inside && !own.contains(&at[self.axis]) {
                        let offset = self.layout.offset(local.map(|x| x as usize)) as u32;
                        self.codes.push(PlacedCode { offset, cut: code.cut, own: false, atom: code.atom, value: code.value });
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

    /// Gives the residual back: of a band, its own samples.
    pub(super) fn give_back(&self, plane: &PlaneState<T>) {
        let tile = self.grid.tiles[0];
        let Some(positions) = &self.positions else {
            return self.layout.store(&self.grid, &tile, &plane.residual, &self.footprint);
        };
        let (axis, reach) = (self.axis, i64::from(self.reach[self.axis]));
        let behind = if self.last && !self.grid.periodic[axis] { reach } else { 0 };
        let mut part = tile;
        part.origin[axis] = positions.start;
        // A tile touches `reach` samples more than it has positions.
        part.size[axis] = (positions.end - positions.start + behind - reach) as usize;
        let mut at = [0; 3];
        at[axis] = reach as usize;
        self.layout.store_part(&self.grid, &part, self.layout.offset(at), &plane.residual, &self.footprint);
    }

    /// Has atom `k` any code here?
    pub(super) fn uses(&self, k: usize) -> bool {
        self.first[k] < self.first[k + 1]
    }
}
