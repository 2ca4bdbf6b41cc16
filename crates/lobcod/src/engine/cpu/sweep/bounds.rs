//! Upper bounds on the correlations of a needle, much cheaper than the correlations.
//!
//! Atoms have unit norm, so no correlation of a patch `r` exceeds `||r||`, nor the largest one
//! known for another residual `r'` by more than `||r - r'||`. Both norms are computed by box sums
//! over the footprint. Skipping a needle without codes that cannot exceed its threshold does not
//! change a single bit of the answer.

use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::footprint::Layout;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::tile::TileState;
use crate::grid::Grid;
use crate::real::Real;
use crate::simd::{Vector, add_shifted, patch_energy};

/// A needle whose correlations are bounded.
#[derive(Clone, Copy)]
pub struct BoundRequest<T> {
    /// Start of its patch in the footprint.
    pub offset: usize,
    /// Its largest correlation when last measured, if any.
    pub known: Option<T>,
    /// Penalty weight of its position, and the largest inverse weight of its atoms.
    pub weight: T,
    pub largest_inverse: T,
}

/// Bounds of the needles of one tile, by the offset of their patch in the footprint.
pub struct Bounds<T> {
    /// Energy of every patch when the tile was loaded, then the bound itself.
    energy: Vec<T>,
    /// Energy of the change of every patch since the last measurement.
    change: Vec<T>,
    spare: Vec<T>,
    /// Whether the patch has been written to since the tile was loaded.
    stale: Vec<bool>,
    /// Whether patches are inspected only when they are visited.
    pub on_demand: bool,
}

impl<T: Real> Bounds<T> {
    pub fn new() -> Self {
        Self {
            energy: Vec::new(),
            change: Vec::new(),
            spare: Vec::new(),
            stale: Vec::new(),
            on_demand: true,
        }
    }

    pub fn bytes(&self) -> usize {
        3 * self.energy.capacity() * size_of::<T>() + self.stale.capacity()
    }

    /// Computes the energies of all patches of the tile and of their changes since `measured`.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn find<V: Vector<Elem = T>>(
        &mut self,
        layout: &Layout,
        grid: &Grid,
        field: &[T],
        measured: Option<&[T]>,
    ) {
        let length = layout.strides[2];
        self.energy.resize(length, T::ZERO);
        self.change.resize(length, T::ZERO);
        self.spare.resize(length, T::ZERO);
        self.stale.clear();
        self.stale.resize(length, false);
        self.on_demand = false;
        // The buffers may be longer, sized for the tiles of a larger plane.
        square(&field[..layout.len], None, &mut self.energy);
        box_sums::<V>(&mut self.energy, &mut self.spare, layout, grid);
        if let Some(measured) = measured {
            square(&field[..layout.len], Some(measured), &mut self.change);
            box_sums::<V>(&mut self.change, &mut self.spare, layout, grid);
        }
    }

    /// Norm of the patch at `offset` when the tile was loaded.
    #[inline(always)]
    pub fn norm(&self, offset: usize) -> T {
        (self.energy[offset] + lost()).sqrt()
    }

    /// Upper bound on the correlations of a needle whose patch is unchanged since [`Bounds::find`].
    #[inline(always)]
    pub fn of(&self, needle: BoundRequest<T>, atoms: &Atoms<T>) -> T {
        let BoundRequest { offset, known, weight, largest_inverse } = needle;
        let norm = self.norm(offset) * largest_inverse;
        let bound = match known {
            None => norm,
            Some(known) => {
                // The known correlation is already relative to the weight of the position.
                let moved =
                    known * weight + (self.change[offset] + lost()).sqrt() * largest_inverse;
                if moved < norm { moved } else { norm }
            }
        };
        bound * atoms.rounding / weight
    }

    /// Whether a needle without codes certainly stays below its threshold. Inspects the patch if it
    /// was written to.
    #[inline(always)]
    pub fn sleeps<V: Vector<Elem = T>>(
        &self,
        needle: BoundRequest<T>,
        atoms: &Atoms<T>,
        field: &[T],
        plane: &PlaneState<T>,
        threshold: T,
    ) -> bool {
        if self.on_demand || self.stale[needle.offset] {
            let (ones, rows) = (&plane.inside_rows, &plane.layout.rows);
            let energy = patch_energy::<V>(ones, rows, field, needle.offset);
            return (energy + lost()).sqrt() * needle.largest_inverse * atoms.rounding
                <= threshold * needle.weight;
        }
        self.of(needle, atoms) <= threshold
    }

    /// Marks the bounds of needles that overlap the patch at `offset` as stale.
    #[inline(always)]
    pub fn disturb(&mut self, plane: &PlaneState<T>, tile: &TileState<T>, offset: usize) {
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
        let to: [usize; 3] =
            std::array::from_fn(|a| (at[a] + grid.atom[a]).min(tile.tile.region.size[a]));
        for z in from[0]..to[0] {
            for y in from[1]..to[1] {
                let row = layout.offset([z, y, 0]);
                self.stale[row + from[2]..row + to[2]].fill(true);
            }
        }
    }
}

/// Upper bound on the energy a patch loses when squares of its samples underflow.
#[inline(always)]
fn lost<T: Real>() -> T {
    T::from_f64(if size_of::<T>() == 4 { 1e-34 } else { 1e-300 })
}

/// Squares of the field (or of its change), summed over the channels.
#[inline(always)]
fn square<T: Real>(field: &[T], other: Option<&[T]>, into: &mut [T]) {
    let length = into.len();
    into.fill(T::ZERO);
    for (c, channel) in field.chunks_exact(length).enumerate() {
        match other {
            None => into.iter_mut().zip(channel).for_each(|(sum, &x)| *sum += x * x),
            Some(other) => {
                let other = &other[c * length..(c + 1) * length];
                into.iter_mut()
                    .zip(channel)
                    .zip(other)
                    .for_each(|((sum, &x), &y)| *sum += (x - y) * (x - y));
            }
        }
    }
}

/// Replaces each sample by the sum over the patch that starts there.
#[inline(always)]
fn box_sums<V: Vector>(
    sums: &mut Vec<V::Elem>,
    spare: &mut Vec<V::Elem>,
    layout: &Layout,
    grid: &Grid,
) where
    V::Elem: Real,
{
    for (length, stride) in
        [(grid.atom[2], 1), (grid.atom[1], layout.strides[0]), (grid.atom[0], layout.strides[1])]
    {
        // Sums over 1, 2, 4, ... samples; those that make up the length are combined in `spare`.
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
