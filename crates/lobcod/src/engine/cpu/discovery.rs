//! A discovery sweep over one tile.

use super::atoms::{Atoms, MaskedColumns};
use super::plane::PlaneState;
use super::scratch::{BATCH, Scratch};
use super::tile::{Layers, LocalCode, TileState};
use crate::engine::{Discovery, Visit};
use crate::lasso::{ActiveCode, Rules, Stored, any_awake, solve_by_coordinates, solve_by_lars};
use crate::pursuit::Local;
use crate::real::Real;
use crate::simd::{Kernel, Vector, add_atom, correlate};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Visits needles of one tile: correlation, LASSO, update of the residual.
pub(super) struct DiscoverTile<'a, T> {
    pub(super) atoms: &'a Atoms<T>,
    pub(super) plane: &'a PlaneState<T>,
    pub(super) state: &'a mut TileState<T>,
    pub(super) scratch: &'a mut Scratch<T>,
    pub(super) sweep: &'a Discovery,
    pub(super) nonnegative: bool,
    pub(super) local: Local,
}

impl<T: Real> Kernel<T> for DiscoverTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(mut self) {
        let (plane, layout) = (self.plane, &self.plane.layout);
        layout.load(&plane.grid, &self.state.tile, &plane.residual, plane.weights.as_deref(), &mut self.scratch.footprint);
        self.scratch.codes.clear();
        match self.sweep.visit {
            Visit::Candidates => self.visit_candidates::<V>(),
            Visit::All | Visit::Spread => self.visit_all::<V>(),
        }
        self.state.codes.clear();
        self.state.codes.extend_from_slice(&self.scratch.codes);
        if self.sweep.visit != Visit::Spread {
            layout.store(&plane.grid, &self.state.tile, &plane.residual, &self.scratch.footprint);
        }
    }
}

impl<T: Real> DiscoverTile<'_, T> {
    #[inline(always)]
    fn visit_all<V: Vector<Elem = T>>(&mut self) {
        let layers = Layers::of(&self.plane.grid, &self.state.tile);
        let order = self.sweep.layer_seed.map(|seed| {
            let mut order: Vec<usize> = (0..layers.count()).collect();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(self.state.plane as u64);
            order.shuffle(&mut rng);
            order
        });
        let Some(order) = order else {
            let mut cursor = 0;
            for layer in 0..layers.count() {
                cursor = self.visit_layer::<V>(&layers, layer, cursor);
            }
            return;
        };
        let starts = self.layer_starts(&layers);
        let mut parts = vec![(0, 0); layers.count()];
        for layer in order {
            let from = self.scratch.codes.len();
            self.visit_layer::<V>(&layers, layer, starts[layer]);
            parts[layer] = (from, self.scratch.codes.len());
        }
        let sorted = parts.iter().flat_map(|&(from, to)| self.scratch.codes[from..to].iter().copied()).collect();
        self.scratch.codes = sorted;
    }

    /// Where the codes of each layer begin.
    fn layer_starts(&mut self, layers: &Layers) -> Vec<usize> {
        let mut cursor = 0;
        (0..layers.count())
            .map(|layer| {
                let start = cursor;
                layers.needles(layer, &self.plane.layout, &mut self.scratch.needles);
                for &offset in &self.scratch.needles {
                    cursor += count_at(&self.state.codes[cursor..], offset);
                }
                start
            })
            .collect()
    }

    /// Visits the needles of a layer whose codes begin at `cursor`; returns where they end.
    #[inline(always)]
    fn visit_layer<V: Vector<Elem = T>>(&mut self, layers: &Layers, layer: usize, mut cursor: usize) -> usize {
        layers.needles(layer, &self.plane.layout, &mut self.scratch.needles);
        let needles = std::mem::take(&mut self.scratch.needles);
        for batch in needles.chunks(BATCH) {
            self.correlate_batch::<V>(batch);
            for (j, &offset) in batch.iter().enumerate() {
                let old = count_at(&self.state.codes[cursor..], offset);
                self.visit_needle::<V>(j, offset, (cursor, cursor + old));
                cursor += old;
            }
        }
        self.scratch.needles = needles;
        cursor
    }

    /// Visits the candidates; the codes of all other needles stay as they are.
    #[inline(always)]
    fn visit_candidates<V: Vector<Elem = T>>(&mut self) {
        let candidates = std::mem::take(&mut self.state.candidates);
        let mut copied = 0;
        for layer in candidates.chunk_by(|a, b| a.layer == b.layer) {
            for batch in layer.chunks(BATCH) {
                let mut needles = std::mem::take(&mut self.scratch.needles);
                needles.clear();
                needles.extend(batch.iter().map(|c| c.offset));
                self.correlate_batch::<V>(&needles);
                self.scratch.needles = needles;
                for (j, candidate) in batch.iter().enumerate() {
                    let range = (candidate.codes.0 as usize, candidate.codes.1 as usize);
                    self.scratch.codes.extend_from_slice(&self.state.codes[copied..range.0]);
                    copied = range.1;
                    self.visit_needle::<V>(j, candidate.offset, range);
                }
            }
        }
        self.scratch.codes.extend_from_slice(&self.state.codes[copied..]);
    }

    #[inline(always)]
    fn correlate_batch<V: Vector<Elem = T>>(&mut self, needles: &[u32]) {
        let scratch = &mut *self.scratch;
        let field = &scratch.footprint.residual;
        correlate::<V>(&self.atoms.packed, field, &self.plane.layout.patch, needles, &mut scratch.correlations);
    }

    /// Solves the needle whose correlations stand at place `j` of the batch, unless it is zero and stays so.
    #[inline(always)]
    fn visit_needle<V: Vector<Elem = T>>(&mut self, j: usize, offset: u32, codes: (usize, usize)) {
        let (scratch, plane, stride) = (&mut *self.scratch, self.plane, self.atoms.packed.stride);
        let spread = self.sweep.visit == Visit::Spread;
        let c = &mut scratch.correlations[j * stride..(j + 1) * stride];
        if spread {
            let share = T::from_f64(1.0 / plane.grid.atom.iter().product::<usize>() as f64);
            c.iter_mut().for_each(|x| *x *= share);
        }
        let at = offset as usize;
        let rules = Rules {
            thresholds: &self.atoms.weights,
            scale: T::from_f64(self.sweep.penalty) * plane.position_weight(&self.state.tile, at),
            nonnegative: self.nonnegative,
            cap: plane.cap(&self.state.tile, at),
            tolerance: T::from_f64(self.sweep.local_tolerance),
        };
        let old = if spread { &[][..] } else { &self.state.codes[codes.0..codes.1] };
        if old.is_empty() && !any_awake::<V>(c, &rules, T::ONE + T::EPSILON * T::from_f64(8.0)) {
            return;
        }
        let active = &mut scratch.active;
        active.clear();
        active.extend(old.iter().map(|code| ActiveCode { atom: u32::from(code.atom), value: code.value, before: code.value }));
        let cut = !scratch.footprint.is_plain(at, &plane.layout);
        if !cut {
            let mut columns = Stored { gram: &self.atoms.gram, stride };
            match self.local {
                Local::Coordinate => solve_by_coordinates::<V>(c, active, &mut columns, &rules),
                Local::Lars => solve_by_lars::<V>(c, active, &mut columns, &rules),
            }
        } else {
            let weights = &scratch.footprint.weights;
            let mut columns = MaskedColumns::<V, T>::new(self.atoms, weights, &plane.layout.patch, at, &mut scratch.columns);
            match self.local {
                Local::Coordinate => solve_by_coordinates::<V>(c, active, &mut columns, &rules),
                Local::Lars => solve_by_lars::<V>(c, active, &mut columns, &rules),
            }
        }
        self.state.solved += 1;
        active.sort_unstable_by_key(|code| code.atom);
        let (atoms, layout) = (&self.atoms.rows, &plane.layout);
        let footprint = &mut scratch.footprint;
        let mut moved = false;
        for code in active.iter() {
            let k = code.atom as usize;
            if code.value != T::ZERO {
                let curvature = self.atoms.curvature::<V>(k, cut.then_some(&footprint.weights[..]), layout, at);
                scratch.codes.push(LocalCode { offset, atom: k as u16, cut, value: code.value, curvature });
            }
            let back = code.before - code.value;
            if back != T::ZERO && !spread {
                let weights = cut.then_some(&footprint.weights[..]);
                add_atom::<V>(atoms, k, &layout.rows, &mut footprint.residual, weights, at, back);
                let change = (back.abs() / rules.threshold(k)).to_f64();
                self.state.largest_change = self.state.largest_change.max(change);
                self.state.last_change = self.state.largest_change;
                moved = true;
            }
        }
        if moved && plane.grid.wraps != [false; 3] {
            layout.repeat_wrapped(&plane.grid, &self.state.tile, at, &mut scratch.footprint.residual);
        }
    }
}

/// How many of the leading codes belong to the needle at `offset`.
#[inline(always)]
pub(super) fn count_at<T>(codes: &[LocalCode<T>], offset: u32) -> usize {
    codes.iter().take_while(|c| c.offset == offset).count()
}
