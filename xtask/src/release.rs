//! Checks before a release: everything that takes too long for every change.

use super::{cargo, cargo_with, dist, docs, instructions, mpi, python, root, site, studio};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The revision whose public interface this one is compared with; renewed at each 0.x release.
const BASELINE: &str = "xtask/semver-baseline.txt";

/// Where packages are compiled.
const VERIFIED: &str = "target/verified-packages";

/// The crates that are published.
const PUBLISHED: [&str; 8] = [
    "lobcod-simd",
    "lobcod",
    "lobcod-tasks",
    "lobcod-io",
    "lobcod-cuda",
    "lobcod-mpi",
    "lobcod-web",
    "lobcod-cli",
];

type Check = fn() -> Result<Outcome, String>;

/// How a check ended, unless it failed.
enum Outcome {
    Passed,
    /// The reason.
    Skipped(&'static str),
}

const CHECKS: [(&str, Check); 15] =
    [
        ("documentation", || docs::check().map(|()| Outcome::Passed)),
        ("site", || site::build().map(|()| Outcome::Passed)),
        ("age of the results", || docs::fill_tables(&["--stale"]).map(|()| Outcome::Passed)),
        ("address of the repository", repository),
        ("packages", packages),
        ("installation", installation),
        ("archives and wheels", || dist::release("").map(|()| Outcome::Passed)),
        ("lobcod studio", || {
            studio::build()?;
            Ok(studio::test_page("test")?.map_or(Outcome::Passed, Outcome::Skipped))
        }),
        ("instructions", || instructions::compare(false).map(|()| Outcome::Passed)),
        ("Open MPI", || {
            with("mpirun", "Open MPI is not installed (Debian: libopenmpi-dev openmpi-bin)", || {
                mpi(&[])
            })
        }),
        ("MPICH", || {
            with("mpirun.mpich", "MPICH is not installed (Debian: mpich libmpich-dev)", || {
                mpi(super::MPICH)
            })
        }),
        ("files of other programs", files_of_others),
        ("Miri", miri),
        ("public interface", public_interface),
        ("every feature builds", || {
            cargo(&[
                "check",
                "--workspace",
                "--all-targets",
                "--features",
                "lobcod-cli/mpi,lobcod-cli/zarr",
            ])
            .map(|()| Outcome::Passed)
        }),
    ];

/// Runs every check whose name contains `wanted`, prints how each ended, and fails if any failed.
pub fn check(wanted: &str) -> Result<(), String> {
    let mut failures = Vec::new();
    let mut lines = Vec::new();
    for (name, check) in CHECKS.into_iter().filter(|(name, _)| name.contains(wanted)) {
        println!("== {name}");
        let clock = Instant::now();
        let ending = match check() {
            Ok(Outcome::Passed) => "passed".into(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(error) => {
                failures.push(name);
                format!("FAILED: {error}")
            }
        };
        lines.push(format!("{name:<22} {:5.0} s  {ending}", clock.elapsed().as_secs_f64()));
    }
    println!("\n{}", lines.join("\n"));
    if failures.is_empty() { Ok(()) } else { Err(format!("failed: {}", failures.join(", "))) }
}

/// The address that crates and wheel name; nobody can publish without it.
fn repository() -> Result<Outcome, String> {
    let path = root().join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    if text.lines().any(|line| line == "repository = \"\"") {
        return Err(
            "fill in `repository` in Cargo.toml: the address of the public repository".into()
        );
    }
    Ok(Outcome::Passed)
}

/// Every published crate, packaged and built as a stranger would get it, dependencies first.
fn packages() -> Result<Outcome, String> {
    studio::build()?;
    forget_packages()?;
    let mut words = vec!["publish", "--dry-run", "--allow-dirty", "--target-dir", VERIFIED];
    words.extend(PUBLISHED.iter().flat_map(|name| ["--package", *name]));
    cargo(&words).map(|()| Outcome::Passed)
}

/// Removes what earlier checks unpacked and compiled: Cargo takes it for this one's, because the
/// packages have the same version.
fn forget_packages() -> Result<(), String> {
    let compiled = root().join(VERIFIED);
    if compiled.exists() {
        std::fs::remove_dir_all(&compiled).map_err(|e| format!("{}: {e}", compiled.display()))?;
    }
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let registries = home.map(|home| std::fs::read_dir(Path::new(&home).join("registry/src")));
    for registry in registries.into_iter().flatten().flatten().flatten() {
        for name in PUBLISHED {
            let package = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
            // Most registries have none.
            let _ = std::fs::remove_dir_all(registry.path().join(package));
        }
    }
    Ok(())
}

/// The program, installed from its packaged crate without a network, as `cargo install lobcod-cli`
/// does.
fn installation() -> Result<Outcome, String> {
    let packages = root().join("target/package");
    let version = env!("CARGO_PKG_VERSION");
    let folder = |name: &str| packages.join(format!("{name}-{version}")).display().to_string();
    let installed = root().join("target/installed").display().to_string();
    let patches = PUBLISHED.map(|name| format!("patch.crates-io.{name}.path={:?}", folder(name)));
    let mut words = vec!["package", "--quiet", "--no-verify", "--allow-dirty"];
    words.extend(PUBLISHED.iter().flat_map(|name| ["--package", *name]));
    cargo(&words)?;
    for name in PUBLISHED {
        let crates = packages.join(format!("{name}-{version}.crate"));
        python::run(Command::new("tar").arg("-xzf").arg(crates).arg("-C").arg(&packages))?;
    }
    let place = folder("lobcod-cli");
    let mut words = vec!["install", "--offline", "--debug", "--path", &place];
    words.extend(["--root", &installed, "--target-dir", "target/debug-installed"]);
    words.extend(patches.iter().flat_map(|patch| ["--config", patch]));
    cargo(&words)?;
    let demo = ["demo", "--only-examples", "--quiet", "-o", "target/installed/examples"];
    python::run(Command::new(format!("{installed}/bin/lobcod")).args(demo).current_dir(root()))
        .map(|()| Outcome::Passed)
}

/// Runs a check where there is a program for it.
fn with(
    program: &str,
    missing: &'static str,
    check: impl FnOnce() -> Result<(), String>,
) -> Result<Outcome, String> {
    if is_there(program, &["--version"]) {
        check().map(|()| Outcome::Passed)
    } else {
        Ok(Outcome::Skipped(missing))
    }
}

pub fn is_there(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Files exchanged with tifffile and zarr for Python.
fn files_of_others() -> Result<Outcome, String> {
    let venv = root().join("target/venv-files");
    python::venv_with(&venv, "crates/lobcod-io/tests/requirements.txt")?;
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}/bin:{path}", venv.display());
    let words = ["test", "--package", "lobcod-io", "--features", "zarr"];
    let tests = ["--test", "suite", "--", "tifffile::", "zarr::"];
    cargo_with(&[&words[..], &tests].concat(), &[("PATH", &path)]).map(|()| Outcome::Passed)
}

/// The shared residual of the CPU engine under Miri.
fn miri() -> Result<Outcome, String> {
    if !is_there("cargo", &["+nightly", "miri", "--version"]) {
        return Ok(Outcome::Skipped(
            "no nightly toolchain with Miri (rustup +nightly component add miri)",
        ));
    }
    let flags = [("MIRIFLAGS", "-Zmiri-disable-isolation"), ("CARGO_TARGET_DIR", "target/miri")];
    cargo_with(&["+nightly", "miri", "test", "--package", "lobcod", "--lib", "field"], &flags)
        .map(|()| Outcome::Passed)
}

/// The public interface of the published crates against the last release.
fn public_interface() -> Result<Outcome, String> {
    let Ok(baseline) = std::fs::read_to_string(root().join(BASELINE)) else {
        return Ok(Outcome::Skipped("there is no release to compare with yet"));
    };
    if !is_there("cargo", &["semver-checks", "--version"]) {
        return Ok(Outcome::Skipped(
            "cargo-semver-checks is not installed (cargo install cargo-semver-checks)",
        ));
    }
    for package in ["lobcod-simd", "lobcod", "lobcod-tasks", "lobcod-io"] {
        cargo(&["semver-checks", "--package", package, "--baseline-rev", baseline.trim()])?;
    }
    Ok(Outcome::Passed)
}
