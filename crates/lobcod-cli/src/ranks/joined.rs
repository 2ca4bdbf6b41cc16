//! A program built with MPI.

use super::is_silent;
use crate::output::note;
use anyhow::{Result, anyhow};
use lobcod::Real;
use lobcod::engine::Engine;
use lobcod::engine::ranks::{RankEngine, World as _};
use lobcod_mpi::{MpiWorld, ping};
use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

thread_local! {
    static WORLD: RefCell<Option<Rc<MpiWorld>>> = const { RefCell::new(None) };
}

/// How long two ranks may take to greet each other.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a rank waits before it says what went wrong: the first one may be about to say the same for all.
const COURTESY: Duration = Duration::from_millis(500);
/// Set for the ranks that `lobcod doctor` starts.
const PING: &str = "LOBCOD_PING";

/// The ranks, joined when first asked for.
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

/// Joins the other ranks; gives the number of this one, and of all.
pub fn join() -> Result<(usize, usize)> {
    let world = world()?;
    if world.ranks() == 1 {
        note("this is the only rank; start several with mpirun -n 4 lobcod ...");
    }
    Ok((world.rank(), world.ranks()))
}

/// Nothing is missing.
pub fn check() -> Result<()> {
    Ok(())
}

/// The engine over all ranks. Where no number of threads is asked for, the ranks of a machine share its cores.
pub fn engine<T: Real>(threads: usize) -> Result<Box<dyn Engine<T>>> {
    Ok(Box::new(RankEngine::new(world()?, threads_of_rank(threads))?))
}

/// Threads of a rank where `asked` are asked for, 0 for as many as there are cores for it.
pub fn threads_of_rank(asked: usize) -> usize {
    let beside = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"].iter().find_map(|name| std::env::var(name).ok());
    let beside = beside.and_then(|count| count.parse().ok()).filter(|&count| count > 0).unwrap_or(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if asked > 0 { asked } else { (cores / beside).max(1) }
}

/// Ends the other ranks after a failure, which they would wait for otherwise.
pub fn fail() {
    WORLD.with_borrow(|world| {
        if let Some(world) = world.as_ref().filter(|world| world.ranks() > 1) {
            world.abort(1);
        }
    });
}

/// Waits where another rank may say first what went wrong.
pub fn give_way() {
    if is_silent() {
        std::thread::sleep(COURTESY);
    }
}

/// Leaves the other ranks at the end of the work.
pub fn leave() {
    WORLD.with_borrow_mut(|world| *world = None);
}

/// What two ranks of this machine say to each other, or why they do not.
pub fn doctor() -> Result<String, String> {
    if std::env::var_os(PING).is_some() {
        return greet().map_err(|error| error.to_string());
    }
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let started = Command::new("mpirun")
        .args(["-n", "2", "--oversubscribe"])
        .arg(exe)
        .arg("doctor")
        .env(PING, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| {
        format!("mpirun does not start ({error}); install it (Debian: apt install openmpi-bin), or add it to the PATH")
    })?;
    let end = Instant::now() + PATIENCE;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            return Err(format!(
                "two ranks did not greet each other within {} s; is a firewall between them? For one machine, try \
                 OMPI_MCA_btl=self,vader, for several OMPI_MCA_btl_tcp_if_include=INTERFACE",
                PATIENCE.as_secs()
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let (said, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match said.lines().find_map(|line| line.strip_prefix("ping ")) {
        Some(found) if output.status.success() => Ok(found.to_string()),
        _ => Err(explain(&words)),
    }
}

/// The usual reasons for ranks that do not start.
fn explain(words: &str) -> String {
    let cases = [
        (
            "run as root",
            "mpirun refuses to run as root; use another account, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        ),
        ("not enough slots", "there are fewer cores than ranks; add --oversubscribe to mpirun, or start fewer"),
        ("ssh", "mpirun does not reach another machine; it needs ssh without a password"),
        (
            "error while loading shared libraries",
            "a library of MPI is missing on this machine; install the one this program was built with",
        ),
    ];
    let cause = cases.iter().find(|(sign, _)| words.contains(sign)).map(|(_, cause)| cause.to_string());
    cause.unwrap_or_else(|| {
        let last = words.lines().rfind(|line| line.chars().any(char::is_alphabetic)).unwrap_or("it said nothing");
        format!("two ranks did not start; mpirun says: {}", last.trim())
    })
}

/// What a rank started by the doctor does.
fn greet() -> Result<String> {
    let world = world()?;
    let found = ping(&world).ok_or_else(|| anyhow!("there is no second rank"))?;
    if world.rank() == 0 {
        println!("ping two ranks: {:.1} us a message, {:.1} GB/s", 1e6 * found.seconds, 1e-9 * found.bytes_a_second);
    }
    Ok(String::new())
}
