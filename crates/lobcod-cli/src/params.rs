//! From options that verbs share to parameters of the library.

use crate::args::{ProblemArgs, RunArgs};
use anyhow::{Result, anyhow};
use lobcod::Penalty;
use std::time::Duration;

/// Share of penalty_max that serves when no penalty is given.
pub const USUAL_PENALTY: f64 = 0.05;

/// The penalty asked for.
pub fn penalty(problem: &ProblemArgs) -> Penalty {
    match (problem.penalty, problem.relative_penalty) {
        (Some(penalty), _) => Penalty::Absolute(penalty),
        (None, share) => Penalty::Relative(share.unwrap_or(USUAL_PENALTY)),
    }
}

/// The time allowed, if there is a limit.
pub fn time_limit(run: &RunArgs) -> Result<Option<Duration>> {
    let seconds = |s: f64| {
        let wrong = |_| anyhow!("the time limit is {s}, but must be a number of seconds of at least 0");
        Duration::try_from_secs_f64(s).map_err(wrong)
    };
    run.time_limit.map(seconds).transpose()
}
