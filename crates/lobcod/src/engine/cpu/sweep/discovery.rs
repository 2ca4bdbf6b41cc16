//! A discovery sweep over one tile.

use crate::engine::cpu::data::atoms::{Atoms, MaskedColumns, PlainColumns};
use crate::engine::cpu::data::field::TileField;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::rank_one::Change;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::{Candidate, LocalCode, TileState};
use crate::engine::cpu::sweep::bounds::BoundRequest;
use crate::engine::{Discovery, Visit};
use crate::grid::Layers;
use crate::lasso::{ActiveCode, Rules, solve_by_coordinates, solve_by_lars, strongest};
use crate::pursuit::Local;
use crate::real::Real;
use crate::simd::{BATCH, Kernel, Vector, add_atom};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Visits needles of one tile: correlation, LASSO, update of the residual.
pub struct DiscoverTile<'a, T> {
    pub atoms: &'a Atoms<T>,
    pub plane: &'a PlaneState<T>,
    pub field: TileField<'a, T>,
    pub state: &'a mut TileState<T>,
    pub scratch: &'a mut Scratch<T>,
    pub sweep: &'a Discovery,
    pub skipping: bool,
    pub nonnegative: bool,
    pub local: Local,
}

impl<T: Real> Kernel<T> for DiscoverTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(mut self) {
        let plane = self.plane;
        self.field.load(&mut self.scratch.footprint);
        self.find_bounds::<V>();
        self.scratch.gram.belong_to(self.atoms);
        self.scratch.projected.begin();
        match self.sweep.visit {
            Visit::Candidates => {
                std::mem::swap(&mut self.scratch.visits, &mut self.state.candidates)
            }
            Visit::All | Visit::Spread => {
                list_needles(
                    plane,
                    self.state,
                    None,
                    &mut self.scratch.needles,
                    &mut self.scratch.visits,
                );
            }
            Visit::Layer(of) => {
                list_needles(
                    plane,
                    self.state,
                    Some(of.layer),
                    &mut self.scratch.needles,
                    &mut self.scratch.visits,
                );
            }
        }
        self.visit_needles::<V>();
        self.collect_codes();
        self.state.candidates.clear();
        if self.sweep.visit != Visit::Spread {
            self.field.store(&self.scratch.footprint);
        }
    }
}

impl<T: Real> DiscoverTile<'_, T> {
    /// Bounds used to skip needles when all of them are visited.
    #[inline(always)]
    fn find_bounds<V: Vector<Elem = T>>(&mut self) {
        let (plane, scratch) = (self.plane, &mut *self.scratch);
        scratch.bounds.on_demand = true;
        if self.sweep.visit == Visit::All {
            let known = !self.state.reaches.is_empty();
            if known {
                plane.load_measured(&self.state.tile, &mut scratch.measured);
            }
            let measured = known.then_some(&scratch.measured[..]);
            scratch.bounds.find::<V>(
                &plane.layout,
                &plane.grid,
                &scratch.footprint.residual,
                measured,
            );
        }
    }

    /// Multiple of the threshold up to which correlations do not activate a needle.
    #[inline(always)]
    pub fn slack(&self) -> T {
        match self.local {
            Local::Coordinate => T::ONE + T::from_f64(self.sweep.local_tolerance),
            Local::Lars => T::ONE + T::EPSILON * T::from_f64(8.0),
        }
    }

    /// Whether the needle certainly has no codes and gets none.
    #[inline(always)]
    fn sleeps<V: Vector<Elem = T>>(&self, number: usize, visit: &Candidate) -> bool {
        if !self.skipping
            || visit.codes.0 != visit.codes.1
            || !matches!(self.sweep.visit, Visit::All | Visit::Layer(_))
        {
            return false;
        }
        let at = visit.offset as usize;
        // With a quadratic term, the largest correlation depends on the codes of the needle too.
        let known = if self.sweep.visit == Visit::All && self.atoms.elastic == T::ZERO {
            self.state.reaches.get(number).map(|reach| reach.bound())
        } else {
            None
        };
        let weights = self.plane.needle_weights(self.atoms, &self.state.tile, at);
        let field = &self.scratch.footprint.residual;
        let threshold = T::from_f64(self.sweep.penalty) * self.slack();
        self.scratch.bounds.sleeps::<V>(
            BoundRequest {
                offset: at,
                known,
                weight: weights.position,
                largest_inverse: weights.largest_inverse,
            },
            self.atoms,
            field,
            self.plane,
            threshold,
        )
    }

    /// Visits the listed needles layer by layer, in order or in the random order of the sweep.
    #[inline(always)]
    fn visit_needles<V: Vector<Elem = T>>(&mut self) {
        let visits = std::mem::take(&mut self.scratch.visits);
        let mut layers: Vec<(usize, usize)> = Vec::new();
        let mut from = 0;
        for layer in visits.chunk_by(|a, b| a.layer == b.layer) {
            layers.push((from, from + layer.len()));
            from += layer.len();
        }
        if let Some(seed) = self.sweep.layer_seed {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(self.state.plane as u64);
            layers.shuffle(&mut rng);
        }
        self.scratch.codes.clear();
        self.scratch.found.clear();
        self.scratch.found.resize(visits.len(), (0, 0));
        let needles = &mut std::mem::take(&mut self.scratch.needles);
        let mut awake = Vec::with_capacity(BATCH);
        for (from, to) in layers {
            for start in (from..to).step_by(BATCH) {
                let batch = start..(start + BATCH).min(to);
                awake.clear();
                for number in batch {
                    if !self.sleeps::<V>(number, &visits[number]) {
                        awake.push(number);
                    }
                }
                needles.clear();
                needles.extend(awake.iter().map(|&number| visits[number].offset));
                let scratch = &mut *self.scratch;
                self.atoms.correlate::<V>(
                    &self.plane.layout,
                    &scratch.footprint.residual,
                    &mut scratch.projected,
                    needles,
                    &mut scratch.correlations,
                );
                for (j, &number) in awake.iter().enumerate() {
                    let first = self.scratch.codes.len() as u32;
                    match self.atoms.joint {
                        None => self.visit_needle::<V>(j, &visits[number]),
                        Some(norm) => self.visit_groups::<V>(j, &visits[number], norm),
                    }
                    self.scratch.found[number] = (first, self.scratch.codes.len() as u32);
                }
                self.state.visited += awake.len();
            }
        }
        self.scratch.needles = std::mem::take(needles);
        self.scratch.visits = visits;
    }

    /// Replaces the codes of the visited needles.
    fn collect_codes(&mut self) {
        let (scratch, old) = (&mut *self.scratch, &mut self.state.codes);
        let (Some(first), Some(last)) = (scratch.visits.first(), scratch.visits.last()) else {
            return;
        };
        let (start, end) = (first.codes.0 as usize, last.codes.1 as usize);
        scratch.collected.clear();
        let mut copied = start;
        for (visit, found) in scratch.visits.iter().zip(&scratch.found) {
            // Mostly none or one: not worth a call to copy.
            for codes in [
                &old[copied..visit.codes.0 as usize],
                &scratch.codes[found.0 as usize..found.1 as usize],
            ] {
                codes.iter().for_each(|&code| scratch.collected.push(code));
            }
            copied = visit.codes.1 as usize;
        }
        old.splice(start..end, scratch.collected.iter().copied());
    }

    /// Solves needle `j` of the batch, unless it is zero and remains zero.
    #[inline(always)]
    fn visit_needle<V: Vector<Elem = T>>(&mut self, j: usize, visit: &Candidate) {
        let slack = self.slack();
        let scratch = &mut *self.scratch;
        let plane = self.plane;
        let stride = self.atoms.packed.stride;
        let spread = self.sweep.visit == Visit::Spread;
        let c = &mut scratch.correlations[j * stride..(j + 1) * stride];
        if spread {
            let fraction = T::from_f64(1.0 / crate::geometry::volume(plane.grid.atom) as f64);
            c.iter_mut().for_each(|x| *x *= fraction);
        }
        let at = visit.offset as usize;
        let weights = plane.needle_weights(self.atoms, &self.state.tile, at);
        let rules = Rules {
            thresholds: weights.atoms,
            scale: T::from_f64(self.sweep.penalty) * weights.position,
            nonnegative: self.nonnegative,
            cap: plane.cap(&self.state.tile, at),
            tolerance: T::from_f64(self.sweep.local_tolerance),
        };
        let old = if spread {
            &[][..]
        } else {
            &self.state.codes[visit.codes.0 as usize..visit.codes.1 as usize]
        };
        if old.is_empty() && strongest::<V>(c, &rules, slack).is_none() {
            return;
        }
        let active = &mut scratch.active;
        active.clear();
        // The quadratic term is on the diagonal of the Gram matrix.
        if self.atoms.elastic > T::ZERO {
            old.iter().for_each(|code| c[code.atom as usize] -= self.atoms.elastic * code.value);
        }
        active.extend(old.iter().map(|code| ActiveCode {
            atom: u32::from(code.atom),
            value: code.value,
            before: code.value,
        }));
        let clipped = !scratch.footprint.is_plain(at, &plane.layout);
        if !clipped {
            let mut columns = PlainColumns { atoms: self.atoms, store: &mut scratch.gram };
            match self.local {
                Local::Coordinate => solve_by_coordinates::<V>(c, active, &mut columns, &rules),
                Local::Lars => solve_by_lars(c, active, &mut columns, &rules),
            }
        } else {
            let weights = &scratch.footprint.weights;
            let mut columns = MaskedColumns::new(
                self.atoms,
                weights,
                &plane.layout.patch,
                at,
                &mut scratch.columns,
            );
            match self.local {
                Local::Coordinate => solve_by_coordinates::<V>(c, active, &mut columns, &rules),
                Local::Lars => solve_by_lars(c, active, &mut columns, &rules),
            }
        }
        active.sort_unstable_by_key(|code| code.atom);
        let (atoms, layout) = (&self.atoms.rows, &plane.layout);
        let footprint = &mut scratch.footprint;
        let mut moved = false;
        for code in active.iter() {
            let k = code.atom as usize;
            let curvature =
                self.atoms.curvature::<V>(k, clipped.then_some(&footprint.weights[..]), layout, at);
            if code.value != T::ZERO {
                scratch.codes.push(LocalCode {
                    offset: visit.offset,
                    atom: k as u16,
                    clipped,
                    value: code.value,
                    curvature,
                });
            }
            let back = code.before - code.value;
            if back != T::ZERO && !spread {
                let weights = clipped.then_some(&footprint.weights[..]);
                add_atom::<V>(atoms, k, &layout.rows, &mut footprint.residual, weights, at, back);
                let change =
                    (back.abs() * curvature / rules.resolution(rules.threshold(k))).to_f64();
                self.state.largest_change = self.state.largest_change.max(change);
                self.state.last_change = self.state.largest_change;
                moved = true;
                if let Some(rank_one) = &self.atoms.rank_one {
                    let change = Change { atom: k, offset: at, back, clipped };
                    rank_one.follow::<V>(
                        layout,
                        &footprint.residual,
                        &mut scratch.projected,
                        change,
                    );
                }
            }
        }
        if moved {
            scratch.bounds.disturb(plane, self.state, at);
        }
        if moved && plane.grid.wraps != [false; 3] {
            scratch.projected.begin();
            layout.repeat_wrapped(
                &plane.grid,
                &self.state.tile,
                at,
                &mut scratch.footprint.residual,
            );
        }
    }
}

/// Lists the needles of one layer of the tile, or of all layers, with the range of their codes.
fn list_needles<T: Real>(
    plane: &PlaneState<T>,
    state: &TileState<T>,
    layer: Option<usize>,
    needles: &mut Vec<u32>,
    into: &mut Vec<Candidate>,
) {
    let layers = Layers::of(&plane.grid, &state.tile);
    let listed = layer.map_or(0..layers.count(), |layer| layer..layers.count().min(layer + 1));
    let mut cursor = layer.map_or(0, |layer| state.codes_of_layer(plane, layer).start);
    into.clear();
    for layer in listed {
        needles.clear();
        layers.needles(layer, plane.layout.needle_strides(), needles);
        for &offset in needles.iter() {
            let end = cursor + count_at(&state.codes[cursor..], offset);
            into.push(Candidate {
                layer: layer as u32,
                offset,
                codes: (cursor as u32, end as u32),
            });
            cursor = end;
        }
    }
}

/// Number of leading codes that belong to the needle at `offset`.
#[inline(always)]
pub fn count_at<T>(codes: &[LocalCode<T>], offset: u32) -> usize {
    codes.iter().take_while(|c| c.offset == offset).count()
}
