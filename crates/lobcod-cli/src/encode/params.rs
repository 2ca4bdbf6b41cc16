//! From options to the parameters of the solver.

use crate::args::EncodeArgs;
use crate::values::{Cap, EngineChoice};
use anyhow::{Result, anyhow, bail};
use lobcod::{Penalty, Pursuit, PursuitParams};
use lobcod_image::read_vector;
use std::time::Duration;

/// Share of penalty_max that serves when no penalty is given.
const USUAL_PENALTY: f64 = 0.05;

/// The pursuit that the options ask for.
pub fn pursuit(args: &EncodeArgs) -> Result<Pursuit> {
    let (problem, solver) = (&args.problem, &args.solver);
    match solver.engine {
        EngineChoice::Cpu => {}
        EngineChoice::Cuda => bail!("this build has no CUDA engine; use --engine cpu"),
        EngineChoice::Mpi => bail!("this build has no MPI engine; use --engine cpu"),
    }
    let penalty = match (problem.penalty, problem.relative_penalty) {
        (Some(penalty), _) => Penalty::Absolute(penalty),
        (None, share) => Penalty::Relative(share.unwrap_or(USUAL_PENALTY)),
    };
    let seconds = |s: f64| {
        let wrong = |_| anyhow!("the time limit is {s}, but must be a number of seconds of at least 0");
        Duration::try_from_secs_f64(s).map_err(wrong)
    };
    let params = PursuitParams {
        border: problem.border,
        tolerance: solver.tolerance,
        max_sweeps: solver.max_sweeps,
        time_limit: solver.time_limit.map(seconds).transpose()?,
        schedule: solver.schedule.into(),
        local: solver.local.into(),
        nonnegative: problem.nonnegative,
        atom_weights: problem.atom_weights.as_deref().map(read_vector).transpose()?,
        max_nonzeros: match problem.max_nonzeros {
            Some(Cap::Count(count)) => Some(count),
            _ => None,
        },
        tile: solver.tile,
        threads: solver.threads,
        seed: solver.seed,
        max_memory: solver.max_memory.map(|bytes| bytes.0),
        ..PursuitParams::new(penalty)
    };
    Ok(params.check()?)
}
