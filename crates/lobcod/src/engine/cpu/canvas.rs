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
use crate::observe::Stop;
use crate::real::Real;
use crate::simd::{AtomRows, Kernel, Vector, add_atom, gather_patch};
use std::ops::Range;

/// Codes whose patches are summed in the precision of the signal before the sum goes on in f64.
const CHAIN: usize = 32;
/// Codes between two looks at whether it is time to stop.
const LOOK_UP: usize = 256;

/// A code as the pass sees it.
#[derive(Clone, Copy)]
struct PlacedCode<T> {
    /// Where its patch begins on the canvas: in the order of the raster.
    offset: u32,
    /// Is any weight of its patch not 1?
    cut: bool,
    /// Is it a code of this band, and not of one beside it?
    own: bool,
    atom: u16,
    value: T,
}

/// A plane or a band: its residual, and its codes by atom.
pub(super) struct Canvas<T> {
    /// Number of the plane, and of the band among those of the plane.
    pub(super) plane: usize,
    pub(super) band: usize,
    /// Positions of the band along the axis of bands; `None`: the plane is a single one.
    positions: Option<Range<i64>>,
    /// Is it the last of this session's bands, which keeps also the samples behind it?
    last: bool,
    axis: usize,
    turn: i64,
    /// The band, and the positions beside it whose patches meet its own, as a single tile.
    grid: Grid,
    layout: Layout,
    footprint: Footprint<T>,
    /// Sorted by atom, then raster; those of atom `k` begin at `first[k]`.
    codes: Vec<PlacedCode<T>>,
    first: Vec<usize>,
    /// A chain of patches, rows padded.
    chain: Vec<T>,
    /// `sum_i a_i P_i R` over the codes of the atom last looked at, rows padded.
    pub(super) gradient: Vec<f64>,
    /// Correlation of those codes with themselves at every shift, and how far a shift goes.
    pub(super) autocorrelation: Vec<f64>,
    reach: [i32; 3],
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
        self.codes.sort_unstable_by_key(|code| (code.atom, code.offset));
        self.first = (0..=atoms).map(|k| self.codes.partition_point(|code| usize::from(code.atom) < k)).collect();
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

    /// Correlates the codes of atom `k` with themselves, until it is time to stop.
    fn correlate_codes(&mut self, k: usize, stop: &Stop) {
        let (layout, reach) = (&self.layout, self.reach);
        let sums = &mut self.autocorrelation;
        let (slice, row) = ((2 * reach[1] + 1) * (2 * reach[2] + 1), 2 * reach[2] + 1);
        let centre = sums.len() / 2;
        let mut add = |s: [i32; 3], product: f64| {
            if (0..3).all(|a| s[a].abs() <= reach[a]) {
                let shift = (s[0] * slice + s[1] * row + s[2]) as isize;
                sums[centre.wrapping_add_signed(shift)] += product;
                sums[centre.wrapping_add_signed(-shift)] += product;
            }
        };
        let codes = &self.codes[self.first[k]..self.first[k + 1]];
        let at = |code: &PlacedCode<T>| layout.coordinates(code.offset as usize).map(|x| x as i32);
        let [row_stride, slice_stride, _] = layout.strides.map(|s| s as i64);
        for (i, one) in codes.iter().enumerate().filter(|(_, one)| one.own) {
            if i.is_multiple_of(LOOK_UP) && stop.is_due() {
                return;
            }
            let (here, value) = (at(one), one.value.to_f64());
            add([0; 3], 0.5 * value * value);
            let mut next = i + 1;
            while let Some(other) = codes.get(next) {
                let there = at(other);
                let [z, y, x] = std::array::from_fn(|a| there[a] - here[a]);
                if z > reach[0] {
                    break;
                }
                if y.abs() <= reach[1] && x.abs() <= reach[2] {
                    add([z, y, x], value * other.value.to_f64());
                    next += 1;
                    continue;
                }
                // Patches overlap again from this place in the raster on, in this row, the next, or another slice.
                let row = if y < -reach[1] { -reach[1] } else { y + i32::from(x > reach[2]) };
                let (z, row) = if row > reach[1] { (z + 1, -reach[1]) } else { (z, row) };
                let place =
                    i64::from(one.offset) + i64::from(z) * slice_stride + i64::from(row) * row_stride - i64::from(reach[2]);
                next += 1 + before(&codes[next + 1..], place);
            }
        }
        if self.grid.periodic == [false; 3] {
            return;
        }
        // Every code once more, one turn around the domain: of a turn and its opposite one is enough.
        let domain = self.grid.domain.map(|l| l as i32);
        // Bands have what lies around the corner along their axis beside them.
        let in_bands = self.positions.is_some();
        let turns = (14..27).map(|i| [i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1]);
        for turn in turns.filter(|turn| !in_bands || turn[self.axis] == 0) {
            for other in codes {
                let there: [i32; 3] = std::array::from_fn(|a| at(other)[a] + turn[a] * domain[a]);
                if (0..3).all(|a| there[a] >= -reach[a] && there[a] < domain[a] + reach[a]) {
                    for one in codes.iter().filter(|one| one.own) {
                        let here = at(one);
                        add(std::array::from_fn(|a| there[a] - here[a]), one.value.to_f64() * other.value.to_f64());
                    }
                }
            }
        }
    }
}

/// Codes that begin before a place in the raster; those that do are looked for in longer and longer steps, for most often they are few.
fn before<T>(codes: &[PlacedCode<T>], place: i64) -> usize {
    let is_before = |code: &PlacedCode<T>| i64::from(code.offset) < place;
    let mut step = 1;
    while codes.get(step - 1).is_some_and(is_before) {
        step *= 2;
    }
    let known = step / 2;
    known + codes[known..codes.len().min(step)].partition_point(is_before)
}

/// Lets the residual follow the move of one atom, then looks at what the next one sees.
pub(super) struct FollowAndLook<'a, T> {
    pub(super) canvas: &'a mut Canvas<T>,
    /// The atom that moved, and its move.
    pub(super) moved: Option<(usize, &'a AtomRows<T>)>,
    /// The atom to be looked at.
    pub(super) next: Option<usize>,
    pub(super) stop: &'a Stop,
}

impl<T: Real> Kernel<T> for FollowAndLook<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let canvas = self.canvas;
        if let Some((k, change)) = self.moved {
            let wraps = canvas.grid.wraps != [false; 3];
            let Footprint { residual, weights, .. } = &mut canvas.footprint;
            for code in &canvas.codes[canvas.first[k]..canvas.first[k + 1]] {
                let (at, weights) = (code.offset as usize, code.cut.then_some(&weights[..]));
                add_atom::<V>(change, 0, &canvas.layout.rows, residual, weights, at, -code.value);
                if wraps {
                    canvas.layout.repeat_wrapped(&canvas.grid, &canvas.grid.tiles[0], at, residual);
                }
            }
        }
        let Some(k) = self.next else { return };
        canvas.gradient.fill(0.0);
        let residual = &canvas.footprint.residual;
        let mut own = canvas.codes[canvas.first[k]..canvas.first[k + 1]].iter().filter(|code| code.own).peekable();
        while own.peek().is_some() {
            canvas.chain.fill(T::ZERO);
            for code in own.by_ref().take(CHAIN) {
                gather_patch::<V>(&canvas.layout.rows, residual, code.offset as usize, code.value, &mut canvas.chain);
            }
            canvas.gradient.iter_mut().zip(&canvas.chain).for_each(|(sum, x)| *sum += x.to_f64());
        }
        canvas.autocorrelation.fill(0.0);
        canvas.correlate_codes(k, self.stop);
    }
}
