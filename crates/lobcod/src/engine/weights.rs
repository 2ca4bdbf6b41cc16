//! Penalty weights of single coefficients.

use crate::real::Real;
use std::collections::HashMap;
use std::sync::Arc;

/// A penalty weight for every atom at every position: 0 leaves a code unpenalised, infinity forbids
/// it. Positions with equal weights share one row.
#[derive(Clone, Debug, PartialEq)]
pub struct CoefficientWeights<T> {
    /// Number of atoms: length of a row.
    pub atoms: usize,
    /// Row of every position, last axis fastest.
    pub row_of: Vec<u32>,
    /// The distinct rows.
    pub rows: Arc<Vec<T>>,
}

impl<T: Real> CoefficientWeights<T> {
    /// From an array of atoms, then positions, times a weight above 0 of every atom.
    pub fn new(weights: &[T], atom_weights: &[T]) -> Self {
        let (atoms, positions) = (atom_weights.len(), weights.len() / atom_weights.len());
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut rows = Vec::new();
        let row_of = (0..positions).map(|at| {
            let row = (0..atoms).map(|k| weights[k * positions + at] * atom_weights[k]);
            let next = known.len() as u32;
            *known.entry(row.clone().map(|w| w.to_f64().to_bits()).collect()).or_insert_with(|| {
                rows.extend(row);
                next
            })
        });
        Self { atoms, row_of: row_of.collect(), rows: Arc::new(rows) }
    }

    /// Weights of the atoms at a position.
    pub fn at(&self, position: usize) -> &[T] {
        &self.rows[self.row_of[position] as usize * self.atoms..][..self.atoms]
    }

    /// Whether any code is unpenalised.
    pub fn leave_unpenalised(&self) -> bool {
        self.rows.contains(&T::ZERO)
    }
}

/// The weights at one needle.
#[derive(Clone, Copy)]
pub(crate) struct NeedleWeights<'a, T> {
    /// Weight of every atom, infinite in the padding after the last.
    pub atoms: &'a [T],
    /// The largest inverse of them; infinite if a code is unpenalised.
    pub largest_inverse: T,
    /// Factor of all of them.
    pub position: T,
}

impl<T: Real> NeedleWeights<'_, T> {
    /// Weight of a code.
    #[inline(always)]
    pub fn of(&self, atom: usize) -> T {
        self.position * self.atoms[atom]
    }
}
