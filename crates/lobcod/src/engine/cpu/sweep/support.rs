//! Support sweeps over one tile, and the synthesis of its residual.

use crate::engine::Support;
use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::field::TileField;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::cpu::sweep::groups::synthesise_channels;
use crate::lasso::Rules;
use crate::real::Real;
use crate::simd::{AtomRows, Kernel, Vector, add_atom, dot_atom};

/// Coordinate descent over the non-zero codes of one tile, `2 n` multiply-adds each.
pub struct SupportTile<'a, T> {
    pub atoms: &'a Atoms<T>,
    pub plane: &'a PlaneState<T>,
    pub field: TileField<'a, T>,
    pub state: &'a mut TileState<T>,
    pub scratch: &'a mut Scratch<T>,
    pub sweep: &'a Support,
    pub nonnegative: bool,
}

impl<T: Real> Kernel<T> for SupportTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, mut field, state, scratch, sweep, nonnegative } = self;
        if state.codes.is_empty() {
            return;
        }
        // Candidates refer to ranges of codes, which the sweep shortens.
        state.candidates.clear();
        let layout = &plane.layout;
        let footprint = &mut scratch.footprint;
        field.load(footprint);
        if state.curvatures != atoms.version {
            for code in &mut state.codes {
                let weights = code.clipped.then_some(&footprint.weights[..]);
                code.curvature =
                    atoms.curvature::<V>(code.atom as usize, weights, layout, code.offset as usize);
            }
            state.curvatures = atoms.version;
        }
        let wraps = plane.grid.wraps != [false; 3];
        let penalty = T::from_f64(sweep.penalty);
        let mut rules = Rules {
            thresholds: &atoms.weights,
            scale: penalty,
            nonnegative,
            cap: usize::MAX,
            tolerance: T::ZERO,
        };
        for _ in 0..sweep.rounds {
            let mut largest = T::ZERO;
            for code in state.codes.iter_mut() {
                let k = code.atom as usize;
                let at = code.offset as usize;
                let q = code.curvature;
                rules.scale = penalty * plane.position_weight(&state.tile, at);
                if plane.coefficient_weights.is_some() {
                    rules.thresholds = plane.needle_weights(atoms, &state.tile, at).atoms;
                }
                let c = dot_atom::<V>(&atoms.rows, k, &layout.rows, &footprint.residual, at);
                let threshold = rules.threshold(k);
                // An atom hidden completely by the mask has no effect: its code is zero.
                let value = if q > T::ZERO {
                    rules.shrink(c + q * code.value, threshold, q + atoms.elastic)
                } else {
                    T::ZERO
                };
                let back = code.value - value;
                if back == T::ZERO {
                    continue;
                }
                code.value = value;
                let weights = code.clipped.then_some(&footprint.weights[..]);
                add_atom::<V>(
                    &atoms.rows,
                    k,
                    &layout.rows,
                    &mut footprint.residual,
                    weights,
                    at,
                    back,
                );
                if wraps {
                    layout.repeat_wrapped(&plane.grid, &state.tile, at, &mut footprint.residual);
                }
                largest = largest.max(back.abs() * q / rules.resolution(threshold));
            }
            state.visited += state.codes.len();
            state.last_change = largest.to_f64();
            state.largest_change = state.largest_change.max(state.last_change);
            if largest.to_f64() < sweep.tolerance {
                break;
            }
        }
        state.codes.retain(|c| c.value != T::ZERO);
        field.store(footprint);
    }
}

/// Subtracts the codes of one tile from the residual.
pub struct SynthesiseTile<'a, T> {
    pub atoms: &'a AtomRows<T>,
    pub plane: &'a PlaneState<T>,
    pub field: TileField<'a, T>,
    pub state: &'a TileState<T>,
    pub scratch: &'a mut Scratch<T>,
}

impl<T: Real> Kernel<T> for SynthesiseTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, mut field, state, scratch } = self;
        if state.codes.is_empty() {
            return;
        }
        if plane.codes_of_atom > 1 {
            return synthesise_channels::<V>(atoms, plane, field, state, scratch);
        }
        let layout = &plane.layout;
        let footprint = &mut scratch.footprint;
        field.load(footprint);
        let wraps = plane.grid.wraps != [false; 3];
        for code in &state.codes {
            let weights = code.clipped.then_some(&footprint.weights[..]);
            let at = code.offset as usize;
            add_atom::<V>(
                atoms,
                code.atom as usize,
                &layout.rows,
                &mut footprint.residual,
                weights,
                at,
                -code.value,
            );
            if wraps {
                layout.repeat_wrapped(&plane.grid, &state.tile, at, &mut footprint.residual);
            }
        }
        field.store(footprint);
    }
}
