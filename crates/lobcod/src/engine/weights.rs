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

/// Positions whose rows are gathered together, atom by atom.
const BLOCK: usize = 64;

impl<T: Real> CoefficientWeights<T> {
    /// From an array of atoms, then positions, times a weight above 0 of every atom.
    pub fn new(weights: &[T], atom_weights: &[T]) -> Self {
        let (atoms, positions) = (atom_weights.len(), weights.len() / atom_weights.len());
        let mut known = DistinctRows::new(atoms);
        let mut row_of = Vec::with_capacity(positions);
        let mut block = vec![T::ZERO; BLOCK * atoms];
        for start in (0..positions).step_by(BLOCK) {
            let count = BLOCK.min(positions - start);
            for (k, &weight) in atom_weights.iter().enumerate() {
                let of_atom = &weights[k * positions + start..][..count];
                let places = block[k..].iter_mut().step_by(atoms);
                places.zip(of_atom).for_each(|(place, &w)| *place = w * weight);
            }
            row_of.extend(block.chunks_exact(atoms).take(count).map(|row| known.number(row)));
        }
        Self { atoms, row_of, rows: Arc::new(known.rows) }
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

/// Distinct rows of weights, numbered in the order in which they were first met.
struct DistinctRows<T> {
    rows: Vec<T>,
    atoms: usize,
    /// The last row with this hash.
    last: HashMap<u64, u32>,
    /// The row before with the same hash, or the row itself.
    before: Vec<u32>,
}

impl<T: Real> DistinctRows<T> {
    fn new(atoms: usize) -> Self {
        Self { rows: Vec::new(), atoms, last: HashMap::new(), before: Vec::new() }
    }

    /// Number of this row, compared bit by bit.
    fn number(&mut self, row: &[T]) -> u32 {
        let mix = |hash: u64, w| (hash.rotate_left(5) ^ bits(w)).wrapping_mul(MULTIPLIER);
        self.number_with(row.iter().fold(0, mix), row)
    }

    fn number_with(&mut self, hash: u64, row: &[T]) -> u32 {
        let next = self.before.len() as u32;
        let last = self.last.entry(hash).or_insert(next);
        let mut at = *last;
        while at != next {
            let other = &self.rows[at as usize * self.atoms..][..self.atoms];
            if row.iter().map(bits).eq(other.iter().map(bits)) {
                return at;
            }
            let before = self.before[at as usize];
            at = if before == at { next } else { before };
        }
        self.before.push(*last);
        *last = next;
        self.rows.extend_from_slice(row);
        next
    }
}

fn bits<T: Real>(weight: &T) -> u64 {
    weight.to_f64().to_bits()
}

/// An odd number without a pattern in its bits.
const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_stored_once_in_the_order_of_positions() {
        let (atoms, positions) = (5, 3 * BLOCK + 7);
        let weight = |k: usize, at: usize| ((at * at) % 11 + k) as f32;
        let weights: Vec<f32> =
            (0..atoms * positions).map(|i| weight(i / positions, i % positions)).collect();
        let of_atoms = [1.0, 2.0, 0.5, 4.0, 1.0];
        let found = CoefficientWeights::new(&weights, &of_atoms);
        let mut first: Vec<usize> = Vec::new();
        for at in 0..positions {
            let row: Vec<f32> = (0..atoms).map(|k| weight(k, at) * of_atoms[k]).collect();
            assert_eq!(found.at(at), row);
            let kind = (at * at) % 11;
            if !first.contains(&kind) {
                first.push(kind);
            }
            assert_eq!(Some(found.row_of[at] as usize), first.iter().position(|&k| k == kind));
        }
        assert_eq!(found.rows.len(), first.len() * atoms);
    }

    #[test]
    fn rows_with_one_hash_are_told_apart() {
        let mut rows = DistinctRows::new(1);
        let numbers = [1.0, 2.0, 1.0, 3.0, 2.0, 3.0].map(|w: f64| rows.number_with(7, &[w]));
        assert_eq!(numbers, [0, 1, 0, 2, 1, 2]);
    }
}
