//! Conversion of options to learning parameters.

use crate::args::{LearnArgs, LearningArgs};
use crate::params::{penalty, time_limit};
use crate::values::{MethodChoice, Sizes};
use anyhow::Result;
use lobcod::learn::{Decay, Method, Step};
use lobcod::{LearnParams, Learner};

/// The learner for these options.
pub fn learner(args: &LearnArgs) -> Result<Learner> {
    let (learning, run) = (&args.learning, &args.run);
    let mut params = LearnParams::new(penalty(&args.problem.penalty));
    params.border = args.problem.border;
    params.nonnegative = args.model.nonnegative;
    params.smooth_layer = args.problem.base.joint_weight();
    params.zero_mean = args.model.zero_mean;
    params.window = args.model.window;
    params.sizes = learning.size.as_ref().map(Sizes::of_atoms).unwrap_or_default();
    params.rank_one = args.model.rank.is_some();
    params.grow = args.model.grow;
    params.sort = args.model.sort.is_some();
    params.method = method(learning, params.rank_one);
    params.passes = learning.passes();
    params.target_objective = learning.target_objective;
    params.time_limit = time_limit(run)?;
    params.tolerance = run.tolerance;
    params.seed = run.seed;
    params.max_memory = run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}

fn method(learning: &LearningArgs, rank_one: bool) -> Method {
    match learning.method {
        MethodChoice::Atomwise => Method::Atomwise,
        MethodChoice::Batch => Method::Batch,
        MethodChoice::Stochastic => {
            let step = learning.step.unwrap_or_else(|| Step::suited(rank_one));
            let step = learning.step_size.map_or(step, |size| step.with_size(size));
            Method::Stochastic { step, decay: learning.decay.unwrap_or(Decay::None) }
        }
    }
}
