//! Largest correlation of one tile, and the needles found wanting.

use super::atoms::Atoms;
use super::discovery::count_at;
use super::plane::PlaneState;
use super::scratch::{BATCH, Scratch};
use super::tile::{Candidate, Layers, TileState};
use crate::real::Real;
use crate::simd::{Kernel, Vector, correlate};

/// Correlates every needle of one tile with the residual as it stands; changes neither codes nor residual.
pub(super) struct MeasureTile<'a, T> {
    pub(super) atoms: &'a Atoms<T>,
    pub(super) plane: &'a PlaneState<T>,
    pub(super) state: &'a mut TileState<T>,
    pub(super) scratch: &'a mut Scratch<T>,
    /// Correlations above this make a needle a candidate.
    pub(super) bound: f64,
    pub(super) nonnegative: bool,
}

impl<T: Real> Kernel<T> for MeasureTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, state, scratch, bound, nonnegative } = self;
        let (layout, stride) = (&plane.layout, atoms.packed.stride);
        layout.load(&plane.grid, &state.tile, &plane.residual, plane.weights.as_deref(), &mut scratch.footprint);
        let layers = Layers::of(&plane.grid, &state.tile);
        let bound = T::from_f64(bound);
        let mut most = T::ZERO;
        let mut cursor = 0;
        state.candidates.clear();
        for layer in 0..layers.count() {
            layers.needles(layer, layout, &mut scratch.needles);
            for batch in scratch.needles.chunks(BATCH) {
                correlate::<V>(&atoms.packed, &scratch.footprint.residual, &layout.patch, batch, &mut scratch.correlations);
                for (c, &offset) in scratch.correlations.chunks_exact(stride).zip(batch) {
                    let weight = plane.position_weight(&state.tile, offset as usize);
                    let reach = largest_reach::<V>(c, &atoms.inverse_weights, nonnegative) / weight;
                    most = most.max(reach);
                    let codes = count_at(&state.codes[cursor..], offset);
                    if reach > bound {
                        let codes = (cursor as u32, (cursor + codes) as u32);
                        state.candidates.push(Candidate { layer: layer as u32, offset, codes });
                    }
                    cursor += codes;
                }
            }
        }
        state.largest_correlation = most.to_f64();
    }
}

/// Largest `|c_k| / weight_k` (largest `c_k / weight_k`, at least 0, for non-negative codes).
#[inline(always)]
fn largest_reach<V: Vector>(c: &[V::Elem], inverse_weights: &[V::Elem], nonnegative: bool) -> V::Elem
where
    V::Elem: Real,
{
    assert!(c.len() == inverse_weights.len() && c.len() % V::LANES == 0);
    let mut most = V::splat(V::Elem::ZERO);
    for i in (0..c.len()).step_by(V::LANES) {
        // SAFETY: both slices hold a whole number of vectors.
        let (x, w) = unsafe { (V::load(c.as_ptr().add(i)), V::load(inverse_weights.as_ptr().add(i))) };
        most = (if nonnegative { x } else { x.abs() }).mul(w).max(most);
    }
    most.largest()
}
