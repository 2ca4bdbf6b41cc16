//! The engine over the ranks of MPI.
//!
//! Every rank runs the same program with the same arguments. The first one speaks and writes for all; the others do their share of the
//! work and keep silent.

#[cfg(feature = "mpi")]
mod joined;
#[cfg(not(feature = "mpi"))]
mod without;

#[cfg(feature = "mpi")]
pub use joined::{check, doctor, engine, fail, give_way, join, leave, threads_of_rank, world};
#[cfg(not(feature = "mpi"))]
pub use without::{check, doctor, engine, fail, give_way, join, leave};

use crate::args::{CheckpointArgs, RunArgs, TellingArgs, Verb};
use crate::values::EngineChoice;
use anyhow::{Result, ensure};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Is this a rank that keeps silent?
static SILENT: AtomicBool = AtomicBool::new(false);

/// Number of ranks; 0: this process is alone.
static RANKS: AtomicUsize = AtomicUsize::new(0);

/// Is this a rank whose answer another one writes?
pub fn is_silent() -> bool {
    SILENT.load(Relaxed)
}

/// Ranks at work; `None` where the work is done by this process alone.
pub fn count() -> Option<usize> {
    Some(RANKS.load(Relaxed)).filter(|&ranks| ranks > 0)
}

/// What the ranks have to know of a command.
struct Command<'a> {
    run: &'a RunArgs,
    telling: &'a mut TellingArgs,
    checkpoints: Option<&'a mut CheckpointArgs>,
}

/// Joins the other ranks, if the command asks for them, and silences all but the first.
pub fn prepare(verb: &mut Verb) -> Result<()> {
    let command = match verb {
        Verb::Encode(args) => Command { run: &args.run, telling: &mut args.telling, checkpoints: Some(&mut args.checkpoints) },
        Verb::Learn(args) => Command { run: &args.run, telling: &mut args.telling, checkpoints: Some(&mut args.checkpoints) },
        Verb::Inpaint(args) => Command { run: &args.run, telling: &mut args.telling, checkpoints: None },
        Verb::Fuse(args) => return refuse(&args.run, "fuse"),
        Verb::Denoise(args) => return refuse(&args.run, "denoise"),
        Verb::Separate(args) => return refuse(&args.run, "separate"),
        _ => return Ok(()),
    };
    if command.run.engine != EngineChoice::Mpi {
        return Ok(());
    }
    let (rank, ranks) = join()?;
    RANKS.store(ranks, Relaxed);
    if rank > 0 {
        SILENT.store(true, Relaxed);
        *command.telling = TellingArgs { json: false, quiet: true, verbose: false };
        if let Some(CheckpointArgs { checkpoint: Some(file), .. }) = command.checkpoints {
            // Every rank takes part in making a checkpoint; the first one writes it.
            *file = "/dev/null".into();
        }
        match verb {
            Verb::Encode(args) => (args.report, args.reference) = (None, Vec::new()),
            Verb::Learn(args) => args.report = None,
            _ => {}
        }
    }
    Ok(())
}

fn refuse(run: &RunArgs, verb: &str) -> Result<()> {
    ensure!(run.engine != EngineChoice::Mpi, "{verb} does not run over ranks; use --engine cpu");
    Ok(())
}
