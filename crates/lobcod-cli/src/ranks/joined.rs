//! Ranks in a build with MPI.

use super::is_silent;
use crate::output::note;
use anyhow::{Result, anyhow};
use lobcod::Real;
use lobcod::engine::Engine;
use lobcod::engine::ranks::{RankEngine, World as _};
use lobcod::run::Clock;
use lobcod_mpi::{MpiWorld, ping};
use std::cell::RefCell;
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

thread_local! {
    static WORLD: RefCell<Option<Rc<MpiWorld>>> = const { RefCell::new(None) };
}

/// Time limit for two ranks to exchange a message.
const PATIENCE: Duration = Duration::from_secs(20);
/// Delay before a rank reports an error: the first rank may be about to report the same error for
/// all.
const COURTESY: Duration = Duration::from_millis(500);
/// Set for the ranks that `lobcod doctor` starts.
const PING: &str = "LOBCOD_PING";

/// The MPI world, initialized on first use.
pub fn world() -> Result<Rc<MpiWorld>> {
    WORLD.with_borrow_mut(|world| match world {
        Some(world) => Ok(Rc::clone(world)),
        None => {
            let joined = MpiWorld::join()?;
            *world = Some(Rc::clone(&joined));
            Ok(joined)
        }
    })
}

/// Joins the other ranks; returns the index of this one and the number of ranks.
pub fn join() -> Result<(usize, usize)> {
    let world = world()?;
    if world.ranks() == 1 {
        note("there is only one rank; start several with mpirun -n 4 lobcod ...");
    }
    Ok((world.rank(), world.ranks()))
}

/// MPI is available in this build.
pub fn check() -> Result<()> {
    Ok(())
}

/// The engine over all ranks. If no number of threads is given, the ranks of a machine share its
/// cores.
pub fn engine<T: Real>(threads: usize) -> Result<Box<dyn Engine<T>>> {
    Ok(Box::new(RankEngine::new(world()?, threads_of_rank(threads))?))
}

/// Number of threads of a rank: `requested`, or its part of the cores if that is 0.
pub fn threads_of_rank(requested: usize) -> usize {
    let neighbours = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let neighbours =
        neighbours.and_then(|count| count.parse().ok()).filter(|&count| count > 0).unwrap_or(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if requested > 0 { requested } else { (cores / neighbours).max(1) }
}

/// Aborts the other ranks after a failure; otherwise they would wait forever.
pub fn fail() {
    WORLD.with_borrow(|world| {
        if let Some(world) = world.as_ref().filter(|world| world.ranks() > 1) {
            world.abort(1);
        }
    });
}

/// Waits, so that another rank may report the error first.
pub fn give_way() {
    if is_silent() {
        std::thread::sleep(COURTESY);
    }
}

/// Shuts MPI down at the end of the work.
pub fn leave() {
    WORLD.with_borrow_mut(|world| *world = None);
}

/// The result of a message exchange between two ranks on this machine, or why it failed.
pub fn doctor() -> Result<String, String> {
    if std::env::var_os(PING).is_some() {
        return greet().map_err(|error| error.to_string());
    }
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let started = lobcod_mpi::launcher(2)
        .arg(exe)
        .arg("doctor")
        .env(PING, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| {
        format!(
            "cannot start mpirun ({error}); install it (Debian: apt install openmpi-bin), or add \
             it to the PATH"
        )
    })?;
    let clock = Clock::start();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if clock.elapsed() > PATIENCE {
            let _ = child.kill();
            return Err(format!(
                "two ranks could not communicate within {} s; a firewall may block them. On one \
                 machine, try OMPI_MCA_btl=self,vader; on several, \
                 OMPI_MCA_btl_tcp_if_include=INTERFACE",
                PATIENCE.as_secs()
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let (said, words) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match said.lines().find_map(|line| line.strip_prefix("ping ")) {
        Some(found) if output.status.success() => Ok(found.to_string()),
        _ => Err(explain(&words)),
    }
}

/// Explains common reasons why ranks do not start.
fn explain(words: &str) -> String {
    let cases = [
        (
            "run as root",
            "mpirun refuses to run as root; use another account, or set OMPI_ALLOW_RUN_AS_ROOT=1 \
             and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        ),
        ("ssh", "mpirun cannot reach another machine; it needs passwordless ssh"),
        (
            "error while loading shared libraries",
            "the MPI library is missing on this machine; install the one this program was built \
             with",
        ),
    ];
    let cause =
        cases.iter().find(|(sign, _)| words.contains(sign)).map(|(_, cause)| cause.to_string());
    cause.unwrap_or_else(|| {
        let last = words
            .lines()
            .rfind(|line| line.chars().any(char::is_alphabetic))
            .unwrap_or("(no output)");
        format!("two ranks did not start; mpirun printed: {}", last.trim())
    })
}

/// The task of a rank started by the doctor.
fn greet() -> Result<String> {
    let world = world()?;
    let found = ping(&world).ok_or_else(|| anyhow!("there is no second rank"))?;
    if world.rank() == 0 {
        println!(
            "ping two ranks: {:.1} us per message, {:.1} GB/s",
            1e6 * found.seconds,
            1e-9 * found.bytes_a_second
        );
    }
    Ok(String::new())
}
