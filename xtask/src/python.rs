//! The Python package: builds its wheel and tests it.

use crate::{build_programs, root};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the programs of an environment.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// Builds a release wheel into `target/wheels`.
pub fn wheel() -> Result<(), String> {
    wheel_into(&root().join("target/wheels"))?;
    println!("the wheel is in target/wheels; install it with pip");
    Ok(())
}

/// Builds a release wheel for this machine.
pub fn wheel_into(folder: &Path) -> Result<PathBuf, String> {
    build_wheel(&test_venv()?, "release", folder)
}

/// Builds a wheel, tries it in an empty environment, and runs the tests of the package on it.
///
/// The wheel is built in the profile of the Rust tests: it shares their build, and has the same
/// debug assertions.
pub fn test() -> Result<(), String> {
    let venv = test_venv()?;
    let wheels = folder().join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|e| e.to_string())?;
    }
    let wheel = build_wheel(&venv, "dev", &wheels)?;
    try_alone(&wheel)?;
    pip(&venv, ["install", "--quiet", "--force-reinstall", "--no-deps"], &[wheel.as_path()])?;

    build_programs()?;
    let built = root().join("target/debug");
    let python = root().join("python");
    run(program(&venv, "ruff").args(["check", "--no-cache", "."]).current_dir(&python))?;
    run(program(&venv, "ruff")
        .args(["format", "--no-cache", "--check", "--quiet", "."])
        .current_dir(&python))?;
    run(program(&venv, "ruff")
        .args(["check", "--no-cache", "paper", "site", "docs/images"])
        .current_dir(root()))?;
    let cache = folder().join("mypy");
    run(program(&venv, "mypy")
        .args(["package/lobcod", "tests", "examples", "benches", "--cache-dir"])
        .arg(cache)
        .current_dir(&python))?;
    let pytest = || {
        let mut pytest = program(&venv, "pytest");
        pytest.args(["-p", "no:cacheprovider"]).current_dir(&python);
        pytest
            .env("LOBCOD_PROGRAM", built.join("lobcod"))
            .env("LOBCOD_EXAMPLES", built.join("examples"));
        pytest.env("MPLBACKEND", "Agg");
        pytest
    };
    run(pytest().args(["--doctest-modules", "--pyargs", "lobcod"]))?;
    run(pytest().arg("tests"))
}

/// Folder of the environments and their wheels.
fn folder() -> PathBuf {
    root().join("target/python")
}

/// The environment of the tests, with everything except the package.
fn test_venv() -> Result<PathBuf, String> {
    venv_with(&folder().join("venv"), "python/requirements-test.txt")
}

/// An environment with the packages of a file; made again if the file has changed.
pub fn venv_with(venv: &Path, requirements: &str) -> Result<PathBuf, String> {
    let (wanted, stamp) = (root().join(requirements), venv.join("installed.txt"));
    let listed = fs::read(&wanted).map_err(|e| format!("{}: {e}", wanted.display()))?;
    if fs::read(&stamp).is_ok_and(|installed| installed == listed) {
        return Ok(venv.into());
    }
    make_venv(venv)?;
    pip(venv, ["install", "--quiet", "-r"], &[wanted.as_path()])?;
    fs::write(stamp, listed).map_err(|e| e.to_string())?;
    Ok(venv.into())
}

pub fn make_venv(venv: &Path) -> Result<(), String> {
    let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv));
    made.map_err(|reason| {
        format!(
            "{reason}; Python 3.10 or later with its module venv is needed (Debian: python3-venv)"
        )
    })
}

pub fn build_wheel(venv: &Path, profile: &str, into: &Path) -> Result<PathBuf, String> {
    let manifest = root().join("python/Cargo.toml");
    let mut maturin = program(venv, "maturin");
    maturin
        .args(["build", "--quiet", "--profile", profile, "--manifest-path"])
        .arg(manifest)
        .arg("--out")
        .arg(into);
    // Without VIRTUAL_ENV, maturin builds for the first Python it finds.
    run(maturin.env("VIRTUAL_ENV", venv))?;
    newest_wheel(into)
}

/// The wheel that was built last in a folder.
pub fn newest_wheel(into: &Path) -> Result<PathBuf, String> {
    let wheels =
        fs::read_dir(into).map_err(|e| e.to_string())?.filter_map(|entry| Some(entry.ok()?.path()));
    let newest =
        wheels.filter(|path| path.extension() == Some(OsStr::new("whl"))).max_by_key(|path| {
            let changed = fs::metadata(path).and_then(|m| m.modified());
            changed.ok()
        });
    newest.ok_or_else(|| format!("maturin left no wheel in {}", into.display()))
}

/// Tries the wheel in an empty environment.
fn try_alone(wheel: &Path) -> Result<(), String> {
    let venv = folder().join("empty");
    make_venv(&venv)?;
    try_wheel(&venv, wheel)
}

/// Installs a wheel without compilers, and runs the first Python example of the README.
pub fn try_wheel(venv: &Path, wheel: &Path) -> Result<(), String> {
    let alone = |name: &str| {
        let mut program = program(venv, name);
        program.env("PATH", venv.join(PROGRAMS)).env("CC", "/none").env("CARGO", "/none");
        program
    };
    run(alone("python").args(["-m", "pip", "install", "--quiet"]).arg(wheel))?;
    let readme = fs::read_to_string(root().join("README.md")).map_err(|e| e.to_string())?;
    let blocks = crate::docs::blocks(&readme, "python");
    fs::create_dir_all(folder()).map_err(|e| e.to_string())?;
    let script = folder().join("readme.py");
    fs::write(&script, blocks.first().ok_or("the README has no Python example")?)
        .map_err(|e| e.to_string())?;
    run(alone("python").arg(&script).current_dir(folder()))
}

pub fn pip<const N: usize>(venv: &Path, words: [&str; N], paths: &[&Path]) -> Result<(), String> {
    run(program(venv, "python").args(["-m", "pip"]).args(words).args(paths))
}

/// A program of an environment.
pub fn program(venv: &Path, name: &str) -> Command {
    Command::new(venv.join(PROGRAMS).join(name))
}

pub fn run(command: &mut Command) -> Result<(), String> {
    let name = || {
        let words: Vec<_> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(OsStr::to_string_lossy)
            .collect();
        words.join(" ")
    };
    let words = name();
    let status = command.status().map_err(|e| format!("{words} could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{words} failed")) }
}
