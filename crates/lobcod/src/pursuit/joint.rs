//! Joint sparsity of the channels.
//!
//! ```text
//! min over needles   1/2 sum_c || A_c (Y_c - B_c - sum_i P_i^T D a_ic) ||^2
//!                     + sum_ik weight_ik (penalty ||a_ik||_1 + joint ||a_ik||_2)
//! ```
//!
//! where `a_ik` are the codes of all channels of atom `k` at position `i`. Both norms together are
//! `penalty + joint` times one norm, so continuation and certificate are those of the l1 norm with
//! the dual of this norm in place of the largest correlation.

use super::params::{
    Local, Loss, Observed, Penalty, PursuitParams, largest_correlation, measured_penalty,
};
use crate::dictionary::Dictionary;
use crate::engine::{JointNorm, Measurement};
use crate::error::{Error, Result, refuse_together};
use crate::real::Real;
use crate::report::Certificate;
use crate::run::Run;

/// The weights of both norms, and the smallest l1 penalties of the signals alone.
pub struct Joint {
    /// Weight of the l1 norm.
    pub penalty: f64,
    weight: f64,
    /// penalty_max of every signal in the problem without the l2,1 norm.
    penalty_max: Vec<f64>,
}

/// Refuses combinations that are not solved.
pub fn check(params: &PursuitParams) -> Result<()> {
    if !(params.joint >= 0.0 && params.joint.is_finite()) {
        return Err(Error::parameter(
            "the weight of joint sparsity",
            params.joint,
            "a number of at least 0",
        ));
    }
    let refused = [
        (params.elastic > 0.0, "an elastic net"),
        (params.max_nonzeros.is_some(), "a maximum number of non-zeros"),
        (params.local == Local::Lars, "the solver lars"),
        (params.loss != Loss::Squares, "a robust loss"),
        (matches!(params.penalty, Penalty::MaxError(_)), "a largest error"),
    ];
    refuse(params, &refused)
}

fn refuse(params: &PursuitParams, refused: &[(bool, &str)]) -> Result<()> {
    if params.joint == 0.0 {
        return Ok(());
    }
    refuse_together("joint sparsity of the channels", refused, "use one of them")
}

/// Refuses signals and dictionaries that are not coded jointly.
pub fn check_signal<T: Real>(
    params: &PursuitParams,
    observed: &Observed<T>,
    dictionary: &Dictionary<T>,
) -> Result<()> {
    let refused = [
        (dictionary.channels() > 1, "a dictionary of several channels"),
        (observed.coefficient_weights.is_some(), "weights of single coefficients"),
        (observed.max_nonzeros_map.is_some(), "a map of maximum non-zeros"),
        (observed.part.is_some(), "a signal of which every rank holds a part"),
    ];
    refuse(params, &refused)
}

/// The l1 norm alone: its dual at the signals is the penalty_max of the problem without joint
/// sparsity.
pub const L1: JointNorm = JointNorm { l1: 1.0, l2: 0.0 };

/// The norm with these weights of its two parts, divided by their sum.
pub fn norm(penalty: f64, weight: f64) -> JointNorm {
    let total = penalty + weight;
    JointNorm { l1: penalty / total, l2: weight / total }
}

impl Joint {
    /// The weights, from measurements of the planes without codes in the l1 norm.
    pub fn measured<T: Real>(
        params: &PursuitParams,
        planes: &[Measurement],
        run: &Run<'_>,
    ) -> Result<Self> {
        let most = largest_correlation(planes);
        let penalty = match params.penalty {
            Penalty::Absolute(penalty) | Penalty::MaxError(penalty) => penalty,
            Penalty::Relative(fraction) => fraction * most,
        };
        let weight = params.joint;
        measured_penalty::<T>(
            Penalty::Absolute(penalty + weight),
            planes,
            Some(most),
            run.interrupt(),
        )?;
        let penalty_max = planes.iter().map(|plane| plane.largest_correlation).collect();
        Ok(Self { penalty, weight, penalty_max })
    }

    /// Factor of the norm.
    pub fn total(&self) -> f64 {
        self.penalty + self.weight
    }

    /// The norm.
    pub fn norm(&self) -> JointNorm {
        norm(self.penalty, self.weight)
    }

    /// Reports the smallest l1 penalties.
    pub fn complete(&self, signals: &mut [Certificate], total: &mut Certificate) {
        total.penalty_max = self.penalty_max.iter().copied().fold(0.0, f64::max);
        let each = signals.iter_mut().zip(&self.penalty_max);
        each.for_each(|(certificate, &most)| certificate.penalty_max = most);
    }
}
