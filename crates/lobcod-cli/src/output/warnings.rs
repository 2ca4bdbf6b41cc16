//! What is right but hardly what was wanted.

use super::table::number;
use super::warn;
use crate::args::TellingArgs;
use lobcod::Report;

/// What there is to warn of in the outcome of a pursuit.
pub fn of(report: &Report) -> Vec<String> {
    let (penalty, most) = (report.penalty, report.total.penalty_max);
    let empty = report.total.nonzeros == 0 && penalty >= most && most > 0.0;
    let words = || {
        let (penalty, most) = (number(penalty), number(most));
        format!("every code is zero, as the penalty ({penalty}) is not below penalty_max ({most}); give a smaller --penalty")
    };
    empty.then(words).into_iter().collect()
}

/// Says the warnings, unless nothing is to be said.
pub fn tell(report: &Report, telling: &TellingArgs) {
    if !telling.quiet {
        of(report).iter().for_each(|warning| warn(warning));
    }
}
