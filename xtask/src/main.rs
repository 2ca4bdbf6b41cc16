//! Development commands: `cargo xtask` lists them.

mod dist;
mod docs;
mod endurance;
mod instructions;
mod paper;
mod python;
mod release;
mod site;
mod studio;
mod supply;
mod threads;
mod words;

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask COMMAND
  test                 run all tests: Rust, dependencies and links, the page of lobcod studio,
                       then the Python package
  release [TARGET]     build archives and wheels for all systems (or those whose target contains
                       TARGET) in target/dist, and try each that this machine can run
  release --check [NAME]
                       run the checks that take too long for every change (or those whose name
                       contains NAME)
  docs                 check the documentation: links resolve, generated tables are current,
                       commands run as written
  gallery              regenerate the images of docs/tutorials/gallery.md with its own commands
  site                 build the documentation as a site that needs no network, in target/site/html
  studio               build the WebAssembly module of lobcod studio, next to its page
  mpi [mpich]          lint and test the engine over ranks on 1 to 4 ranks (Open MPI or MPICH)
  python               test the Python package alone, on a wheel built for it
  wheel                build a release wheel of the Python package in target/wheels
  instructions [keep]  compare instruction counts of three fixed runs with the stored ones;
                       `keep` stores the new ones
  paper [--full]       reproduce the paper's figures and tables and run the peers, into
                       paper/results; default: --quick
  kernels              measure the rate of the correlation against the core's peak
  speed [WORDS]        measure the stages of a pursuit against the machine's limits; WORDS:
                       threads SIDE, scale SIDE, bands SIDE MIB, stream COUNT, precision
  fuzz TARGET SECONDS  fuzz image, archive, mask, lasso, pursuit or arguments
  long                 run the tests with killed processes, load and many processes at full length
  memory [WORDS]       measure the peak memory of runs under several limits, or of those that
                       match WORDS
  supply               check licences and sources of dependencies, and locations of unsafe code
  threads [IMAGE]      compare an encode with 1 and 2 threads";

/// The environment in which MPICH is used instead of Open MPI.
const MPICH: &[(&str, &str)] = &[
    ("MPICC", "mpicc.mpich"),
    ("LOBCOD_MPIRUN", "mpirun.mpich"),
    ("CARGO_TARGET_DIR", "target/mpich"),
];

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => studio::build_where_possible()
            .and_then(|()| cargo(&["test", "--workspace"]))
            .and_then(|()| supply::check())
            .and_then(|()| docs::check_pages())
            .and_then(|()| studio::smoke())
            .and_then(|()| python::test()),
        ["release", "--check"] => release::check(""),
        ["release", "--check", name] => release::check(name),
        ["release"] => dist::release(""),
        ["release", target] => dist::release(target),
        ["docs"] => docs::check(),
        ["gallery"] => docs::gallery(),
        ["site"] => site::build(),
        ["studio"] => studio::build(),
        ["mpi"] => mpi(&[]),
        ["mpi", "mpich"] => mpi(MPICH),
        ["python"] => python::test(),
        ["wheel"] => python::wheel(),
        ["instructions"] => instructions::compare(false),
        ["instructions", "keep"] => instructions::compare(true),
        ["paper", ref words @ ..] => paper::reproduce(words),
        ["fuzz", ref words @ ..] => endurance::fuzz(words),
        ["long"] => endurance::long(),
        ["memory", ref words @ ..] => cargo(
            &[&["bench", "--package", "lobcod-cli", "--bench", "memory", "--"], words].concat(),
        ),
        ["supply"] => supply::check(),
        ["kernels"] => cargo(&["bench", "--package", "lobcod", "--bench", "kernels"]),
        ["speed", ref words @ ..] => {
            cargo(&[&["bench", "--package", "lobcod", "--bench", "speed", "--"], words].concat())
        }
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

/// Lints and tests of the engine over ranks, which need MPI.
fn mpi(environment: &[(&str, &str)]) -> Result<(), String> {
    let packages = [
        "--package",
        "lobcod-mpi",
        "--package",
        "lobcod-cli",
        "--features",
        "lobcod-mpi/mpi,lobcod-cli/mpi",
    ];
    let cargo = |arguments: &[&str]| cargo_with(arguments, environment);
    cargo(
        &[&["clippy"], &packages[..], &["--all-targets", "--quiet", "--", "-D", "warnings"]]
            .concat(),
    )?;
    cargo(&["test", "--package", "lobcod-mpi", "--features", "mpi"])?;
    cargo(&[
        "test",
        "--package",
        "lobcod-cli",
        "--features",
        "mpi",
        "--test",
        "mpi",
        "--",
        "--test-threads",
        "1",
    ])
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Folder of the reference images.
fn data_folder() -> PathBuf {
    env::var_os("LOBCOD_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from)
}

/// Builds the program alone.
fn build_program() -> Result<(), String> {
    cargo(&["build", "--quiet", "--package", "lobcod-cli"])
}

/// Builds the program and the examples as the tests do. Building single packages would resolve
/// other features and compile the core once more.
fn build_programs() -> Result<(), String> {
    cargo(&["test", "--workspace", "--no-run", "--quiet"])
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    cargo_with(arguments, &[])
}

fn cargo_with(arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(arguments).envs(environment.iter().copied()).current_dir(root());
    let status = command.status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" "))) }
}
