//! From options to the parameters of the learner.

use crate::args::{LearnArgs, LearningArgs};
use crate::engine;
use crate::params::{penalty, time_limit};
use crate::values::MethodChoice;
use anyhow::Result;
use lobcod::{Decay, LearnParams, Learner, Method, Step};

/// The learner that the options ask for.
pub fn learner(args: &LearnArgs) -> Result<Learner> {
    let (learning, run) = (&args.learning, &args.run);
    engine::check(run)?;
    let params = LearnParams {
        border: args.problem.border,
        method: method(learning),
        passes: learning.passes(),
        target_objective: learning.target_objective,
        time_limit: time_limit(run)?,
        tolerance: run.tolerance,
        seed: run.seed,
        threads: run.threads,
        max_memory: run.max_memory.map(|bytes| bytes.0),
        ..LearnParams::new(penalty(&args.problem))
    };
    Ok(params.check()?)
}

fn method(learning: &LearningArgs) -> Method {
    match learning.method {
        MethodChoice::Atomwise => Method::Atomwise,
        MethodChoice::Batch => Method::Batch,
        MethodChoice::Stochastic => {
            let step = learning.step.unwrap_or(Step::PAPER);
            let step = learning.step_size.map_or(step, |size| step.with_size(size));
            Method::Stochastic { step, decay: learning.decay.unwrap_or(Decay::None) }
        }
    }
}
