//! The MPI engine.
//!
//! Every rank runs the same program with the same arguments. The first one prints and writes for
//! all; the others only compute.

#[cfg(feature = "mpi")]
mod joined;
#[cfg(not(feature = "mpi"))]
mod without;

#[cfg(feature = "mpi")]
pub use joined::{check, doctor, engine, fail, give_way, join, leave, threads_of_rank, world};
#[cfg(not(feature = "mpi"))]
pub use without::{check, doctor, engine, fail, give_way, join, leave, world};

use crate::args::{Command, ConsoleArgs, RunArgs};
use crate::values::EngineChoice;
use anyhow::{Result, ensure};
use lobcod::engine::ranks::World;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Whether this rank prints nothing.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Number of ranks; 0 without MPI.
static RANKS: AtomicUsize = AtomicUsize::new(0);

/// Whether another rank prints and writes for this one.
pub fn is_silent() -> bool {
    SILENT.load(Relaxed)
}

/// Number of ranks; `None` if this process works alone.
pub fn count() -> Option<usize> {
    Some(RANKS.load(Relaxed)).filter(|&ranks| ranks > 0)
}

/// The options of a command that concern ranks.
struct Options<'a> {
    run: &'a RunArgs,
    console: &'a mut ConsoleArgs,
}

/// Joins the other ranks, if the command uses them, and silences all but the first.
pub fn prepare(command: &mut Command) -> Result<()> {
    let options = match command {
        Command::Encode(args) => Options { run: &args.run, console: &mut args.console },
        Command::Learn(args) if args.learning.stream => return refuse(&args.run, "learn --stream"),
        Command::Learn(args) => Options { run: &args.run, console: &mut args.console },
        Command::Inpaint(args) => Options { run: &args.run, console: &mut args.console },
        Command::Fuse(args) => return refuse(&args.run, "fuse"),
        Command::Denoise(args) => return refuse(&args.run, "denoise"),
        Command::Separate(args) => return refuse(&args.run, "separate"),
        _ => return Ok(()),
    };
    if options.run.engine != EngineChoice::Mpi {
        return Ok(());
    }
    let (rank, ranks) = join()?;
    RANKS.store(ranks, Relaxed);
    if rank > 0 {
        SILENT.store(true, Relaxed);
        *options.console = ConsoleArgs { json: false, quiet: true, verbose: false };
        match command {
            Command::Encode(args) => (args.report, args.reference) = (None, Vec::new()),
            Command::Learn(args) => args.report = None,
            _ => {}
        }
    }
    Ok(())
}

/// The ranks that work on a command together; `None` if this process works alone.
pub fn joined(run: &RunArgs) -> Result<Option<Rc<dyn World>>> {
    if run.engine == EngineChoice::Mpi { world().map(|world| Some(world as _)) } else { Ok(None) }
}

fn refuse(run: &RunArgs, command: &str) -> Result<()> {
    ensure!(run.engine != EngineChoice::Mpi, "{command} does not support MPI; use --engine cpu");
    Ok(())
}
