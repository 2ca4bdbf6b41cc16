//! Sweeps over one tile in joint sparsity: the codes of all channels of an atom are one block.

use crate::engine::cpu::data::atoms::{Atoms, ColumnStore, PlainColumns};
use crate::engine::cpu::data::channels::MaskedChannels;
use crate::engine::cpu::data::field::TileField;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::{Candidate, LocalCode, TileState};
use crate::engine::cpu::sweep::discovery::DiscoverTile;
use crate::engine::{JointNorm, Support, Visit};
use crate::lasso::{GroupRules, solve_groups};
use crate::real::Real;
use crate::simd::{AtomRows, Kernel, Vector, add_atom, dot_atom, weighted_energy};

impl<T: Real> DiscoverTile<'_, T> {
    /// Solves needle `j` of the batch, unless it is zero and remains zero.
    #[inline(always)]
    pub fn visit_groups<V: Vector<Elem = T>>(
        &mut self,
        j: usize,
        visit: &Candidate,
        norm: JointNorm,
    ) {
        let slack = self.slack().to_f64();
        let (scratch, plane, layout) = (&mut *self.scratch, self.plane, &self.plane.layout);
        let channels = plane.codes_of_atom;
        let width = self.atoms.packed.stride * channels;
        let spread = self.sweep.visit == Visit::Spread;
        let c = &mut scratch.correlations[j * width..(j + 1) * width];
        if spread {
            let fraction = T::from_f64(1.0 / crate::geometry::volume(plane.grid.atom) as f64);
            c.iter_mut().for_each(|x| *x *= fraction);
        }
        let at = visit.offset as usize;
        let weights = plane.needle_weights(self.atoms, &self.state.tile, at);
        let rules = GroupRules::new(norm, self.nonnegative)
            .times(self.sweep.penalty * weights.position.to_f64())
            .with_tolerance(self.sweep.local_tolerance);
        let old = if spread {
            &[][..]
        } else {
            &self.state.codes[visit.codes.0 as usize..visit.codes.1 as usize]
        };
        let groups = &mut scratch.groups;
        groups.clear();
        if old.is_empty() && groups.strongest(c, weights.atoms, rules, slack).is_none() {
            return;
        }
        for group in old.chunk_by(|a, b| plane.is_one_group(a, b)) {
            let values = groups.push(plane.atom_of(group[0].atom) as u32, channels);
            for code in group {
                values[code.atom as usize % channels] = code.value;
            }
        }
        groups.before.copy_from_slice(&groups.values);
        let clipped = !scratch.footprint.is_plain(at, layout);
        if !clipped {
            let mut columns = PlainColumns { atoms: self.atoms, store: &mut scratch.gram };
            solve_groups::<V>(c, groups, &mut columns, weights.atoms, rules);
        } else {
            let stores = &mut scratch.channel_columns;
            stores.resize_with(channels.max(stores.len()), ColumnStore::new);
            stores.iter_mut().for_each(ColumnStore::clear);
            let weights_of = &scratch.footprint.weights[..];
            let mut columns = MaskedChannels {
                atoms: self.atoms,
                weights: weights_of,
                layout,
                offset: at,
                stores,
            };
            solve_groups::<V>(c, groups, &mut columns, weights.atoms, rules);
        }
        let mut order: Vec<usize> = (0..groups.atoms.len()).collect();
        order.sort_unstable_by_key(|&i| groups.atoms[i]);
        let footprint = &mut scratch.footprint;
        let mut moved = false;
        for i in order {
            let k = groups.atoms[i] as usize;
            let threshold = rules.times(weights.atoms[k].to_f64()).threshold();
            for channel in 0..channels {
                let value = groups.values[i * channels + channel];
                let back = groups.before[i * channels + channel] - value;
                let mut code = LocalCode {
                    offset: visit.offset,
                    atom: (k * channels + channel) as u16,
                    clipped,
                    value,
                    curvature: T::ONE,
                };
                let place = PlacedAtom { atoms: &self.atoms.rows, plane, k, channel, at };
                if value != T::ZERO || back != T::ZERO {
                    code.curvature =
                        place.curvature::<V>(clipped.then_some(&footprint.weights[..]));
                }
                if value != T::ZERO {
                    scratch.codes.push(code);
                }
                if back != T::ZERO && !spread {
                    let mask = clipped.then_some(&footprint.weights[..]);
                    place.add::<V>(&mut footprint.residual, mask, back);
                    let change = (back.abs() * code.curvature).to_f64() / threshold;
                    self.state.largest_change = self.state.largest_change.max(change);
                    self.state.last_change = self.state.largest_change;
                    moved = true;
                }
            }
        }
        if moved {
            scratch.bounds.disturb(plane, self.state, at);
            if plane.grid.wraps != [false; 3] {
                let residual = &mut scratch.footprint.residual;
                layout.repeat_wrapped(&plane.grid, &self.state.tile, at, residual);
            }
        }
    }
}

/// An atom in one channel of the patch at `at`.
pub struct PlacedAtom<'a, T> {
    atoms: &'a AtomRows<T>,
    plane: &'a PlaneState<T>,
    k: usize,
    channel: usize,
    at: usize,
}

impl<'a, T: Real> PlacedAtom<'a, T> {
    #[inline(always)]
    pub fn of(atoms: &'a AtomRows<T>, plane: &'a PlaneState<T>, code: &LocalCode<T>) -> Self {
        let channel = code.atom as usize % plane.codes_of_atom;
        Self { atoms, plane, k: plane.atom_of(code.atom), channel, at: code.offset as usize }
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.at + self.channel * self.plane.layout.strides[2]
    }

    #[inline(always)]
    pub fn dot<V: Vector<Elem = T>>(&self, residual: &[T]) -> T {
        let rows = &self.plane.layout.channel_rows;
        dot_atom::<V>(self.atoms, self.k, rows, residual, self.offset())
    }

    #[inline(always)]
    fn add<V: Vector<Elem = T>>(&self, residual: &mut [T], weights: Option<&[T]>, value: T) {
        let rows = &self.plane.layout.channel_rows;
        add_atom::<V>(self.atoms, self.k, rows, residual, weights, self.offset(), value);
    }

    /// Energy of the atom under these weights.
    #[inline(always)]
    pub fn curvature<V: Vector<Elem = T>>(&self, weights: Option<&[T]>) -> T {
        let rows = &self.plane.layout.channel_rows;
        weights.map_or(T::ONE, |weights| {
            weighted_energy::<V>(self.atoms, self.k, rows, weights, self.offset())
        })
    }
}

/// Block coordinate descent over the non-zero codes of one tile.
pub struct SupportGroups<'a, T> {
    pub atoms: &'a Atoms<T>,
    pub plane: &'a PlaneState<T>,
    pub field: TileField<'a, T>,
    pub state: &'a mut TileState<T>,
    pub scratch: &'a mut Scratch<T>,
    pub sweep: &'a Support,
    pub rules: GroupRules,
}

impl<T: Real> Kernel<T> for SupportGroups<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, mut field, state, scratch, sweep, rules } = self;
        if state.codes.is_empty() {
            return;
        }
        // Candidates refer to ranges of codes, which the sweep shortens.
        state.candidates.clear();
        let footprint = &mut scratch.footprint;
        field.load(footprint);
        if state.curvatures != atoms.version {
            for code in &mut state.codes {
                let weights = code.clipped.then_some(&footprint.weights[..]);
                code.curvature = PlacedAtom::of(&atoms.rows, plane, code).curvature::<V>(weights);
            }
            state.curvatures = atoms.version;
        }
        let wraps = plane.grid.wraps != [false; 3];
        let (mut z, mut q) = (Vec::new(), Vec::new());
        for _ in 0..sweep.rounds {
            let mut largest = 0.0f64;
            for group in state.codes.chunk_by_mut(|a, b| plane.is_one_group(a, b)) {
                let at = group[0].offset as usize;
                let weights = plane.needle_weights(atoms, &state.tile, at);
                let weight = weights.of(plane.atom_of(group[0].atom)).to_f64();
                let rules = rules.times(sweep.penalty * weight);
                z.clear();
                q.clear();
                for code in group.iter() {
                    let c = PlacedAtom::of(&atoms.rows, plane, code).dot::<V>(&footprint.residual);
                    z.push(c.to_f64() + code.curvature.to_f64() * code.value.to_f64());
                    q.push(code.curvature.to_f64());
                }
                rules.shrink(&mut z, &q);
                let mut moved = false;
                for (code, &value) in group.iter_mut().zip(&z) {
                    let value = T::from_f64(value);
                    let back = code.value - value;
                    if back == T::ZERO {
                        continue;
                    }
                    code.value = value;
                    let weights = code.clipped.then_some(&footprint.weights[..]);
                    let place = PlacedAtom::of(&atoms.rows, plane, code);
                    place.add::<V>(&mut footprint.residual, weights, back);
                    largest =
                        largest.max((back.abs() * code.curvature).to_f64() / rules.threshold());
                    moved = true;
                }
                if moved && wraps {
                    let residual = &mut footprint.residual;
                    plane.layout.repeat_wrapped(&plane.grid, &state.tile, at, residual);
                }
            }
            state.visited += state.codes.len();
            state.last_change = largest;
            state.largest_change = state.largest_change.max(largest);
            if largest < sweep.tolerance {
                break;
            }
        }
        state.codes.retain(|c| c.value != T::ZERO);
        field.store(footprint);
    }
}

/// Subtracts the codes of one tile from the residual.
#[inline(always)]
pub fn synthesise_channels<V: Vector>(
    atoms: &AtomRows<V::Elem>,
    plane: &PlaneState<V::Elem>,
    mut field: TileField<'_, V::Elem>,
    state: &TileState<V::Elem>,
    scratch: &mut Scratch<V::Elem>,
) where
    V::Elem: Real,
{
    let footprint = &mut scratch.footprint;
    field.load(footprint);
    let wraps = plane.grid.wraps != [false; 3];
    for code in &state.codes {
        let weights = code.clipped.then_some(&footprint.weights[..]);
        let place = PlacedAtom::of(atoms, plane, code);
        place.add::<V>(&mut footprint.residual, weights, -code.value);
        if wraps {
            let residual = &mut footprint.residual;
            plane.layout.repeat_wrapped(&plane.grid, &state.tile, place.at, residual);
        }
    }
    field.store(footprint);
}
