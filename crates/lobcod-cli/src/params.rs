//! Conversion of shared options to library parameters.

use crate::args::{PenaltyArgs, RunArgs};
use anyhow::{Result, anyhow};
use lobcod::Penalty;
use std::time::Duration;

/// Default penalty, as a fraction of penalty_max.
pub const USUAL_PENALTY: f64 = 0.05;

/// The requested penalty.
pub fn penalty(given: &PenaltyArgs) -> Penalty {
    match (given.penalty, given.relative_penalty) {
        (Some(penalty), _) => Penalty::Absolute(penalty),
        (None, share) => Penalty::Relative(share.unwrap_or(USUAL_PENALTY)),
    }
}

/// The time limit, if any.
pub fn time_limit(run: &RunArgs) -> Result<Option<Duration>> {
    let seconds = |s: f64| {
        let wrong =
            |_| anyhow!("the time limit is {s}, but must be a non-negative number of seconds");
        Duration::try_from_secs_f64(s).map_err(wrong)
    };
    run.time_limit.map(seconds).transpose()
}
