//! One plane of the oracle: a LASSO with an explicit matrix.

use crate::groups::Groups;
use crate::matrix::{GlobalDictionary, dot};

/// A product in which 0 times infinity is 0.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * b }
}

/// Relative duality gap at which a plane counts as solved.
const SOLVED: f64 = 1e-12;

/// `min 1/2 ||y - M a||^2 + sum_j penalty_j |a_j| + mu/2 ||a||^2`, where `M` is the placed
/// dictionary with weighted rows.
pub(crate) struct Plane {
    pub(crate) placed: GlobalDictionary,
    pub(crate) weighted: GlobalDictionary,
    pub(crate) target: Vec<f64>,
    /// Penalty of every code, and its factor that is independent of the given penalty.
    pub(crate) penalty: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) nonnegative: bool,
    /// `mu`.
    pub(crate) elastic: f64,
    /// Codes of all channels of an atom at a position, and the weight of their norm.
    pub(crate) groups: Groups,
    /// Bound of the Huber loss of every row; infinite for squares.
    pub(crate) bounds: Vec<f64>,
}

impl Plane {
    /// Magnitude of a correlation, or 0 if its sign is not allowed.
    pub(crate) fn reach(&self, correlation: f64) -> f64 {
        if self.nonnegative { correlation.max(0.0) } else { correlation.abs() }
    }

    /// The smallest penalty for which all codes are zero.
    pub(crate) fn penalty_max(&self) -> f64 {
        let codes = self.with_fitted_unpenalised(&vec![0.0; self.weights.len()]);
        let correlations = self.correlations(&codes);
        let penalised = correlations.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        penalised.map(|(c, w)| self.reach(*c) / w).fold(0.0, f64::max)
    }

    /// Minus the gradient of the smooth terms.
    pub(crate) fn correlations(&self, codes: &[f64]) -> Vec<f64> {
        let residual = self.clipped(self.residual(codes));
        let correlations = self.weighted.transposed_times(&residual);
        correlations.iter().zip(codes).map(|(c, a)| c - self.elastic * a).collect()
    }

    /// The codes with exactly fitted unpenalised ones: by elimination on the normal equations.
    fn with_fitted_unpenalised(&self, codes: &[f64]) -> Vec<f64> {
        let free: Vec<usize> = (0..codes.len()).filter(|&j| self.weights[j] == 0.0).collect();
        let mut codes = codes.to_vec();
        // Twice, because of rounding.
        for _ in 0..2 * usize::from(!free.is_empty()) {
            let correlations = self.correlations(&codes);
            let mut rows: Vec<Vec<f64>> = free
                .iter()
                .map(|&i| {
                    let column = self.weighted.column(i);
                    let gram = free.iter().map(|&j| {
                        let same = if i == j { self.elastic } else { 0.0 };
                        dot(column, self.weighted.column(j)) + same
                    });
                    gram.chain([correlations[i]]).collect()
                })
                .collect();
            for i in 0..free.len() {
                let pivot = rows[i].clone();
                // Columns that depend on earlier ones keep their code.
                if pivot[i] <= 1e-12 {
                    rows.iter_mut().for_each(|row| row[i] = 0.0);
                    rows[i].fill(0.0);
                    continue;
                }
                for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                    let factor = row[i] / pivot[i];
                    row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
                }
            }
            for (i, &j) in free.iter().enumerate() {
                if rows[i][i] > 0.0 {
                    codes[j] += rows[i][free.len()] / rows[i][i];
                }
            }
        }
        codes
    }

    pub(crate) fn weighted_l1(&self, codes: &[f64]) -> f64 {
        codes.iter().zip(&self.weights).map(|(a, w)| times(a.abs(), *w)).sum()
    }

    fn residual(&self, codes: &[f64]) -> Vec<f64> {
        self.target.iter().zip(self.weighted.times(codes)).map(|(y, x)| y - x).collect()
    }

    pub(crate) fn data_term(&self, codes: &[f64]) -> f64 {
        let loss = |(r, bound): (&f64, &f64)| {
            if r.abs() <= *bound { 0.5 * r * r } else { bound * (r.abs() - 0.5 * bound) }
        };
        self.residual(codes).iter().zip(&self.bounds).map(loss).sum()
    }

    /// Derivative of the loss: the residual, clipped to its bounds.
    fn clipped(&self, mut residual: Vec<f64>) -> Vec<f64> {
        residual.iter_mut().zip(&self.bounds).for_each(|(r, bound)| *r = r.clamp(-bound, *bound));
        residual
    }

    pub(crate) fn objective(&self, codes: &[f64]) -> f64 {
        self.data_term(codes)
            + codes.iter().zip(&self.penalty).map(|(a, p)| times(a.abs(), *p)).sum::<f64>()
            + 0.5 * self.elastic * dot(codes, codes)
            + self.groups.norm(codes, &self.weights)
    }

    pub(crate) fn gap(&self, codes: &[f64]) -> f64 {
        // The residual of a dual point is orthogonal to the unpenalised columns.
        let fitted = self.with_fitted_unpenalised(codes);
        let residual = self.clipped(self.residual(&fitted));
        let correlations = self.correlations(&fitted);
        let penalised = correlations.iter().zip(&self.penalty).filter(|(_, p)| **p > 0.0);
        let scales = penalised.map(|(c, p)| p / self.reach(*c));
        let scale = if self.groups.weight > 0.0 {
            self.feasible_scale(&correlations)
        } else {
            scales.fold(1.0, f64::min)
        };
        let energy = dot(&residual, &residual) + self.elastic * dot(&fitted, &fitted);
        let scaled = scale * dot(&residual, &self.target) - 0.5 * scale * scale * energy;
        let dual = self.elastic_dual(&residual).map_or(scaled, |dual| dual.max(scaled));
        self.objective(codes) - dual
    }

    /// Dual value of an elastic net at the residual, which is always feasible.
    fn elastic_dual(&self, residual: &[f64]) -> Option<f64> {
        let correlations = self.weighted.transposed_times(residual);
        let excess = correlations.iter().zip(&self.penalty);
        let excess: f64 = excess.map(|(c, p)| (self.reach(*c) - p).max(0.0).powi(2)).sum();
        (self.elastic > 0.0).then(|| {
            dot(residual, &self.target)
                - 0.5 * dot(residual, residual)
                - 0.5 * excess / self.elastic
        })
    }

    pub(crate) fn violation(&self, codes: &[f64]) -> f64 {
        if self.groups.weight > 0.0 {
            return self.group_violation(codes);
        }
        let correlations = self.correlations(codes);
        let largest = self.penalty.iter().copied().filter(|p| p.is_finite()).fold(0.0, f64::max);
        let violation = |((a, c), p): ((&f64, &f64), &f64)| match *a {
            _ if *p == 0.0 => c.abs() / largest,
            a if a < 0.0 && self.nonnegative => f64::INFINITY,
            0.0 => (self.reach(*c) / p - 1.0).max(0.0),
            a => (c / p - a.signum()).abs(),
        };
        codes.iter().zip(&correlations).zip(&self.penalty).map(violation).fold(0.0, f64::max)
    }

    /// Cyclic coordinate descent: one sweep over all codes, then sweeps over the non-zero ones
    /// until they converge.
    pub(crate) fn solve(&self) -> Vec<f64> {
        let squares: Vec<f64> = (0..self.weighted.columns())
            .map(|j| dot(self.weighted.column(j), self.weighted.column(j)))
            .collect();
        let everywhere: Vec<usize> = (0..squares.len()).filter(|&j| squares[j] > 0.0).collect();
        let mut codes = vec![0.0; squares.len()];
        for _ in 0..5_000 {
            codes = self.with_fitted_unpenalised(&codes);
            let mut residual = self.residual(&codes);
            if self.groups.weight > 0.0 {
                for _ in 0..30 {
                    self.sweep_groups(&squares, &mut codes, &mut residual);
                }
                if self.gap(&codes) <= SOLVED * self.objective(&codes) {
                    return codes;
                }
                continue;
            }
            self.sweep(&everywhere, &squares, &mut codes, &mut residual);
            let support: Vec<usize> =
                everywhere.iter().copied().filter(|&j| codes[j] != 0.0).collect();
            for _ in 0..200 {
                if self.sweep(&support, &squares, &mut codes, &mut residual)
                    <= 1e-17 * dot(&self.target, &self.target)
                {
                    break;
                }
            }
            if self.gap(&codes) <= SOLVED * self.objective(&codes) {
                return codes;
            }
        }
        panic!(
            "the oracle stopped at a gap of {:e} of {:e}",
            self.gap(&codes),
            self.objective(&codes)
        );
    }

    /// Minimises over each of the listed codes in turn; returns the largest squared change of the
    /// signal.
    fn sweep(
        &self,
        list: &[usize],
        squares: &[f64],
        codes: &mut [f64],
        residual: &mut [f64],
    ) -> f64 {
        let mut largest: f64 = 0.0;
        for &j in list {
            let column = self.weighted.column(j);
            // The curvature of the loss is at most 1.
            let slope: f64 = column
                .iter()
                .zip(residual.iter().zip(&self.bounds))
                .map(|(x, (r, bound))| x * r.clamp(-bound, *bound))
                .sum();
            let pull = slope + squares[j] * codes[j];
            let shrunk =
                (self.reach(pull) - self.penalty[j]).max(0.0) / (squares[j] + self.elastic);
            let change = shrunk.copysign(pull) - codes[j];
            if change != 0.0 {
                codes[j] += change;
                residual.iter_mut().zip(column).for_each(|(r, x)| *r -= change * x);
                largest = largest.max(change * change * squares[j]);
            }
        }
        largest
    }
}
