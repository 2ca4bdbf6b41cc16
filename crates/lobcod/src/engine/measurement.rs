//! Sums over a plane, and quantities derived from them.

use std::iter::Sum;
use std::ops::Add;

/// Sums over one plane, in f64.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// `||r||^2`, with `r = A (Y - B - sum P_i^T D a_i)`.
    pub residual_energy: f64,
    /// `<A (Y - B), r>`.
    pub target_dot_residual: f64,
    /// `sum weight_ik |a_ik|`, without the penalty.
    pub weighted_l1: f64,
    /// `mu/2 ||a||^2`: the quadratic term of the elastic net.
    pub elastic_term: f64,
    /// `1/(2 mu) sum (|c_ik| - penalty weight_ik)^2` over the correlations above their thresholds;
    /// only in certificates of an elastic net.
    pub elastic_excess: Option<f64>,
    /// Largest correlation of an unpenalised code; 0 at the optimum.
    pub unpenalised_correlation: f64,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// Largest `|c_ik| / weight_ik` of penalised codes (`c_ik` for non-negative codes, `c_ik - mu
    /// a_ik` for an elastic net). A certificate is exact only
    /// above the penalty; infinite if it was not measured.
    pub largest_correlation: f64,
    /// Number of needles correlated for it.
    pub visited: usize,
}

impl Measurement {
    /// `1/2 ||r||^2`.
    pub fn data_term(&self) -> f64 {
        0.5 * self.residual_energy
    }

    /// Data term plus l1 norm times a penalty plus quadratic term.
    pub fn objective(&self, penalty: f64) -> f64 {
        self.data_term() + penalty * self.weighted_l1 + self.elastic_term
    }

    /// Sums and correlations of the same codes in a problem that is multiplied by a factor.
    pub fn times(self, factor: f64) -> Self {
        Self {
            residual_energy: factor * self.residual_energy,
            target_dot_residual: factor * self.target_dot_residual,
            elastic_term: factor * self.elastic_term,
            elastic_excess: self.elastic_excess.map(|excess| factor * excess),
            unpenalised_correlation: factor * self.unpenalised_correlation,
            largest_correlation: factor * self.largest_correlation,
            ..self
        }
    }

    /// Dual value at the residual times `scale`.
    pub fn dual(&self, scale: f64) -> f64 {
        // The elastic net is the LASSO of `(Y, 0)` with the atoms `(D, sqrt(mu) I)`.
        let energy = self.residual_energy + 2.0 * self.elastic_term;
        scale * self.target_dot_residual - 0.5 * scale * scale * energy
    }

    /// Dual value of an elastic net at the unscaled residual, which is always feasible.
    pub fn elastic_dual(&self) -> Option<f64> {
        let excess = self.elastic_excess?;
        Some(self.target_dot_residual - 0.5 * self.residual_energy - excess)
    }
}

impl Add for Measurement {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            residual_energy: self.residual_energy + other.residual_energy,
            target_dot_residual: self.target_dot_residual + other.target_dot_residual,
            weighted_l1: self.weighted_l1 + other.weighted_l1,
            elastic_term: self.elastic_term + other.elastic_term,
            elastic_excess: self.elastic_excess.zip(other.elastic_excess).map(|(a, b)| a + b),
            unpenalised_correlation: self
                .unpenalised_correlation
                .max(other.unpenalised_correlation),
            nonzeros: self.nonzeros + other.nonzeros,
            largest_correlation: self.largest_correlation.max(other.largest_correlation),
            visited: self.visited + other.visited,
        }
    }
}

impl Sum for Measurement {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Sums over a scaled residual, in f64.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScaledSums {
    /// `<A (Y - B), s r>`.
    pub dot: f64,
    /// `||s r||^2`.
    pub energy: f64,
}

impl ScaledSums {
    /// Dual value at the scaled residual divided by the excess of its correlations.
    pub fn dual(&self, excess: f64) -> f64 {
        self.dot / excess - 0.5 * self.energy / (excess * excess)
    }
}

impl Add for ScaledSums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { dot: self.dot + other.dot, energy: self.energy + other.energy }
    }
}
