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

use super::params::{Observed, Penalty, PursuitParams, Start};
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
use crate::run::{Limits, Run};
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
    let limits = Limits { time: params.time_limit, memory: None };
    let mut run = Run::begin(limits, engine.agreement(), observer);
    let mut inner = params.clone().with(|p| {
        p.loss = Loss::Squares;
        p.tolerance *= INNER;
    });
    let mut weighted = signals.to_vec();
    let mut most = 0.0;
    let mut left = 1.0;
    let mut sweeps = (0, 0);
    let mut round = 0;
    loop {
        round += 1;
        inner.time_limit = run.time_left();
        run.begin_part(1.0 - left..1.0 - (1.0 - PART) * left);
        left *= 1.0 - PART;
        let pursuit = inner.clone().check()?;
        let mut answer = pursuit.run(engine, &weighted, dictionary, &mut run.part())?;
        let report = &mut answer.report;
        sweeps = (sweeps.0 + report.discovery_sweeps, sweeps.1 + report.support_sweeps);
        if round == 1 {
            inner.penalty = Penalty::Absolute(report.penalty);
            most = report.total.penalty_max;
        }
        // The first measurement is that of the codes of the last round, for these weights.
        let first = report.history.iter().find_map(|point| point.relative_gap);
        let settled = round > 1 && first.is_some_and(|gap| gap <= params.tolerance);
        let stopped = matches!(report.status, Status::Interrupted | Status::TimeLimit);
        let mut loss = 0.0;
        for ((observed, given), needles) in weighted.iter_mut().zip(signals).zip(&answer.needles) {
            let (mask, own) = reweighted(given, needles, dictionary, scale)?;
            (observed.mask, observed.start) = (Some(mask), Start::Needles(needles.clone()));
            loss += own;
        }
        if settled || stopped || round == MAX_ROUNDS || report.penalty == 0.0 {
            let l1 = report.total.objective - report.total.data_term;
            report.reweighted = Some(Reweighted { rounds: round, objective: loss + l1 });
            if settled {
                report.status = Status::Converged;
            } else if !stopped {
                report.status = Status::Stalled;
            }
            (report.discovery_sweeps, report.support_sweeps) = sweeps;
            (report.seconds, report.total.penalty_max) = (run.seconds(), most);
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
