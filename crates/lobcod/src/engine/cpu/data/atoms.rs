//! The dictionary in the layouts used by the kernels.

use crate::dictionary::Dictionary;
use crate::engine::JointNorm;
use crate::engine::cpu::data::footprint::Layout;
use crate::engine::cpu::data::rank_one::{Projected, RankOne};
use crate::lasso::Columns;
use crate::real::Real;
use crate::simd::{
    Aligned, AtomRows, Level, PackedAtoms, PatchSamples, ReachRule, Vector, weighted_energy,
};

pub struct Atoms<T> {
    pub packed: PackedAtoms<T>,
    pub rows: AtomRows<T>,
    /// Their factors, if they have rank 1.
    pub rank_one: Option<RankOne<T>>,
    /// Penalty weight of every atom, infinite in the padding.
    pub weights: Vec<T>,
    /// `1 / weights`, 0 in the padding.
    pub inverse_weights: Vec<T>,
    /// The largest of them, and a bound on the relative rounding error of a correlation.
    pub largest_inverse_weight: T,
    pub rounding: T,
    /// Weight of the quadratic term, added to the diagonal of the Gram matrix.
    pub elastic: T,
    /// The norm of the codes of all channels, if they are sparse jointly.
    pub joint: Option<JointNorm>,
    /// Layout of a contiguous patch.
    straight: PatchSamples,
    pub dictionary: Dictionary<T>,
    /// Number of times the dictionary was replaced.
    pub version: usize,
}

impl<T: Real> Atoms<T> {
    /// `joint`: the norm of joint sparsity and the largest number of channels.
    pub fn new(
        dictionary: Dictionary<T>,
        weights: &[T],
        elastic: f64,
        joint: Option<(JointNorm, usize)>,
        level: Level,
    ) -> Self {
        let (m, lanes) = (dictionary.len(), level.lanes::<T>());
        let packed = PackedAtoms::new(&dictionary, level);
        let stride = packed.stride;
        let pad = |f: &dyn Fn(T) -> T, with: T| {
            (0..stride).map(|k| if k < m { f(weights[k]) } else { with }).collect()
        };
        let inverse_weights: Vec<T> = pad(&|w| T::ONE / w, T::ZERO);
        let samples = dictionary.atom_len();
        let summed = samples * joint.map_or(1, |(_, channels)| channels);
        let rows = AtomRows::new(&dictionary, lanes);
        Self {
            rows,
            rank_one: RankOne::of(&dictionary, lanes),
            weights: pad(&|w| w, T::INFINITY),
            largest_inverse_weight: inverse_weights.iter().fold(T::ZERO, |most, &w| most.max(w)),
            rounding: T::from_f64(1.0 + 4.0 * (summed + 16) as f64 * T::EPSILON.to_f64()),
            elastic: T::from_f64(elastic),
            joint: joint.map(|(norm, _)| norm),
            inverse_weights,
            straight: PatchSamples::straight(samples),
            packed,
            dictionary,
            version: 0,
        }
    }

    /// Replaces the dictionary by another of the same shape.
    pub fn replace(&mut self, dictionary: Dictionary<T>) {
        self.packed.fill(&dictionary);
        self.rows.fill(dictionary.data());
        self.rank_one = RankOne::of(&dictionary, self.packed.lanes());
        self.dictionary = dictionary;
        self.version += 1;
    }

    /// Energy of atom `k` under the weights of the patch at `offset`; `None`: all 1.
    #[inline(always)]
    pub fn curvature<V: Vector<Elem = T>>(
        &self,
        k: usize,
        weights: Option<&[T]>,
        layout: &Layout,
        offset: usize,
    ) -> T {
        match weights {
            None => T::ONE,
            Some(weights) => weighted_energy::<V>(&self.rows, k, &layout.rows, weights, offset),
        }
    }

    /// Correlates the patches at these offsets with all atoms, as [`PackedAtoms::correlate`] does.
    #[inline(always)]
    pub fn correlate<V: Vector<Elem = T>>(
        &self,
        layout: &Layout,
        field: &[T],
        projected: &mut Projected<T>,
        offsets: &[u32],
        out: &mut [T],
    ) {
        match &self.rank_one {
            Some(rank_one) if rank_one.takes::<V>(offsets.len(), layout, field, projected) => {
                rank_one.correlate::<V>(layout, projected, offsets, self.packed.stride, out);
            }
            _ if self.joint.is_some() => self.correlate_channels(layout, field, offsets, out),
            _ => self.packed.correlate(field, &layout.patch, offsets, out),
        }
    }

    /// Largest correlation of each patch, as [`PackedAtoms::reach`] finds it.
    #[inline(always)]
    pub fn reach<V: Vector<Elem = T>>(
        &self,
        layout: &Layout,
        field: &[T],
        projected: &mut Projected<T>,
        offsets: &[u32],
        nonnegative: bool,
        out: &mut [T],
    ) {
        if let Some(norm) = self.joint {
            return self.joint_reach(norm, layout, field, offsets, nonnegative, out);
        }
        let rule = ReachRule { inverse_weights: &self.inverse_weights, nonnegative };
        match &self.rank_one {
            Some(rank_one) if rank_one.takes::<V>(offsets.len(), layout, field, projected) => {
                let width = self.packed.stride;
                let mut all = vec![T::ZERO; offsets.len() * width];
                rank_one.correlate::<V>(layout, projected, offsets, width, &mut all);
                for (largest, c) in out.iter_mut().zip(all.chunks_exact(width)) {
                    *largest = rule.largest(c);
                }
            }
            _ => self.packed.reach(field, &layout.patch, offsets, rule, out),
        }
    }

    pub fn bytes(&self) -> usize {
        self.packed.bytes()
            + self.rows.bytes()
            + size_of_val(self.dictionary.data())
            + self.rank_one.as_ref().map_or(0, RankOne::bytes)
    }
}

/// Columns of the Gram matrix of the atoms, with the quadratic term, computed on demand.
pub struct PlainColumns<'a, T> {
    pub atoms: &'a Atoms<T>,
    /// Cache of the columns.
    pub store: &'a mut GramStore<T>,
}

/// Cache for [`PlainColumns`], valid as long as the atoms do not change.
pub struct GramStore<T> {
    columns: Aligned<T>,
    made: Vec<bool>,
    /// The atoms they belong to.
    version: usize,
}

impl<T: Real> GramStore<T> {
    pub fn new() -> Self {
        Self { columns: Aligned::new(0), made: Vec::new(), version: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.columns.len() * size_of::<T>()
    }

    /// Discards the columns if the atoms were replaced.
    pub fn belong_to(&mut self, atoms: &Atoms<T>) {
        let atoms_of = atoms.dictionary.len();
        if self.version != atoms.version || self.made.len() != atoms_of {
            self.made.clear();
            self.made.resize(atoms_of, false);
            if self.columns.len() != atoms_of * atoms.packed.stride {
                self.columns = Aligned::new(atoms_of * atoms.packed.stride);
            }
            self.version = atoms.version;
        }
    }
}

impl<T: Real> Columns<T> for PlainColumns<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize) -> &[T] {
        let stride = self.atoms.packed.stride;
        let column = &mut self.store.columns[atom * stride..(atom + 1) * stride];
        if !self.store.made[atom] {
            self.store.made[atom] = true;
            // Correlate the atom as a patch.
            self.atoms.packed.correlate(
                self.atoms.dictionary.atom(atom),
                &self.atoms.straight,
                &[0],
                column,
            );
            column[atom] += self.atoms.elastic;
        }
        column
    }
}

/// Columns of the masked Gram matrix of one patch, computed on demand.
pub struct MaskedColumns<'a, T> {
    atoms: &'a Atoms<T>,
    weights: &'a [T],
    patch: &'a [u32],
    offset: usize,
    store: &'a mut ColumnStore<T>,
}

/// Buffers of [`MaskedColumns`], reused between needles.
pub struct ColumnStore<T> {
    made: Vec<usize>,
    columns: Vec<T>,
    weighted_atom: Vec<T>,
}

impl<T> ColumnStore<T> {
    pub fn new() -> Self {
        Self { made: Vec::new(), columns: Vec::new(), weighted_atom: Vec::new() }
    }

    /// Discards the columns, which belong to another patch.
    pub fn clear(&mut self) {
        self.made.clear();
        self.columns.clear();
    }
}

impl<'a, T: Real> MaskedColumns<'a, T> {
    pub fn new(
        atoms: &'a Atoms<T>,
        weights: &'a [T],
        patch: &'a [u32],
        offset: usize,
        store: &'a mut ColumnStore<T>,
    ) -> Self {
        store.clear();
        Self::continued(atoms, weights, patch, offset, store)
    }

    /// With the columns that the store already has of this patch.
    pub fn continued(
        atoms: &'a Atoms<T>,
        weights: &'a [T],
        patch: &'a [u32],
        offset: usize,
        store: &'a mut ColumnStore<T>,
    ) -> Self {
        Self { atoms, weights, patch, offset, store }
    }

    /// One column.
    #[inline(always)]
    pub fn into_column(mut self, atom: usize) -> &'a [T] {
        let stride = self.atoms.packed.stride;
        let at = self.column_index(atom);
        &self.store.columns[at * stride..(at + 1) * stride]
    }

    /// Number of the column of an atom in the store.
    #[inline(always)]
    fn column_index(&mut self, atom: usize) -> usize {
        let stride = self.atoms.packed.stride;
        // No closure here: its body would not be compiled for the wide vectors.
        match self.store.made.iter().position(|&k| k == atom) {
            Some(at) => at,
            None => {
                let store = &mut *self.store;
                let weights = &self.weights[self.offset..];
                store.weighted_atom.clear();
                store.weighted_atom.extend(
                    self.atoms
                        .dictionary
                        .atom(atom)
                        .iter()
                        .zip(self.patch)
                        .map(|(&d, &p)| d * weights[p as usize]),
                );
                let start = store.columns.len();
                store.columns.resize(start + stride, T::ZERO);
                self.atoms.packed.correlate(
                    &store.weighted_atom,
                    &self.atoms.straight,
                    &[0],
                    &mut store.columns[start..],
                );
                store.columns[start + atom] += self.atoms.elastic;
                store.made.push(atom);
                store.made.len() - 1
            }
        }
    }
}

impl<T: Real> Columns<T> for MaskedColumns<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize) -> &[T] {
        let stride = self.atoms.packed.stride;
        let at = self.column_index(atom);
        &self.store.columns[at * stride..(at + 1) * stride]
    }
}
