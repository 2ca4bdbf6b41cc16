//! From options to the parameters of the learner.

use crate::args::{LearnArgs, LearningArgs};
use crate::params::{check_engine, penalty, time_limit};
use crate::values::MethodChoice;
use anyhow::{Result, bail};
use lobcod::{LearnParams, Learner, Method, Pursuit, PursuitParams};

/// The learner that the options ask for.
pub fn learner(args: &LearnArgs) -> Result<Learner> {
    let (learning, run) = (&args.learning, &args.run);
    check_engine(run)?;
    let params = LearnParams {
        border: args.problem.border,
        method: method(learning)?,
        passes: learning.passes,
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

fn method(learning: &LearningArgs) -> Result<Method> {
    match learning.method {
        MethodChoice::Atomwise => Ok(Method::Atomwise),
        MethodChoice::Stochastic | MethodChoice::Batch => bail!("this build only learns atomwise; use --method atomwise"),
    }
}

/// The pursuit that needs as much memory as the learner.
pub fn pursuit(learner: &LearnParams) -> Result<Pursuit> {
    let params = PursuitParams {
        border: learner.border,
        tolerance: learner.tolerance,
        threads: learner.threads,
        max_memory: learner.max_memory,
        ..PursuitParams::new(learner.penalty)
    };
    Ok(params.check()?)
}
