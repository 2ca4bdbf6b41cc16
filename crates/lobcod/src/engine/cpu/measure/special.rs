//! Correlations of one tile in problems with weights of single coefficients or a quadratic term.
//!
//! Each needle has its own weights, and the quadratic term shifts the correlations of non-zero
//! codes, so all correlations are stored and inspected.

use crate::engine::NeedleWeights;
use crate::engine::cpu::data::tile::Reach;
use crate::engine::cpu::measure::correlations::{Goal, MeasureTile, list_candidates};
use crate::engine::cpu::sweep::bounds::BoundRequest;
use crate::engine::cpu::sweep::discovery::count_at;
use crate::grid::Layers;
use crate::real::Real;
use crate::simd::{BATCH, Vector};

/// Largest `|c_k| / weight_k` of a needle over its penalised codes.
pub fn reach<T: Real>(c: &[T], weights: &NeedleWeights<'_, T>, nonnegative: bool) -> T {
    let ratio = |(&c, &weight): (&T, &T)| {
        let size = if nonnegative { c } else { c.abs() };
        if weight > T::ZERO { size / weight } else { T::ZERO }
    };
    c.iter().zip(weights.atoms).map(ratio).fold(T::ZERO, T::max) / weights.position
}

impl<T: Real> MeasureTile<'_, T> {
    /// Measures all needles that may exceed the penalty or have codes.
    #[inline(always)]
    pub fn measure_special<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, residual, state, scratch, goal, skipping, nonnegative, .. } = self;
        let layout = &plane.layout;
        plane.load(&state.tile, residual, &mut scratch.footprint);
        scratch.bounds.find::<V>(layout, &plane.grid, &scratch.footprint.residual, None);
        let layers = Layers::of(&plane.grid, &state.tile);
        scratch.needles.clear();
        layers.all_needles(layout.needle_strides(), &mut scratch.needles);
        state.reaches.clear();
        state.reaches.resize(scratch.needles.len(), Reach::exact(T::ZERO));
        (state.visited, state.excess, state.unpenalised_correlation) = (0, 0.0, 0.0);
        let floor = if let Goal::Above { penalty, .. } = goal { penalty } else { T::ZERO };
        // Number, offset and codes of the needles to be correlated.
        let mut wanted = Vec::with_capacity(BATCH);
        let mut cursor = 0;
        for (i, &offset) in scratch.needles.iter().enumerate() {
            let codes = cursor..cursor + count_at(&state.codes[cursor..], offset);
            cursor = codes.end;
            let weights = plane.needle_weights(atoms, &state.tile, offset as usize);
            let request = BoundRequest {
                offset: offset as usize,
                known: None,
                weight: weights.position,
                largest_inverse: weights.largest_inverse,
            };
            let bound = scratch.bounds.of(request, atoms);
            if skipping && codes.is_empty() && bound <= floor {
                state.reaches[i] = Reach::at_most(bound);
            } else {
                wanted.push((i, offset, codes));
            }
            if wanted.len() < BATCH && i + 1 < scratch.needles.len() {
                continue;
            }
            let offsets: Vec<u32> = wanted.iter().map(|(_, offset, _)| *offset).collect();
            let field = &scratch.footprint.residual;
            atoms.packed.correlate(field, &layout.patch, &offsets, &mut scratch.correlations);
            state.visited += wanted.len();
            let rows = scratch.correlations.chunks_exact_mut(atoms.packed.stride);
            for ((number, offset, codes), c) in wanted.drain(..).zip(rows) {
                let weights = plane.needle_weights(atoms, &state.tile, offset as usize);
                if atoms.elastic > T::ZERO {
                    state.excess += excess(c, &weights, floor, nonnegative);
                }
                for code in &state.codes[codes] {
                    c[code.atom as usize] -= atoms.elastic * code.value;
                }
                state.reaches[number] = Reach::exact(reach(c, &weights, nonnegative));
                let unpenalised = c.iter().zip(weights.atoms).filter(|(_, w)| **w == T::ZERO);
                let most = unpenalised.map(|(c, _)| c.abs()).fold(T::ZERO, T::max);
                state.unpenalised_correlation = state.unpenalised_correlation.max(most.to_f64());
            }
        }
        state.largest_correlation =
            state.reaches.iter().fold(T::ZERO, |most, reach| most.max(reach.bound())).to_f64();
        state.candidates.clear();
        if let Goal::Above { bound, .. } = goal
            && state.largest_correlation > bound.to_f64()
        {
            list_candidates(state, &layers, &scratch.needles, bound);
        }
    }
}

/// `sum (|c_k| - threshold_k)^2` over the correlations above their thresholds.
fn excess<T: Real>(c: &[T], weights: &NeedleWeights<'_, T>, penalty: T, nonnegative: bool) -> f64 {
    let scale = (penalty * weights.position).to_f64();
    let above = |(&c, &weight): (&T, &T)| {
        let size = (if nonnegative { c } else { c.abs() }).to_f64();
        // Infinite weights have no excess, also at penalty 0.
        if weight < T::INFINITY { (size - scale * weight.to_f64()).max(0.0).powi(2) } else { 0.0 }
    };
    c.iter().zip(weights.atoms).map(above).sum()
}
