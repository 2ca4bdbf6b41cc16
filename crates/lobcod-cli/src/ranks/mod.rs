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

use crate::args::{ConsoleArgs, RunArgs};
use crate::command::Command;
use crate::output;
use crate::values::EngineChoice;
use anyhow::{Result, bail};
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

/// Joins the other ranks, if the command uses them, and silences all but the first.
pub fn prepare(command: &mut dyn Command) -> Result<()> {
    if command.resources().is_none_or(|run| run.engine != EngineChoice::Mpi) {
        return Ok(());
    }
    if let Some(name) = command.refuses_ranks() {
        bail!("{name} does not support MPI; use --engine cpu");
    }
    let (rank, ranks) = join()?;
    RANKS.store(ranks, Relaxed);
    if rank > 0 {
        SILENT.store(true, Relaxed);
        output::be_quiet();
        if let Some(console) = command.console() {
            *console = ConsoleArgs { json: false, quiet: true, verbose: false };
        }
        command.keep_silent();
    }
    Ok(())
}

/// The ranks that work on a command together; `None` if this process works alone.
pub fn joined(run: &RunArgs) -> Result<Option<Rc<dyn World>>> {
    if run.engine == EngineChoice::Mpi { world().map(|world| Some(world as _)) } else { Ok(None) }
}
