//! The constrained form: the smallest l1 norm with a bounded residual.
//!
//! ```text
//! min over needles   sum_ik weight_ik |a_ik|   subject to   || A (Y - B - sum_i P_i^T D a_i) || <= eps
//! ```
//!
//! The penalised problems with decreasing penalty trace its solutions. The penalty whose residual
//! has norm `eps` is found by interpolation, each problem starting from the codes of the last. For
//! a residual `r` at penalty `p` and the largest `s <= 1` with `s r` feasible, the bound
//!
//! ```text
//! s/p (<A (Y - B), r> - eps ||r||)
//! ```
//!
//! is a dual value of the constrained problem, so its gap is known exactly.

use super::Answer;
use super::params::{Observed, Penalty, PursuitParams, largest_correlation};
use super::sequence::{Sequence, start_from};
use super::solver::is_stopped_early;
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Measurement};
use crate::error::{Error, Result, refuse_together};
use crate::observe::Observer;
use crate::real::Real;
use crate::report::{Constrained, Report, Status};

/// Factor between penalties until the bound is met, and the smallest penalty tried, as a fraction
/// of penalty_max.
const STEP: f64 = 0.4;
const SMALLEST: f64 = 1e-9;
/// Tolerance of a penalised problem, as a fraction of that of the constrained one, and its factor
/// from one problem to the next once the penalty is bracketed.
const INNER: f64 = 0.2;
const FINER: f64 = 0.3;
const MAX_SOLVES: usize = 60;
/// Fraction of the remaining work of each problem, for progress reports.
const PART: f64 = 0.15;

/// Penalty and norm of the residual at its solution.
#[derive(Clone, Copy)]
struct Point {
    penalty: f64,
    error: f64,
}

/// Refuses combinations that are not convex, or whose path is another.
pub fn check(params: &PursuitParams) -> Result<()> {
    refuse(&[
        (params.elastic > 0.0, "an elastic net"),
        (params.max_nonzeros.is_some(), "a maximum number of non-zeros"),
    ])
}

fn refuse(refused: &[(bool, &str)]) -> Result<()> {
    let cure = "give a penalty instead of a largest error";
    refuse_together("the constrained form", refused, cure)
}

/// Solves the constrained problem.
pub fn run<T: Real>(
    params: &PursuitParams,
    bound: f64,
    engine: &dyn Engine<T>,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
    observer: &mut dyn Observer,
) -> Result<Answer<T>> {
    let capped = signals.iter().any(|s| s.max_nonzeros_map.is_some());
    refuse(&[(capped, "a map of maximum non-zeros")])?;
    let mut sequence = Sequence::begin(params, engine, observer);
    let problem = |penalty: Penalty, inner: f64| {
        params.clone().with(|p| {
            p.penalty = penalty;
            p.tolerance *= inner;
            p.debias = false;
        })
    };
    let mut signals = signals.to_vec();
    // Slightly above penalty_max, so that all penalised codes are zero.
    let all_zero = Penalty::Relative(1.0 + 16.0 * T::EPSILON.to_f64());
    let (mut answer, _) = sequence.solve(problem(all_zero, INNER), PART, &signals, dictionary)?;
    let most = answer.report.total.penalty_max;
    let mut high = Point { penalty: most, error: error(&answer.report) };
    let mut low: Option<Point> = None;
    let mut best = Constrained { max_error: bound, error: high.error, ..Constrained::default() };
    if high.error <= bound || most == 0.0 {
        answer.report.status = Status::Converged;
        answer.report.constrained = Some(best);
        return Ok(answer);
    }
    let mut status = Status::Stalled;
    let mut penalty = STEP * most;
    let mut inner = INNER;
    let mut solves = 0;
    while solves < MAX_SOLVES {
        solves += 1;
        start_from(&mut signals, &answer.needles);
        let next = problem(Penalty::Absolute(penalty), inner);
        let pursuit;
        (answer, pursuit) = sequence.solve(next, PART, &signals, dictionary)?;
        start_from(&mut signals, &answer.needles);
        let planes = sequence.measure(&pursuit, &signals, dictionary, penalty)?;
        best = certificate(&planes, penalty, bound);
        best.solves = solves;
        answer.report.total.penalty_max = most;
        if is_stopped_early(answer.report.status) {
            status = answer.report.status;
            break;
        }
        if best.error <= bound && best.gap <= params.tolerance * best.l1_norm {
            status = Status::Converged;
            break;
        }
        let point = Point { penalty, error: best.error };
        if point.error > bound {
            high = point
        } else {
            low = Some(point)
        }
        penalty = match low {
            None if penalty <= SMALLEST * most => {
                return Err(Error::Data(format!(
                    "the largest error is {bound}, but the error does not fall below {:.4}; raise \
                     it",
                    best.error
                )));
            }
            None => STEP * penalty,
            Some(low) if low.penalty >= high.penalty * (1.0 - 4.0 * f64::EPSILON) => break,
            Some(low) => {
                inner *= FINER;
                // The gap of a solution with this smaller error is a fraction of the tolerance.
                let slack = 0.3 * params.tolerance * best.l1_norm * penalty / bound;
                between(low, high, bound - slack.min(1e-4 * bound))
            }
        };
    }
    answer.report.status = status;
    answer.report.constrained = Some(best);
    Ok(answer)
}

/// Norm of the residual.
fn error(report: &Report) -> f64 {
    (2.0 * report.total.data_term).sqrt()
}

/// The penalty between two points at which the error is the target, if its logarithm is linear in
/// that of the penalty; never close to either end.
fn between(low: Point, high: Point, target: f64) -> f64 {
    let width = (high.penalty / low.penalty).ln();
    let slope = (high.error / low.error.max(f64::MIN_POSITIVE)).ln();
    let part = if slope > 0.0 { (target / low.error).ln() / slope } else { 0.5 };
    low.penalty * (width * part.clamp(0.001, 0.999)).exp()
}

/// Norm, error and gap of the codes at a penalty.
fn certificate(planes: &[Measurement], penalty: f64, bound: f64) -> Constrained {
    let sum: Measurement = planes.iter().copied().sum();
    let (error, largest) = (sum.residual_energy.sqrt(), largest_correlation(planes));
    let scale = if largest > penalty { penalty / largest } else { 1.0 };
    let dual = scale / penalty * (sum.target_dot_residual - bound * error);
    let gap = (sum.weighted_l1 - dual).max(0.0);
    Constrained { max_error: bound, error, l1_norm: sum.weighted_l1, gap, solves: 0 }
}
