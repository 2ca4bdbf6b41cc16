//! Support sweeps over one tile, and the synthesis of its residual.

use super::atoms::Atoms;
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::tile::TileState;
use crate::engine::Support;
use crate::lasso::Rules;
use crate::real::Real;
use crate::simd::{AtomRows, Kernel, Vector, add_atom, dot_atom};

/// Coordinate descent over the non-zero codes of one tile. Each costs `2 n` multiply-adds: its correlation, then the update.
pub(super) struct SupportTile<'a, T> {
    pub(super) atoms: &'a Atoms<T>,
    pub(super) plane: &'a PlaneState<T>,
    pub(super) state: &'a mut TileState<T>,
    pub(super) scratch: &'a mut Scratch<T>,
    pub(super) sweep: &'a Support,
    pub(super) nonnegative: bool,
}

impl<T: Real> Kernel<T> for SupportTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, state, scratch, sweep, nonnegative } = self;
        if state.codes.is_empty() {
            return;
        }
        // Candidates name ranges of codes, which the sweep shortens.
        state.candidates.clear();
        let layout = &plane.layout;
        let footprint = &mut scratch.footprint;
        plane.load(&state.tile, footprint);
        if !state.curvature_holds {
            for code in &mut state.codes {
                let at = code.offset as usize;
                code.cut = !footprint.is_plain(at, layout);
                let weights = code.cut.then_some(&footprint.weights[..]);
                code.curvature = atoms.curvature::<V>(code.atom as usize, weights, layout, at);
            }
            state.curvature_holds = true;
        }
        let wraps = plane.grid.wraps != [false; 3];
        let penalty = T::from_f64(sweep.penalty);
        let mut rules = Rules { thresholds: &atoms.weights, scale: penalty, nonnegative, cap: usize::MAX, tolerance: T::ZERO };
        for _ in 0..sweep.rounds {
            let mut largest = T::ZERO;
            for code in state.codes.iter_mut() {
                let (k, at, q) = (code.atom as usize, code.offset as usize, code.curvature);
                rules.scale = penalty * plane.position_weight(&state.tile, at);
                let c = dot_atom::<V>(&atoms.rows, k, &layout.rows, &footprint.residual, at);
                let threshold = rules.threshold(k);
                // An atom that the mask hides wholly does nothing for the patch: its code is zero.
                let value = if q > T::ZERO { rules.shrink(c + q * code.value, threshold, q) } else { T::ZERO };
                let back = code.value - value;
                if back == T::ZERO {
                    continue;
                }
                code.value = value;
                let weights = code.cut.then_some(&footprint.weights[..]);
                add_atom::<V>(&atoms.rows, k, &layout.rows, &mut footprint.residual, weights, at, back);
                if wraps {
                    layout.repeat_wrapped(&plane.grid, &state.tile, at, &mut footprint.residual);
                }
                largest = largest.max(back.abs() * q / threshold);
            }
            state.visited += state.codes.len();
            state.last_change = largest.to_f64();
            state.largest_change = state.largest_change.max(state.last_change);
            if largest.to_f64() < sweep.tolerance {
                break;
            }
        }
        state.codes.retain(|c| c.value != T::ZERO);
        layout.store(&plane.grid, &state.tile, &plane.residual, footprint);
    }
}

/// Takes the codes of one tile off the residual.
pub(super) struct SynthesiseTile<'a, T> {
    pub(super) atoms: &'a AtomRows<T>,
    pub(super) plane: &'a PlaneState<T>,
    pub(super) state: &'a TileState<T>,
    pub(super) scratch: &'a mut Scratch<T>,
}

impl<T: Real> Kernel<T> for SynthesiseTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, state, scratch } = self;
        if state.codes.is_empty() {
            return;
        }
        let layout = &plane.layout;
        let footprint = &mut scratch.footprint;
        plane.load(&state.tile, footprint);
        let wraps = plane.grid.wraps != [false; 3];
        for code in &state.codes {
            // Where it is not known whether the code is cut, the weights say it.
            let cut = code.cut || (!state.curvature_holds && footprint.weighted);
            let weights = cut.then_some(&footprint.weights[..]);
            let at = code.offset as usize;
            add_atom::<V>(atoms, code.atom as usize, &layout.rows, &mut footprint.residual, weights, at, -code.value);
            if wraps {
                layout.repeat_wrapped(&plane.grid, &state.tile, at, &mut footprint.residual);
            }
        }
        layout.store(&plane.grid, &state.tile, &plane.residual, footprint);
    }
}
