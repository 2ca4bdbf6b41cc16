//! Chores of the workspace: `cargo xtask <name>`.

mod docs;
mod endurance;
mod instructions;
mod paper;
mod python;
mod supply;
mod threads;

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask <chore>
  test                 all tests: the Rust workspace, what it is made of, the pages, then the Python package
  docs                 the pages: links lead somewhere, commands run as written
  gallery              the pictures of docs/gallery.md, made anew by its commands
  mpi                  lints and tests of the engine over ranks, under mpirun on 1 to 4 ranks; needs MPI
  python               the tests of the Python package alone, on a wheel built for them
  wheel                a release wheel of the Python package in target/wheels
  instructions [keep]  instructions of three fixed runs against those kept; `keep` keeps the new ones
  paper [--full]       the paper's figures and tables beside its rivals, into paper/results; --quick is usual
  kernels              rate of the correlation against the core's peak
  speed [WORDS]        stages of a pursuit against the machine's ceilings; threads SIDE, scale SIDE, bands SIDE MIB, stream COUNT,
                       precision
  fuzz TARGET SECONDS  changes inputs of picture, archive, mask, lasso, pursuit or arguments until time is up
  long                 kills, load and crowds of processes at full length
  memory [WORDS]       peak memory of every kind of run under several limits; of the lines that hold the words
  supply               licences and sources of dependencies, places of unsafe code
  threads [IMAGE]      encode with 1 and 2 threads in turn: ratio of the medians, memory a pixel";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => cargo(&["test", "--workspace"])
            .and_then(|()| supply::check())
            .and_then(|()| docs::check())
            .and_then(|()| python::test()),
        ["docs"] => docs::check(),
        ["gallery"] => docs::gallery(),
        ["mpi"] => mpi(),
        ["python"] => python::test(),
        ["wheel"] => python::wheel(),
        ["instructions"] => instructions::compare(false),
        ["instructions", "keep"] => instructions::compare(true),
        ["paper", ref words @ ..] => paper::reproduce(words),
        ["fuzz", ref words @ ..] => endurance::fuzz(words),
        ["long"] => endurance::long(),
        ["memory", ref words @ ..] => cargo(&[&["bench", "--package", "lobcod-cli", "--bench", "memory", "--"], words].concat()),
        ["supply"] => supply::check(),
        ["kernels"] => cargo(&["bench", "--package", "lobcod", "--bench", "kernels"]),
        ["speed", ref words @ ..] => cargo(&[&["bench", "--package", "lobcod", "--bench", "speed", "--"], words].concat()),
        ["threads"] => threads::compare(&data_folder().join("standard/barbara.png")),
        ["threads", image] => threads::compare(&PathBuf::from(image)),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// What needs MPI, and so is no part of `cargo xtask test`.
fn mpi() -> Result<(), String> {
    let packages = ["--package", "lobcod-mpi", "--package", "lobcod-cli", "--features", "lobcod-mpi/mpi,lobcod-cli/mpi"];
    cargo(&[&["clippy"], &packages[..], &["--all-targets", "--quiet", "--", "-D", "warnings"]].concat())?;
    cargo(&["test", "--package", "lobcod-mpi", "--features", "mpi"])?;
    cargo(&["test", "--package", "lobcod-cli", "--features", "mpi", "--test", "mpi", "--", "--test-threads", "1"])
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where the reference images lie.
fn data_folder() -> PathBuf {
    env::var_os("LOBCOD_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from)
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    let status = Command::new("cargo").args(arguments).current_dir(root()).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" "))) }
}
