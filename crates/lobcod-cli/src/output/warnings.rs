//! Warnings about results that are correct but probably not intended.

use super::table::number;
use lobcod::Report;

/// Warnings about the result of a pursuit.
pub fn of(report: &Report) -> Vec<String> {
    let (penalty, most) = (report.penalty, report.total.penalty_max);
    let empty = report.total.nonzeros == 0 && penalty >= most && most > 0.0;
    let words = || {
        let (penalty, most) = (number(penalty), number(most));
        format!(
            "all codes are zero because the penalty ({penalty}) is not below penalty_max \
             ({most}); use a smaller --penalty"
        )
    };
    empty.then(words).into_iter().collect()
}
