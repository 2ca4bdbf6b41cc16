//! Joint sparsity in the oracle, by bisection wherever the library has a formula.

use crate::matrix::dot;
use crate::plane::Plane;

/// Codes `g, g + each, g + 2 each, ...` are the group `g`.
#[derive(Clone, Copy)]
pub(crate) struct Groups {
    /// Weight of the norms of the groups; 0: none.
    pub(crate) weight: f64,
    /// Codes of one channel.
    pub(crate) each: usize,
}

impl Groups {
    fn of(self, group: usize, codes: &[f64]) -> impl Iterator<Item = f64> + '_ {
        codes[group..].iter().step_by(self.each).copied()
    }

    /// Sum of the weighted norms.
    pub(crate) fn norm(self, codes: &[f64], weights: &[f64]) -> f64 {
        if self.weight == 0.0 {
            return 0.0;
        }
        let norm = |g: usize| weights[g] * norm_of(self.of(g, codes));
        self.weight * (0..self.each).map(norm).sum::<f64>()
    }
}

fn norm_of(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

/// The point between 0 and `high` where a decreasing function falls below 0.
fn root(mut high: f64, decreasing: impl Fn(f64) -> f64) -> f64 {
    let mut low = 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if decreasing(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

impl Plane {
    /// Size by which the correlations of a group exceed its l1 penalty.
    fn excess(&self, group: usize, correlations: &[f64]) -> f64 {
        let sizes = self.groups.of(group, correlations).map(|c| self.reach(c));
        norm_of(sizes.map(|c| (c - self.penalty[group]).max(0.0)))
    }

    /// The largest scale of at most 1 at which all correlations are feasible.
    pub(crate) fn feasible_scale(&self, correlations: &[f64]) -> f64 {
        let feasible = |s: f64| {
            let scaled: Vec<f64> = correlations.iter().map(|c| s * c).collect();
            (0..self.groups.each)
                .all(|g| self.excess(g, &scaled) <= self.groups.weight * self.weights[g])
        };
        if feasible(1.0) { 1.0 } else { root(1.0, |s| if feasible(s) { 1.0 } else { -1.0 }) }
    }

    pub(crate) fn group_violation(&self, codes: &[f64]) -> f64 {
        let correlations = self.correlations(codes);
        let violation = |g: usize| {
            let (l1, l2) = (self.penalty[g], self.groups.weight * self.weights[g]);
            let norm = norm_of(self.groups.of(g, codes));
            if norm == 0.0 {
                return (self.excess(g, &correlations) - l2).max(0.0) / (l1 + l2);
            }
            let pairs = self.groups.of(g, codes).zip(self.groups.of(g, &correlations));
            let of = |(a, c): (f64, f64)| match a {
                a if a < 0.0 && self.nonnegative => f64::INFINITY,
                0.0 => (self.reach(c) - l1).max(0.0),
                a => (c - l1 * a.signum() - l2 * a / norm).abs(),
            };
            pairs.map(of).fold(0.0, f64::max) / (l1 + l2)
        };
        (0..self.groups.each).map(violation).fold(0.0, f64::max)
    }

    /// Minimises over each group in turn.
    pub(crate) fn sweep_groups(&self, squares: &[f64], codes: &mut [f64], residual: &mut [f64]) {
        for g in 0..self.groups.each {
            let (l1, l2) = (self.penalty[g], self.groups.weight * self.weights[g]);
            let members: Vec<usize> = (g..codes.len()).step_by(self.groups.each).collect();
            let pulls = members.iter().map(|&j| {
                let pull = dot(self.weighted.column(j), residual) + squares[j] * codes[j];
                if squares[j] > 0.0 { (self.reach(pull) - l1).max(0.0).copysign(pull) } else { 0.0 }
            });
            let pulls: Vec<f64> = pulls.collect();
            // The norm t of the best codes z_j t / (q_j t + l2).
            let left = |t: f64| {
                norm_of(pulls.iter().zip(&members).map(|(z, &j)| z / (squares[j] * t + l2))) - 1.0
            };
            let largest = members.iter().map(|&j| squares[j]).filter(|q| *q > 0.0);
            let high = norm_of(pulls.iter().copied()) / largest.fold(f64::INFINITY, f64::min);
            let t = if left(0.0) > 0.0 { root(high, left) } else { 0.0 };
            for (&j, z) in members.iter().zip(&pulls) {
                let change = z * t / (squares[j] * t + l2) - codes[j];
                if change != 0.0 {
                    codes[j] += change;
                    let column = self.weighted.column(j);
                    residual.iter_mut().zip(column).for_each(|(r, x)| *r -= change * x);
                }
            }
        }
    }
}
