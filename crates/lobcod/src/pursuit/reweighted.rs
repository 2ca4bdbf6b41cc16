//! The Cauchy loss, by iterative reweighting.
//!
//! ```text
//! min over needles   sum_j s^2/2 log(1 + (r_j/s)^2) + penalty sum_ik weight_ik |a_ik|,
//! r = A (Y - B - sum_i P_i^T D a_i)
//! ```
//!
//! The loss grows so slowly that outliers of any size have little influence. It is not convex. At
//! given codes it is at most a constant plus `1/2 sum_j w_j r_j^2` with `w_j = 1 / (1 +
//! (r_j/s)^2)`, a convex problem with the mask weights `A_j sqrt(w_j)`. Its solution gives new
//! weights, and the objective never rises. The run has converged when the codes are certified for
//! the weights of their own residual.

use super::outcome::{by_signal, certificate};
use super::params::{Observed, Penalty, PursuitParams};
use super::sequence::{Sequence, start_from};
use super::solver::is_stopped_early;
use super::{Answer, Loss};
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::{Result, refuse_together};
use crate::mask::Mask;
use crate::needles::Needles;
use crate::observe::Observer;
use crate::real::Real;
use crate::report::{Reweighted, Status};
use crate::signal::Signal;

/// Problems that are solved at most.
const MAX_ROUNDS: usize = 500;
/// Smallest factor of a mask weight.
const SMALLEST: f64 = 1e-8;
/// Tolerance of a problem, as a fraction of the requested one: the weights change after it.
const INNER: f64 = 0.3;
/// Fraction of the remaining work of each problem, for progress reports.
const PART: f64 = 0.3;

/// Refuses combinations that are not solved.
pub fn check(params: &PursuitParams) -> Result<()> {
    let refused = [
        (params.debias, "debiased codes"),
        (params.max_nonzeros.is_some(), "a maximum number of non-zeros"),
        (matches!(params.penalty, Penalty::MaxError(_)), "a largest error"),
        (params.border == Border::Zero, "the zero border"),
    ];
    refuse(&refused)
}

fn refuse(refused: &[(bool, &str)]) -> Result<()> {
    refuse_together("the Cauchy loss", refused, "use the loss squares")
}

/// Solves reweighted problems until the weights are those of the codes.
pub fn run<T: Real>(
    params: &PursuitParams,
    scale: f64,
    engine: &dyn Engine<T>,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
    observer: &mut dyn Observer,
) -> Result<Answer<T>> {
    let free = |weights: &Signal<T>| weights.data().contains(&T::ZERO);
    for observed in signals {
        refuse(&[
            (observed.part.is_some(), "a signal of which every rank holds a part"),
            (observed.max_nonzeros_map.is_some(), "a map of maximum non-zeros"),
            // They are fitted before every certificate, which changes the residual of the weights.
            (observed.coefficient_weights.as_ref().is_some_and(free), "unpenalised codes"),
        ])?;
    }
    let mut sequence = Sequence::begin(params, engine, observer);
    let mut inner = params.clone().with(|p| {
        p.loss = Loss::Squares;
        p.tolerance *= INNER;
    });
    let mut weighted = signals.to_vec();
    let mut first: Option<Vec<f64>> = None;
    let mut last = f64::INFINITY;
    let mut rounds = 0;
    loop {
        let (mut answer, pursuit) = sequence.solve(inner.clone(), PART, &weighted, dictionary)?;
        rounds += 1;
        let report = &mut answer.report;
        let penalty = report.penalty;
        inner.penalty = Penalty::Absolute(penalty);
        let each = report.signals.iter().map(|signal| signal.penalty_max);
        let most = first.get_or_insert_with(|| each.collect());
        start_from(&mut weighted, &answer.needles);
        let mut loss = 0.0;
        for ((observed, given), needles) in weighted.iter_mut().zip(signals).zip(&answer.needles) {
            let (mask, own) = reweighted(given, needles, dictionary, scale)?;
            observed.mask = Some(mask);
            loss += own;
        }
        // The codes with the weights of their own residual.
        let planes = sequence.measure(&pursuit, &weighted, dictionary, penalty)?;
        let mut each = planes.iter().map(|m| certificate(m, f64::NEG_INFINITY, penalty, 0.0, 0.0));
        (report.signals, report.total) = by_signal(params, &weighted, dictionary, &mut each);
        for (signal, &most) in report.signals.iter_mut().zip(&*most) {
            signal.penalty_max = most;
            report.total.penalty_max = report.total.penalty_max.max(most);
        }
        let objective = loss + report.total.objective - report.total.data_term;
        let rounding = 1e3 * T::EPSILON.to_f64() * objective.abs();
        debug_assert!(objective <= last + rounding, "{objective} is above {last}");
        last = objective;
        let settled = report.total.relative_gap() <= params.tolerance;
        let stopped = is_stopped_early(report.status);
        if settled || stopped || rounds == MAX_ROUNDS || penalty == 0.0 {
            if !stopped {
                report.status = if settled { Status::Converged } else { Status::Stalled };
            }
            report.reweighted = Some(Reweighted { rounds, objective });
            // Objectives with different weights are not comparable.
            report.history.clear();
            return Ok(answer);
        }
    }
}

/// The mask with the weights of the residual of these codes, and the loss of the residual.
fn reweighted<T: Real>(
    observed: &Observed<T>,
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
    scale: f64,
) -> Result<(Mask<T>, f64)> {
    let sum = needles.synthesise_exactly(dictionary)?;
    let (signal, volume) = (&observed.signal, observed.signal.extent().volume());
    let (mut weights, mut loss) = (Vec::with_capacity(sum.len()), 0.0);
    for (i, (y, x)) in signal.data().iter().zip(sum).enumerate() {
        let mask = observed.mask.as_ref().map_or(T::ONE, |m| m.channel(i / volume)[i % volume]);
        // Masked samples may hold any value.
        if mask == T::ZERO {
            weights.push(T::ZERO);
            continue;
        }
        let squared = (mask.to_f64() * (y.to_f64() - x) / scale).powi(2);
        loss += 0.5 * scale * scale * squared.ln_1p();
        weights.push(T::from_f64(mask.to_f64() * (1.0 / (1.0 + squared)).sqrt().max(SMALLEST)));
    }
    let weights = Signal::from_planar(signal.extent(), signal.channels(), weights)?;
    Ok((Mask::new(weights)?, loss))
}
