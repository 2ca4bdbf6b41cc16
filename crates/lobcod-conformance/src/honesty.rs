//! Answers held against the dense oracle.

use crate::Oracle;
use lobcod::{Answer, Dictionary, Observed, Penalty, PursuitParams, Real, Status};

/// Panics unless the report of one signal's answer is true: objective and data term are those of the codes, the gap is that of no
/// worse than a feasible dual point, and `converged` is said by right.
pub fn check<T: Real>(params: &PursuitParams, observed: &Observed<T>, dictionary: &Dictionary<T>, answer: &Answer<T>) {
    let report = &answer.report;
    let total = report.total;
    let numbers = [total.objective, total.data_term, total.gap, total.penalty_max, report.penalty];
    assert!(numbers.iter().all(|x| x.is_finite() && *x >= 0.0), "{numbers:?} in a report");
    // A relative penalty was made absolute by the solver; the oracle is asked about the same problem.
    let asked = PursuitParams { penalty: Penalty::Absolute(report.penalty.max(f64::MIN_POSITIVE)), ..params.clone() };
    let oracle = Oracle::new(&asked, observed, dictionary);
    let codes = oracle.codes(&answer.needles[0]);
    let nothing = oracle.objective(&vec![0.0; codes.len()]);
    let near = |found: f64, meant: f64, what: &str| {
        // Residuals are of the signal's precision, so data terms are known to a share of the signal's energy; and nobody is misled
        // by what is less than the gap that is told.
        let rounding = 64.0 * T::EPSILON.to_f64();
        let share = rounding * (meant * nothing).sqrt().max(meant) + rounding * rounding * nothing + 1e-10 * meant + total.gap;
        let off = (found - meant).abs();
        assert!(off <= share + small::<T>(observed), "{what} {found:e}, but it is {meant:e} (without codes {nothing:e})");
    };
    near(total.objective, oracle.objective(&codes), "objective");
    near(total.data_term, oracle.data_term(&codes), "data term");
    assert_eq!(total.nonzeros, answer.needles[0].nonzeros());
    assert!(!params.nonnegative || answer.needles[0].codes().iter().all(|c| c.value > T::ZERO), "a negative code");
    let claims = report.status == Status::Converged;
    assert!(!claims || total.relative_gap() <= params.tolerance, "converged at a gap of {:e}", total.relative_gap());
    let bound = total.objective - total.gap;
    // Nothing is better than the dual bound says, not even what the oracle finds from there.
    let (better, slack) = (polished(&oracle, &codes), 1e-3 * T::EPSILON.to_f64().sqrt() * nothing);
    assert!(better >= bound - slack - small::<T>(observed), "a bound of {bound:e}, but {better:e} can be had");
}

/// What rounding of the smallest numbers may add up to.
fn small<T: Real>(observed: &Observed<T>) -> f64 {
    let tiny = if size_of::<T>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    tiny * tiny * observed.signal.data().len() as f64
}

/// The lowest objective known: that of the codes, or of none.
fn polished(oracle: &Oracle, codes: &[f64]) -> f64 {
    oracle.objective(codes).min(oracle.objective(&vec![0.0; codes.len()]))
}
