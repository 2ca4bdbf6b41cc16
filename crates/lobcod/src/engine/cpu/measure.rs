//! Largest correlation of one tile, and the needles found wanting.

use super::atoms::Atoms;
use super::bounds::Asked;
use super::discovery::count_at;
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::tile::{Candidate, Layers, TileState};
use crate::real::Real;
use crate::simd::{BATCH, Kernel, Reach, Sight, Vector};

/// Finds the reach (largest correlation in shares of the weights) of the needles of one tile, as far as it matters; changes neither
/// codes nor residual.
pub(super) struct MeasureTile<'a, T> {
    pub(super) atoms: &'a Atoms<T>,
    pub(super) plane: &'a PlaneState<T>,
    pub(super) state: &'a mut TileState<T>,
    pub(super) scratch: &'a mut Scratch<T>,
    /// Has the residual changed since the last measurement?
    pub(super) changed: bool,
    pub(super) goal: Goal<T>,
    pub(super) skipping: bool,
    pub(super) nonnegative: bool,
}

/// What is to be known afterwards.
#[derive(Clone, Copy)]
pub(super) enum Goal<T> {
    /// The largest reach of all.
    Largest,
    /// Every reach above the penalty; those above the bound make candidates.
    Above {
        /// Needles that cannot reach this need not be correlated.
        penalty: T,
        /// At least the penalty.
        bound: T,
    },
}

impl<T: Real> Kernel<T> for MeasureTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, state, scratch, changed, goal, skipping, nonnegative } = self;
        let layout = &plane.layout;
        plane.load(&state.tile, &mut scratch.footprint);
        let known = !state.reaches.is_empty();
        if known && changed {
            plane.load_measured(&state.tile, &mut scratch.measured);
        }
        let measured = (known && changed).then_some(&scratch.measured[..]);
        scratch.bounds.find::<V>(layout, &plane.grid, &scratch.footprint.residual, measured);
        let layers = Layers::of(&plane.grid, &state.tile);
        layers.all_needles(layout, &mut scratch.needles);
        state.reaches.resize(scratch.needles.len(), T::ZERO);
        let mut most = T::ZERO;
        let (mut doubtful, mut wanted) = (Wanted::NONE, Wanted::NONE);
        let mut codes = 0;
        state.visited = 0;
        let rough = atoms.rough.as_ref().filter(|_| skipping);
        for (i, &offset) in scratch.needles.iter().enumerate() {
            let weight = plane.position_weight(&state.tile, offset as usize);
            let before = state.reaches[i];
            let floor = if let Goal::Above { penalty, .. } = goal { penalty } else { most };
            let is_bare = state.codes.get(codes).is_none_or(|code| code.offset != offset);
            codes += count_at(&state.codes[codes..], offset);
            // A reach that was only bounded is kept with a minus.
            let exact = known && !changed && !before.to_f64().is_sign_negative();
            if !exact {
                let last = (known && changed).then_some(before);
                let mut bound = scratch.bounds.of(Asked { offset: offset as usize, known: last, weight }, atoms);
                if known && !changed && before.abs() < bound {
                    bound = before.abs();
                }
                if skipping && bound <= floor {
                    state.reaches[i] = -bound;
                } else if is_bare && rough.is_some() {
                    // A needle with codes reaches the penalty anyway.
                    doubtful.push(i as u32, offset);
                } else {
                    wanted.push(i as u32, offset);
                }
            }
            let last = i + 1 == scratch.needles.len();
            if let Some(rough) = rough
                && (doubtful.count == BATCH || last)
            {
                let (field, bounds) = (&scratch.footprint.residual, &mut scratch.correlations[..doubtful.count]);
                let sight = Sight { inside: &atoms.inside_rows, rows: &layout.rows, field };
                rough.bounds::<V, T>(sight, doubtful.offsets(), &mut scratch.rough, bounds);
                doubtful.pass_on(bounds, floor, plane, state, &mut wanted);
            }
            if wanted.count >= BATCH || last {
                let rule = Reach { inverse_weights: &atoms.inverse_weights, nonnegative };
                let field = &scratch.footprint.residual;
                atoms.packed.reach(field, &layout.patch, wanted.offsets(), rule, &mut scratch.correlations);
                most = most.max(wanted.note(&scratch.correlations, plane, state));
            }
        }
        state.largest_correlation = state.reaches.iter().fold(T::ZERO, |most, reach| most.max(reach.abs())).to_f64();
        state.candidates.clear();
        if let Goal::Above { bound, .. } = goal
            && state.largest_correlation > bound.to_f64()
        {
            list_candidates(state, &layers, &scratch.needles, bound);
        }
    }
}

/// Needles whose turn it is to be correlated: a batch, and what another batch may leave of itself.
struct Wanted {
    numbers: [u32; 2 * BATCH],
    offsets: [u32; 2 * BATCH],
    count: usize,
}

impl Wanted {
    const NONE: Self = Self { numbers: [0; 2 * BATCH], offsets: [0; 2 * BATCH], count: 0 };

    #[inline(always)]
    fn push(&mut self, number: u32, offset: u32) {
        (self.numbers[self.count], self.offsets[self.count]) = (number, offset);
        self.count += 1;
    }

    fn offsets(&self) -> &[u32] {
        &self.offsets[..self.count]
    }

    /// Numbers and offsets; none are left.
    fn take(&mut self) -> impl Iterator<Item = (usize, u32)> {
        let count = std::mem::take(&mut self.count);
        self.numbers[..count].iter().zip(&self.offsets[..count]).map(|(&number, &offset)| (number as usize, offset))
    }

    /// Notes what bounds not above the floor say; needles with others are wanted.
    fn pass_on<T: Real>(&mut self, bounds: &[T], floor: T, plane: &PlaneState<T>, state: &mut TileState<T>, wanted: &mut Self) {
        for ((number, offset), &bound) in self.take().zip(bounds) {
            let bound = bound / plane.position_weight(&state.tile, offset as usize);
            if bound <= floor {
                state.reaches[number] = -bound;
            } else {
                wanted.push(number as u32, offset);
            }
        }
    }

    /// Notes how far the needles reach; the largest of it.
    fn note<T: Real>(&mut self, reaches: &[T], plane: &PlaneState<T>, state: &mut TileState<T>) -> T {
        state.visited += self.count;
        let mut most = T::ZERO;
        for ((number, offset), &reach) in self.take().zip(reaches) {
            let reach = reach / plane.position_weight(&state.tile, offset as usize);
            state.reaches[number] = reach;
            most = most.max(reach);
        }
        most
    }
}

/// Lists the needles whose reach exceeds the bound, each with the range of its codes.
fn list_candidates<T: Real>(state: &mut TileState<T>, layers: &Layers, needles: &[u32], bound: T) {
    let (mut layer, mut end) = (0, layers.size(0));
    let mut cursor = 0;
    for (i, (&offset, &reach)) in needles.iter().zip(&state.reaches).enumerate() {
        while i == end {
            layer += 1;
            end += layers.size(layer);
        }
        let codes = count_at(&state.codes[cursor..], offset);
        if reach > bound {
            let codes = (cursor as u32, (cursor + codes) as u32);
            state.candidates.push(Candidate { layer: layer as u32, offset, codes });
        }
        cursor += codes;
    }
}
