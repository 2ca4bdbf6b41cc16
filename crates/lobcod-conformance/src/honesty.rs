//! Checks answers against the dense oracle.

use crate::Oracle;
use lobcod::{Answer, Dictionary, Observed, Penalty, PursuitParams, Real, Status};

/// Panics unless the report of one signal's answer is true: objective and data term are those of
/// the codes, the gap is not smaller than that of a feasible dual point, and `converged` is
/// justified.
pub fn check<T: Real>(
    params: &PursuitParams,
    observed: &Observed<T>,
    dictionary: &Dictionary<T>,
    answer: &Answer<T>,
) {
    let report = &answer.report;
    let total = report.total;
    let numbers = [total.objective, total.data_term, total.gap, total.penalty_max, report.penalty];
    assert!(numbers.iter().all(|x| x.is_finite() && *x >= 0.0), "{numbers:?} in a report");
    // The solver made a relative penalty absolute; the oracle uses the same value.
    let absolute = params
        .clone()
        .with(|p| p.penalty = Penalty::Absolute(report.penalty.max(f64::MIN_POSITIVE)));
    let oracle = Oracle::new(&absolute, observed, dictionary);
    let codes = oracle.codes(&answer.needles[0]);
    let nothing = oracle.objective(&vec![0.0; codes.len()]);
    let near = |found: f64, meant: f64, what: &str| {
        // Residuals have the precision of the signal, so data terms are accurate to a fraction of
        // the signal's energy; errors below the reported gap are harmless.
        let rounding = 64.0 * T::EPSILON.to_f64();
        let tolerance = rounding * (meant * nothing).sqrt().max(meant)
            + rounding * rounding * nothing
            + 1e-10 * meant
            + total.gap;
        let off = (found - meant).abs();
        assert!(
            off <= tolerance + small::<T>(observed),
            "{what} {found:e}, but it is {meant:e} (without codes {nothing:e})"
        );
    };
    near(total.objective, oracle.objective(&codes), "objective");
    near(total.data_term, oracle.data_term(&codes), "data term");
    assert_eq!(total.nonzeros, answer.needles[0].nonzeros());
    assert!(
        !params.nonnegative || answer.needles[0].codes().iter().all(|c| c.value > T::ZERO),
        "a negative code"
    );
    let claims = report.status == Status::Converged;
    assert!(
        !claims || total.relative_gap() <= params.tolerance,
        "converged at a gap of {:e}",
        total.relative_gap()
    );
    let bound = total.objective - total.gap;
    // No objective is below the dual bound, not even the one the oracle finds from there.
    let (better, slack) = (polished(&oracle, &codes), 1e-3 * T::EPSILON.to_f64().sqrt() * nothing);
    assert!(
        better >= bound - slack - small::<T>(observed),
        "a bound of {bound:e}, but {better:e} is attainable"
    );
}

/// Bound on the accumulated rounding of the smallest numbers.
fn small<T: Real>(observed: &Observed<T>) -> f64 {
    let tiny = if size_of::<T>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    tiny * tiny * observed.signal.data().len() as f64
}

/// The lowest objective known: that of the codes, or of zero codes.
fn polished(oracle: &Oracle, codes: &[f64]) -> f64 {
    oracle.objective(codes).min(oracle.objective(&vec![0.0; codes.len()]))
}
