//! Usage counts of atoms.

use lobcod::{Needles, Real};

/// Usage of each atom.
pub struct Uses {
    /// Number of non-zeros of each atom.
    pub counts: Vec<usize>,
    /// Sum of `|value|` of each atom.
    sums: Vec<f64>,
    total: usize,
}

impl Uses {
    /// Counts the codes of all signals, for `atoms` atoms.
    pub fn count<T: Real>(atoms: usize, needles: &[Needles<T>]) -> Self {
        let (mut counts, mut sums) = (vec![0; atoms], vec![0.0; atoms]);
        for code in needles.iter().flat_map(Needles::codes) {
            counts[code.atom as usize] += 1;
            sums[code.atom as usize] += code.value.to_f64().abs();
        }
        let total = counts.iter().sum();
        Self { counts, sums, total }
    }

    /// Atom indices, most used first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.counts.len()).collect();
        order.sort_by_key(|&k| (std::cmp::Reverse(self.counts[k]), k));
        order
    }

    /// Number of atoms that are used.
    pub fn used(&self) -> usize {
        self.counts.iter().filter(|n| **n > 0).count()
    }

    /// Fraction of the non-zeros, in per cent.
    pub fn share(&self, k: usize) -> f64 {
        100.0 * self.counts[k] as f64 / self.total.max(1) as f64
    }

    /// Mean of `|value|` over the codes of an atom; 0 if unused.
    pub fn mean(&self, k: usize) -> f64 {
        self.sums[k] / self.counts[k].max(1) as f64
    }
}
