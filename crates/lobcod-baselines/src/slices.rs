//! The variables of the slice-based ADMM for one signal.

use crate::geometry::Target;
use crate::lars::lasso;
use lobcod::Dictionary;
use std::thread;

/// Needles, slices and dual variables of one signal.
pub(crate) struct Slices {
    pub(crate) target: Target,
    /// Number of patches that cover every sample.
    cover: Vec<f64>,
    /// `a_i`, sparse.
    pub(crate) needles: Vec<Vec<(usize, f64)>>,
    /// `s_i`, consecutively.
    slices: Vec<f64>,
    /// `u_i`, consecutively.
    duals: Vec<f64>,
    atom_len: usize,
}

impl Slices {
    /// All needles zero; slices are equal parts of the signal, as if every patch explained its
    /// part.
    pub(crate) fn new(target: Target, dictionary: &Dictionary<f64>) -> Self {
        let (positions, n) = (target.geometry.positions(), dictionary.atom_len());
        let cover = target.geometry.cover();
        let mut slices = vec![0.0; positions * n];
        for (position, slice) in slices.chunks_exact_mut(n).enumerate() {
            let observed = |sample: usize| {
                if target.weights[sample] > 0.0 { target.samples[sample] } else { 0.0 }
            };
            target
                .geometry
                .covered(position, |i, sample| slice[i] = observed(sample) / cover[sample]);
        }
        Self {
            target,
            cover,
            needles: vec![Vec::new(); positions],
            slices,
            duals: vec![0.0; positions * n],
            atom_len: n,
        }
    }

    /// Target of needle `i`: `s_i + u_i`.
    pub(crate) fn wanted(&self, position: usize) -> Vec<f64> {
        let range = position * self.atom_len..(position + 1) * self.atom_len;
        self.slices[range.clone()].iter().zip(&self.duals[range]).map(|(s, u)| s + u).collect()
    }

    /// `a_i = argmin penalty |a|_1 + rho/2 || s_i + u_i - D a ||^2`, by LARS.
    pub(crate) fn code(
        &mut self,
        dictionary: &Dictionary<f64>,
        gram: &[f64],
        threshold: f64,
        threads: usize,
    ) {
        let mut needles = std::mem::take(&mut self.needles);
        let this = &*self;
        let part_len = needles.len().div_ceil(threads.max(1)).max(1);
        thread::scope(|scope| {
            for (number, part) in needles.chunks_mut(part_len).enumerate() {
                scope.spawn(move || {
                    for (i, needle) in part.iter_mut().enumerate() {
                        let wanted = this.wanted(number * part_len + i);
                        let correlation = |k: usize| dot(dictionary.atom(k), &wanted);
                        let correlations: Vec<f64> =
                            (0..dictionary.len()).map(correlation).collect();
                        *needle = lasso(&correlations, gram, threshold);
                    }
                });
            }
        });
        self.needles = needles;
    }

    /// Slices that fit the signal best near `z_i = D a_i - u_i`, then `u_i += s_i - D a_i`.
    ///
    /// `s_i = z_i + P_i A^2 (Y - X) / rho` with `X = sum P_i^T s_i`; summed over patches, each
    /// sample's `X = (rho Z + cover A^2 Y) / (rho + cover A^2)`, `Z = sum P_i^T z_i`.
    pub(crate) fn fit(&mut self, dictionary: &Dictionary<f64>, rho: f64) {
        let n = self.atom_len;
        let Self { target, cover, needles, slices, duals, .. } = self;
        let mut sum = vec![0.0; target.samples.len()];
        for (position, needle) in needles.iter().enumerate() {
            let range = position * n..(position + 1) * n;
            let coded = slice(dictionary, needle);
            for ((s, u), d) in
                slices[range.clone()].iter_mut().zip(&duals[range.clone()]).zip(&coded)
            {
                *s = d - u;
            }
            target.geometry.covered(position, |i, sample| sum[sample] += slices[position * n + i]);
        }
        let pull: Vec<f64> = (0..sum.len())
            .map(|i| {
                let weight = target.weights[i];
                let fitted = (rho * sum[i] + cover[i] * weight * target.samples[i])
                    / (rho + cover[i] * weight);
                weight * (target.samples[i] - fitted) / rho
            })
            .collect();
        for (position, needle) in needles.iter().enumerate() {
            let coded = slice(dictionary, needle);
            target.geometry.covered(position, |i, sample| slices[position * n + i] += pull[sample]);
            for i in 0..n {
                duals[position * n + i] += slices[position * n + i] - coded[i];
            }
        }
    }

    /// Objective of the needles and the signal they represent: (data term, sum of absolute values,
    /// non-zeros).
    pub(crate) fn measure(&self, dictionary: &Dictionary<f64>) -> (f64, f64, usize) {
        let mut synthesis = vec![0.0; self.target.samples.len()];
        for (position, needle) in
            self.needles.iter().enumerate().filter(|(_, needle)| !needle.is_empty())
        {
            let coded = slice(dictionary, needle);
            self.target.geometry.covered(position, |i, sample| synthesis[sample] += coded[i]);
        }
        let codes = || self.needles.iter().flatten();
        (
            self.target.data_term(&synthesis),
            codes().map(|(_, value)| value.abs()).sum(),
            codes().count(),
        )
    }
}

/// `D a`.
fn slice(dictionary: &Dictionary<f64>, needle: &[(usize, f64)]) -> Vec<f64> {
    let mut sum = vec![0.0; dictionary.atom_len()];
    for &(k, value) in needle {
        sum.iter_mut().zip(dictionary.atom(k)).for_each(|(s, d)| *s += value * d);
    }
    sum
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
