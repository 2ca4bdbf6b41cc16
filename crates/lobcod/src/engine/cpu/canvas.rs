//! A whole plane laid out for the pass over the atoms: every patch, cut or not, is read and written in whole vectors.

use super::footprint::{Footprint, Layout};
use super::plane::PlaneState;
use super::tile::TileState;
use crate::error::Result;
use crate::grid::Grid;
use crate::observe::Stop;
use crate::real::Real;
use crate::simd::{AtomRows, Kernel, Vector, add_atom, gather_patch};

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
    value: T,
}

/// One plane: its residual, and its codes by atom.
pub(super) struct Canvas<T> {
    /// Number of the plane.
    pub(super) plane: usize,
    /// The plane as a single tile.
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
    pub(super) fn new(number: usize, plane: &PlaneState<T>, atoms: &AtomRows<T>) -> Result<Self> {
        let grid = plane.grid.as_one_tile();
        let layout = Layout::new(&grid, plane.channels, atoms.width)?;
        let span: usize = grid.atom.iter().map(|h| 2 * h - 1).product();
        Ok(Self {
            plane: number,
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

    /// Takes up the residual and the codes of the plane; `tiles` are its own, in order.
    pub(super) fn take_up(&mut self, plane: &PlaneState<T>, tiles: &[&TileState<T>], atoms: usize) {
        let whole = self.grid.tiles[0];
        self.layout.load(&self.grid, &whole, &plane.residual, plane.weights.as_deref(), &mut self.footprint);
        self.first.clear();
        self.first.resize(atoms + 1, 0);
        for code in tiles.iter().flat_map(|t| &t.codes) {
            self.first[code.atom as usize + 1] += 1;
        }
        (0..atoms).for_each(|k| self.first[k + 1] += self.first[k]);
        let mut next = self.first.clone();
        let nothing = PlacedCode { offset: 0, cut: false, value: T::ZERO };
        self.codes.clear();
        self.codes.resize(self.first[atoms], nothing);
        for tile in tiles {
            for code in &tile.codes {
                let local = plane.layout.coordinates(code.offset as usize);
                let at = std::array::from_fn(|a| (tile.tile.origin[a] - whole.origin[a]) as usize + local[a]);
                let offset = self.layout.offset(at);
                let cut = if tile.curvature_holds { code.cut } else { !self.footprint.is_plain(offset, &self.layout) };
                let place = &mut next[code.atom as usize];
                self.codes[*place] = PlacedCode { offset: offset as u32, cut, value: code.value };
                *place += 1;
            }
        }
        for k in 0..atoms {
            self.codes[self.first[k]..self.first[k + 1]].sort_unstable_by_key(|c| c.offset);
        }
    }

    /// Gives the residual back.
    pub(super) fn give_back(&self, plane: &PlaneState<T>) {
        self.layout.store(&self.grid, &self.grid.tiles[0], &plane.residual, &self.footprint);
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
        // No patches farther apart in the raster overlap.
        let strides = layout.strides.map(|s| s as i32);
        let farthest = (reach[0] * strides[1] + reach[1] * strides[0] + reach[2]) as u32;
        for (i, one) in codes.iter().enumerate() {
            if i.is_multiple_of(LOOK_UP) && stop.is_due() {
                return;
            }
            let (here, value) = (at(one), one.value.to_f64());
            add([0; 3], 0.5 * value * value);
            for other in codes[i + 1..].iter().take_while(|other| other.offset - one.offset <= farthest) {
                let there = at(other);
                add(std::array::from_fn(|a| there[a] - here[a]), value * other.value.to_f64());
            }
        }
        if self.grid.periodic == [false; 3] {
            return;
        }
        // Every code once more, one turn around the domain: of a turn and its opposite one is enough.
        let domain = self.grid.domain.map(|l| l as i32);
        for turn in (14..27).map(|i| [i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1]) {
            for other in codes {
                let there: [i32; 3] = std::array::from_fn(|a| at(other)[a] + turn[a] * domain[a]);
                if (0..3).all(|a| there[a] >= -reach[a] && there[a] < domain[a] + reach[a]) {
                    for one in codes {
                        let here = at(one);
                        add(std::array::from_fn(|a| there[a] - here[a]), one.value.to_f64() * other.value.to_f64());
                    }
                }
            }
        }
    }
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
        for chain in canvas.codes[canvas.first[k]..canvas.first[k + 1]].chunks(CHAIN) {
            canvas.chain.fill(T::ZERO);
            for code in chain {
                gather_patch::<V>(&canvas.layout.rows, residual, code.offset as usize, code.value, &mut canvas.chain);
            }
            canvas.gradient.iter_mut().zip(&canvas.chain).for_each(|(sum, x)| *sum += x.to_f64());
        }
        canvas.autocorrelation.fill(0.0);
        canvas.correlate_codes(k, self.stop);
    }
}
