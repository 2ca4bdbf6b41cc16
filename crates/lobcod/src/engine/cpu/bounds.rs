//! What a needle's correlations cannot exceed, at far less than the cost of the correlations.
//!
//! Atoms have unit norm, so no correlation of a patch `r` exceeds `||r||`; and where the largest one was known for another residual
//! `r'`, none exceeds that by more than `||r - r'||`. Both norms come from box sums over the tile's footprint. A needle without codes
//! that cannot reach its threshold stays as it is whether it is visited or not, so passing it over changes no bit of the answer.

use super::atoms::Atoms;
use super::footprint::Layout;
use super::plane::PlaneState;
use super::tile::TileState;
use crate::grid::Grid;
use crate::real::Real;
use crate::simd::{Vector, add_shifted, patch_energy};

/// A needle that bounds are asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<T> {
    /// Where its patch begins in the footprint.
    pub(super) offset: usize,
    /// Its reach when last measured, if it was.
    pub(super) known: Option<T>,
    /// Penalty weight of its position.
    pub(super) weight: T,
}

/// Bounds of the needles of one tile, by the offset of their patch in the footprint.
pub(super) struct Bounds<T> {
    /// Energy of every patch when the tile was loaded, then the bound itself.
    energy: Vec<T>,
    /// Energy of its change since the last measurement.
    change: Vec<T>,
    spare: Vec<T>,
    /// Has the patch been written to since the tile was loaded?
    stale: Vec<bool>,
    /// Is every patch to be looked at when its turn comes?
    pub(super) on_demand: bool,
}

impl<T: Real> Bounds<T> {
    pub(super) fn new() -> Self {
        Self { energy: Vec::new(), change: Vec::new(), spare: Vec::new(), stale: Vec::new(), on_demand: true }
    }

    pub(super) fn bytes(&self) -> usize {
        3 * self.energy.capacity() * size_of::<T>() + self.stale.capacity()
    }

    /// Finds the energies of all patches of the tile and, where the residual of the last measurement is given, of their changes.
    #[inline(always)]
    pub(super) fn find<V: Vector<Elem = T>>(&mut self, layout: &Layout, grid: &Grid, field: &[T], measured: Option<&[T]>) {
        let length = layout.strides[2];
        self.energy.resize(length, T::ZERO);
        self.change.resize(length, T::ZERO);
        self.spare.resize(length, T::ZERO);
        self.stale.clear();
        self.stale.resize(length, false);
        self.on_demand = false;
        // The buffers may be longer, for the tiles of a larger plane.
        square(&field[..layout.len], None, &mut self.energy);
        box_sums::<V>(&mut self.energy, &mut self.spare, layout, grid);
        if let Some(measured) = measured {
            square(&field[..layout.len], Some(measured), &mut self.change);
            box_sums::<V>(&mut self.change, &mut self.spare, layout, grid);
        }
    }

    /// Norm of the patch at `offset` when the tile was loaded.
    #[inline(always)]
    pub(super) fn norm(&self, offset: usize) -> T {
        (self.energy[offset] + lost()).sqrt()
    }

    /// Upper bound on the reach of a needle whose patch was not written to since [`Bounds::find`].
    #[inline(always)]
    pub(super) fn of(&self, needle: Asked<T>, atoms: &Atoms<T>) -> T {
        let Asked { offset, known, weight } = needle;
        let norm = self.norm(offset) * atoms.largest_inverse_weight;
        let bound = match known {
            None => norm,
            Some(known) => {
                // The known reach is in shares of the position's weight already.
                let moved = known.abs() * weight + (self.change[offset] + lost()).sqrt() * atoms.largest_inverse_weight;
                if moved < norm { moved } else { norm }
            }
        };
        bound * atoms.rounding / weight
    }

    /// Can the needle without codes not reach `threshold` times the weights? Looks at the patch itself where it was written to.
    #[inline(always)]
    pub(super) fn sleeps<V: Vector<Elem = T>>(
        &self,
        needle: Asked<T>,
        atoms: &Atoms<T>,
        field: &[T],
        layout: &Layout,
        threshold: T,
    ) -> bool {
        if self.on_demand || self.stale[needle.offset] {
            let energy = patch_energy::<V>(&atoms.inside_rows, &layout.rows, field, needle.offset);
            return (energy + lost()).sqrt() * atoms.largest_inverse_weight * atoms.rounding <= threshold * needle.weight;
        }
        self.of(needle, atoms) <= threshold
    }

    /// Notes that the patch at `offset` was written to: bounds of the needles that see it no longer hold.
    #[inline(always)]
    pub(super) fn disturb<U>(&mut self, plane: &PlaneState<U>, tile: &TileState<U>, offset: usize)
    where
        U: Real,
    {
        if self.on_demand {
            return;
        }
        let (layout, grid) = (&plane.layout, &plane.grid);
        if grid.wraps != [false; 3] {
            self.on_demand = true;
            return;
        }
        let at = layout.coordinates(offset);
        let from: [usize; 3] = std::array::from_fn(|a| (at[a] + 1).saturating_sub(grid.atom[a]));
        let to: [usize; 3] = std::array::from_fn(|a| (at[a] + grid.atom[a]).min(tile.tile.size[a]));
        for z in from[0]..to[0] {
            for y in from[1]..to[1] {
                let row = layout.offset([z, y, 0]);
                self.stale[row + from[2]..row + to[2]].fill(true);
            }
        }
    }
}

/// More than the energy that a patch can lose because squares of its samples are too small for the precision: without it, signals
/// below 1e-19 in single precision would have no energy at all, and all their needles would sleep.
#[inline(always)]
fn lost<T: Real>() -> T {
    T::from_f64(if size_of::<T>() == 4 { 1e-34 } else { 1e-300 })
}

/// Squares of the field (or of its change), added up over the channels.
#[inline(always)]
fn square<T: Real>(field: &[T], other: Option<&[T]>, into: &mut [T]) {
    let length = into.len();
    into.fill(T::ZERO);
    for (c, channel) in field.chunks_exact(length).enumerate() {
        match other {
            None => into.iter_mut().zip(channel).for_each(|(sum, &x)| *sum += x * x),
            Some(other) => {
                let other = &other[c * length..(c + 1) * length];
                into.iter_mut().zip(channel).zip(other).for_each(|((sum, &x), &y)| *sum += (x - y) * (x - y));
            }
        }
    }
}

/// Sums over the box of an atom behind every sample: what stands at `i` becomes the sum of the patch at `i`.
#[inline(always)]
fn box_sums<V: Vector>(sums: &mut Vec<V::Elem>, spare: &mut Vec<V::Elem>, layout: &Layout, grid: &Grid)
where
    V::Elem: Real,
{
    for (length, stride) in [(grid.atom[2], 1), (grid.atom[1], layout.strides[0]), (grid.atom[0], layout.strides[1])] {
        // Sums over 1, 2, 4, ... samples; those that make up the length are put together in `spare`.
        let (mut width, mut made) = (1, 0);
        while made < length {
            if length & width != 0 {
                if made + width == length && made == 0 {
                    break;
                }
                if made == 0 {
                    spare.copy_from_slice(sums);
                } else {
                    add_shifted::<V>(spare, Some(sums), made * stride);
                }
                made += width;
            }
            if made < length {
                add_shifted::<V>(sums, None, width * stride);
                width *= 2;
            }
        }
        if made > 0 {
            std::mem::swap(sums, spare);
        }
    }
}
