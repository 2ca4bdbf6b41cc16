//! From options to the parameters of the solver.

use crate::args::EncodeArgs;
use crate::engine;
use crate::params::{penalty, time_limit};
use crate::values::Cap;
use anyhow::Result;
use lobcod::{Pursuit, PursuitParams};
use lobcod_image::read_vector;

/// The pursuit that the options ask for.
pub fn pursuit(args: &EncodeArgs) -> Result<Pursuit> {
    let (problem, codes, solver, run) = (&args.problem, &args.codes, &args.solver, &args.run);
    engine::check(run)?;
    let params = PursuitParams {
        border: problem.border,
        tolerance: run.tolerance,
        max_sweeps: solver.max_sweeps,
        time_limit: time_limit(run)?,
        schedule: solver.schedule.into(),
        local: solver.local.into(),
        nonnegative: codes.nonnegative,
        atom_weights: codes.atom_weights.as_deref().map(read_vector).transpose()?,
        max_nonzeros: match codes.max_nonzeros {
            Some(Cap::Count(count)) => Some(count),
            _ => None,
        },
        tile: solver.tile,
        threads: run.threads,
        seed: run.seed,
        max_memory: run.max_memory.map(|bytes| bytes.0),
        ..PursuitParams::new(penalty(problem))
    };
    Ok(params.check()?)
}
