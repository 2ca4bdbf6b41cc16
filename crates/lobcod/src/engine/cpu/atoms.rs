//! The dictionary in the forms the kernels read.

use super::footprint::Layout;
use crate::dictionary::Dictionary;
use crate::lasso::Columns;
use crate::real::Real;
use crate::simd::{Aligned, AtomRows, Level, PackedAtoms, PatchSamples, RoughAtoms, Vector, weighted_energy};

pub(super) struct Atoms<T> {
    pub(super) packed: PackedAtoms<T>,
    pub(super) rows: AtomRows<T>,
    /// The atoms in bytes, where the machine has instructions for them and they are those that the session was opened with.
    pub(super) rough: Option<RoughAtoms>,
    /// Penalty weight of every atom, infinite behind the last.
    pub(super) weights: Vec<T>,
    /// `1 / weights`, 0 behind the last.
    pub(super) inverse_weights: Vec<T>,
    /// The largest of them, and what rounding may add to a correlation, as a factor.
    pub(super) largest_inverse_weight: T,
    pub(super) rounding: T,
    /// An atom of ones.
    pub(super) inside_rows: AtomRows<T>,
    /// A patch that lies in one piece.
    straight: PatchSamples,
    pub(super) dictionary: Dictionary<T>,
    /// How often the dictionary was replaced.
    version: usize,
}

impl<T: Real> Atoms<T> {
    pub(super) fn new(dictionary: Dictionary<T>, weights: &[T], level: Level) -> Self {
        let (m, lanes) = (dictionary.len(), level.lanes::<T>());
        let packed = PackedAtoms::new(&dictionary, level);
        let stride = packed.stride;
        let pad = |f: &dyn Fn(T) -> T, with: T| (0..stride).map(|k| if k < m { f(weights[k]) } else { with }).collect();
        let inverse_weights: Vec<T> = pad(&|w| T::ONE / w, T::ZERO);
        let (row, samples) = (dictionary.extent().padded()[2], dictionary.atom_len());
        let rows = AtomRows::new(&dictionary, lanes);
        Self {
            rough: RoughAtoms::new(&rows, &inverse_weights, level),
            rows,
            weights: pad(&|w| w, T::INFINITY),
            largest_inverse_weight: inverse_weights.iter().fold(T::ZERO, |most, &w| most.max(w)),
            rounding: T::from_f64(1.0 + 4.0 * (samples + 16) as f64 * T::EPSILON.to_f64()),
            inside_rows: AtomRows::from_data(&vec![T::ONE; samples], row, samples, lanes),
            inverse_weights,
            straight: PatchSamples::straight(samples),
            packed,
            dictionary,
            version: 0,
        }
    }

    /// Puts another dictionary of the same shape in the place of this one.
    pub(super) fn replace(&mut self, dictionary: Dictionary<T>) {
        self.packed.fill(&dictionary);
        self.rows.fill(dictionary.data());
        // Rounding them anew would cost more than it saves.
        self.rough = None;
        self.dictionary = dictionary;
        self.version += 1;
    }

    /// Energy of atom `k` under the weights of the patch at `offset`; `None`: all are 1, and atoms have unit norm.
    #[inline(always)]
    pub(super) fn curvature<V: Vector<Elem = T>>(&self, k: usize, weights: Option<&[T]>, layout: &Layout, offset: usize) -> T {
        match weights {
            None => T::ONE,
            Some(weights) => weighted_energy::<V>(&self.rows, k, &layout.rows, weights, offset),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let rough = self.rough.as_ref().map_or(0, RoughAtoms::bytes);
        rough + self.packed.bytes() + self.rows.bytes() + size_of_val(self.dictionary.data())
    }
}

/// Columns of the Gram matrix of the atoms, each made when first asked for: a layer of one picture uses a part of the atoms, and the
/// next layer may see others.
pub(super) struct PlainColumns<'a, T> {
    atoms: &'a Atoms<T>,
    store: &'a mut GramStore<T>,
}

/// Memory of [`PlainColumns`], kept as long as the atoms stay the same.
pub(super) struct GramStore<T> {
    columns: Aligned<T>,
    made: Vec<bool>,
    /// The atoms they belong to.
    version: usize,
}

impl<T: Real> GramStore<T> {
    pub(super) fn new() -> Self {
        Self { columns: Aligned::new(0), made: Vec::new(), version: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.columns.len() * size_of::<T>()
    }

    /// Forgets the columns of atoms that were replaced.
    pub(super) fn belong_to(&mut self, atoms: &Atoms<T>) {
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

impl<'a, T: Real> PlainColumns<'a, T> {
    /// Columns of the atoms that the store was told to belong to.
    pub(super) fn new(atoms: &'a Atoms<T>, store: &'a mut GramStore<T>) -> Self {
        Self { atoms, store }
    }
}

impl<T: Real> Columns<T> for PlainColumns<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize) -> &[T] {
        let stride = self.atoms.packed.stride;
        let column = &mut self.store.columns[atom * stride..(atom + 1) * stride];
        if !self.store.made[atom] {
            self.store.made[atom] = true;
            // The atom correlated as a patch.
            self.atoms.packed.correlate(self.atoms.dictionary.atom(atom), &self.atoms.straight, &[0], column);
        }
        column
    }
}

/// Columns of the masked Gram matrix of one patch, each made when first asked for.
pub(super) struct MaskedColumns<'a, T> {
    atoms: &'a Atoms<T>,
    weights: &'a [T],
    patch: &'a [u32],
    offset: usize,
    store: &'a mut ColumnStore<T>,
}

/// Memory of [`MaskedColumns`], kept between needles.
pub(super) struct ColumnStore<T> {
    pub(super) made: Vec<usize>,
    pub(super) columns: Vec<T>,
    pub(super) weighted_atom: Vec<T>,
}

impl<'a, T: Real> MaskedColumns<'a, T> {
    pub(super) fn new(
        atoms: &'a Atoms<T>,
        weights: &'a [T],
        patch: &'a [u32],
        offset: usize,
        store: &'a mut ColumnStore<T>,
    ) -> Self {
        store.made.clear();
        store.columns.clear();
        Self { atoms, weights, patch, offset, store }
    }
}

impl<T: Real> Columns<T> for MaskedColumns<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize) -> &[T] {
        let stride = self.atoms.packed.stride;
        // No closure here: its body would not be compiled for the wide vectors.
        let at = match self.store.made.iter().position(|&k| k == atom) {
            Some(at) => at,
            None => {
                let store = &mut *self.store;
                let weights = &self.weights[self.offset..];
                store.weighted_atom.clear();
                store
                    .weighted_atom
                    .extend(self.atoms.dictionary.atom(atom).iter().zip(self.patch).map(|(&d, &p)| d * weights[p as usize]));
                let start = store.columns.len();
                store.columns.resize(start + stride, T::ZERO);
                self.atoms.packed.correlate(&store.weighted_atom, &self.atoms.straight, &[0], &mut store.columns[start..]);
                store.made.push(atom);
                store.made.len() - 1
            }
        };
        &self.store.columns[at * stride..(at + 1) * stride]
    }
}
