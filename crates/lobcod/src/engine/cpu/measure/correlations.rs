//! Largest correlation of one tile, and the needles that violate optimality.

use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::{Candidate, Reach, TileState};
use crate::engine::cpu::sweep::bounds::BoundRequest;
use crate::engine::cpu::sweep::discovery::count_at;
use crate::grid::Layers;
use crate::real::Real;
use crate::simd::{BATCH, Kernel, Vector};

/// Computes the largest correlation, relative to the weights, of each needle of a tile; changes
/// neither codes nor residual.
pub struct MeasureTile<'a, T> {
    pub atoms: &'a Atoms<T>,
    pub plane: &'a PlaneState<T>,
    pub residual: &'a [T],
    pub state: &'a mut TileState<T>,
    pub scratch: &'a mut Scratch<T>,
    /// Whether the residual changed since the last measurement.
    pub changed: bool,
    pub goal: Goal<T>,
    pub skipping: bool,
    pub nonnegative: bool,
}

/// What to measure.
#[derive(Clone, Copy)]
pub enum Goal<T> {
    /// The largest correlation of all needles.
    Largest,
    /// Every correlation above the penalty; needles above the bound become candidates.
    Above {
        /// Needles that cannot exceed this are not correlated.
        penalty: T,
        /// At least the penalty.
        bound: T,
    },
}

impl<T: Real> Kernel<T> for MeasureTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        if self.plane.coefficient_weights.is_some() || self.atoms.elastic > T::ZERO {
            return self.measure_special::<V>();
        }
        let Self { atoms, plane, residual, state, scratch, changed, goal, skipping, nonnegative } =
            self;
        let layout = &plane.layout;
        plane.load(&state.tile, residual, &mut scratch.footprint);
        scratch.projected.begin();
        let known = !state.reaches.is_empty();
        if known && changed {
            plane.load_measured(&state.tile, &mut scratch.measured);
        }
        let measured = (known && changed).then_some(&scratch.measured[..]);
        scratch.bounds.find::<V>(layout, &plane.grid, &scratch.footprint.residual, measured);
        let layers = Layers::of(&plane.grid, &state.tile);
        scratch.needles.clear();
        layers.all_needles(layout.needle_strides(), &mut scratch.needles);
        state.reaches.resize(scratch.needles.len(), Reach::exact(T::ZERO));
        let mut most = T::ZERO;
        let mut wanted = Wanted::NONE;
        state.visited = 0;
        for (i, &offset) in scratch.needles.iter().enumerate() {
            let weight = plane.position_weight(&state.tile, offset as usize);
            let before = state.reaches[i];
            let floor = if let Goal::Above { penalty, .. } = goal { penalty } else { most };
            let exact = known && !changed && before.is_exact();
            if !exact {
                let last = (known && changed).then_some(before.bound());
                let mut bound = scratch.bounds.of(
                    BoundRequest {
                        offset: offset as usize,
                        known: last,
                        weight,
                        largest_inverse: atoms.largest_inverse_weight,
                    },
                    atoms,
                );
                if known && !changed && before.bound() < bound {
                    bound = before.bound();
                }
                if skipping && bound <= floor {
                    state.reaches[i] = Reach::at_most(bound);
                } else {
                    wanted.push(i as u32, offset);
                }
            }
            if wanted.count == BATCH || i + 1 == scratch.needles.len() {
                atoms.reach::<V>(
                    layout,
                    &scratch.footprint.residual,
                    &mut scratch.projected,
                    wanted.offsets(),
                    nonnegative,
                    &mut scratch.correlations,
                );
                most = most.max(wanted.record(&scratch.correlations, plane, state));
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

/// A batch of needles to be correlated.
struct Wanted {
    numbers: [u32; BATCH],
    offsets: [u32; BATCH],
    count: usize,
}

impl Wanted {
    const NONE: Self = Self { numbers: [0; BATCH], offsets: [0; BATCH], count: 0 };

    #[inline(always)]
    fn push(&mut self, number: u32, offset: u32) {
        (self.numbers[self.count], self.offsets[self.count]) = (number, offset);
        self.count += 1;
    }

    fn offsets(&self) -> &[u32] {
        &self.offsets[..self.count]
    }

    /// Records the largest correlation of each needle; returns the maximum.
    fn record<T: Real>(
        &mut self,
        correlations: &[T],
        plane: &PlaneState<T>,
        state: &mut TileState<T>,
    ) -> T {
        let count = std::mem::take(&mut self.count);
        state.visited += count;
        let mut most = T::ZERO;
        for ((&number, &offset), &correlation) in
            self.numbers[..count].iter().zip(&self.offsets).zip(correlations)
        {
            let relative = correlation / plane.position_weight(&state.tile, offset as usize);
            state.reaches[number as usize] = Reach::exact(relative);
            most = most.max(relative);
        }
        most
    }
}

/// Lists the needles whose correlation exceeds the bound, with the range of their codes.
pub fn list_candidates<T: Real>(
    state: &mut TileState<T>,
    layers: &Layers,
    needles: &[u32],
    bound: T,
) {
    let (mut layer, mut end) = (0, layers.size(0));
    let mut cursor = 0;
    for (i, (&offset, &reach)) in needles.iter().zip(&state.reaches).enumerate() {
        while i == end {
            layer += 1;
            end += layers.size(layer);
        }
        let codes = count_at(&state.codes[cursor..], offset);
        if reach.exceeds(bound.to_f64()) {
            let codes = (cursor as u32, (cursor + codes) as u32);
            state.candidates.push(Candidate { layer: layer as u32, offset, codes });
        }
        cursor += codes;
    }
}
