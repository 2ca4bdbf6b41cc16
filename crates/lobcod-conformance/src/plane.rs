//! One plane of the oracle: a LASSO with an explicit matrix.

use crate::matrix::{GlobalDictionary, dot};

/// Relative duality gap at which a plane counts as solved.
const SOLVED: f64 = 1e-12;

/// `min 1/2 ||y - M a||^2 + sum_j penalty_j |a_j|`, where `M` is the placed dictionary with
/// weighted rows.
pub(crate) struct Plane {
    pub(crate) placed: GlobalDictionary,
    pub(crate) weighted: GlobalDictionary,
    pub(crate) target: Vec<f64>,
    /// Penalty of every code, and its factor that is independent of the given penalty.
    pub(crate) penalty: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) nonnegative: bool,
}

impl Plane {
    /// Magnitude of a correlation, or 0 if its sign is not allowed.
    fn reach(&self, correlation: f64) -> f64 {
        if self.nonnegative { correlation.max(0.0) } else { correlation.abs() }
    }

    /// The smallest penalty for which all codes are zero.
    pub(crate) fn penalty_max(&self) -> f64 {
        let correlations = self.weighted.transposed_times(&self.target);
        correlations.iter().zip(&self.weights).map(|(c, w)| self.reach(*c) / w).fold(0.0, f64::max)
    }

    fn residual(&self, codes: &[f64]) -> Vec<f64> {
        self.target.iter().zip(self.weighted.times(codes)).map(|(y, x)| y - x).collect()
    }

    pub(crate) fn data_term(&self, codes: &[f64]) -> f64 {
        let residual = self.residual(codes);
        0.5 * dot(&residual, &residual)
    }

    pub(crate) fn objective(&self, codes: &[f64]) -> f64 {
        self.data_term(codes)
            + codes.iter().zip(&self.penalty).map(|(a, p)| a.abs() * p).sum::<f64>()
    }

    pub(crate) fn gap(&self, codes: &[f64]) -> f64 {
        let residual = self.residual(codes);
        let correlations = self.weighted.transposed_times(&residual);
        let scales = correlations.iter().zip(&self.penalty).map(|(c, p)| p / self.reach(*c));
        let scale = scales.fold(1.0, f64::min);
        let dual =
            scale * dot(&residual, &self.target) - 0.5 * scale * scale * dot(&residual, &residual);
        self.objective(codes) - dual
    }

    pub(crate) fn violation(&self, codes: &[f64]) -> f64 {
        let correlations = self.weighted.transposed_times(&self.residual(codes));
        let violation = |((a, c), p): ((&f64, &f64), &f64)| match *a {
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
            let mut residual = self.residual(&codes);
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
            let pull = dot(column, residual) + squares[j] * codes[j];
            let shrunk = (self.reach(pull) - self.penalty[j]).max(0.0) / squares[j];
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
