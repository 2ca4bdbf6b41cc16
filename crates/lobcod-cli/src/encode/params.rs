//! Conversion of options to solver parameters.

use crate::args::EncodeArgs;
use crate::params::{penalty, time_limit};
use crate::values::Cap;
use anyhow::{Result, ensure};
use lobcod::pursuit::Loss;
use lobcod::{Penalty, Pursuit, PursuitParams};
use lobcod_io::read_vector;

/// The pursuit for these options.
pub fn pursuit(args: &EncodeArgs) -> Result<Pursuit> {
    let problem = &args.problem;
    let codes = &args.codes;
    let solver = &args.solver;
    let run = &args.run;
    let checkpoints = &args.checkpoints;
    ensure!(
        (codes.max_error.is_none() && codes.loss == Loss::Squares)
            || (checkpoints.checkpoint.is_none() && checkpoints.resume.is_none()),
        "--max-error and robust losses have no checkpoints; remove --checkpoint and --resume"
    );
    let penalty = codes.max_error.map_or_else(|| penalty(&problem.penalty), Penalty::MaxError);
    let mut params = PursuitParams::new(penalty);
    params.border = problem.border;
    params.tolerance = run.tolerance;
    params.max_sweeps = solver.max_sweeps;
    params.time_limit = time_limit(run)?;
    params.schedule = solver.schedule.into();
    params.local = solver.local.into();
    params.nonnegative = codes.nonnegative;
    params.atom_weights = codes.atom_weights.as_deref().map(read_vector).transpose()?;
    params.elastic = codes.elastic;
    params.joint = codes.joint;
    params.smooth_layer = problem.base.joint_weight();
    params.debias = codes.debias;
    params.loss = codes.loss;
    params.max_nonzeros = match codes.max_nonzeros {
        Some(Cap::Count(count)) => Some(count),
        _ => None,
    };
    params.tile = solver.tile;
    params.seed = run.seed;
    params.max_memory = run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}
