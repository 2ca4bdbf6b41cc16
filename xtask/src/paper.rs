//! The paper's figures and tables compared with other methods: environments, programs and scripts.

use crate::python::{build_wheel, make_venv, pip, program, run};
use crate::{cargo, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Scripts that take `--quick` or `--full` and write their own part of the results.
const SCRIPTS: [&str; 7] =
    ["batch", "online", "dictionaries", "inpainting", "fusion_figure", "complexity", "claims"];
/// Time limit of one script; finished results are kept.
const QUICK_LIMIT: Duration = Duration::from_secs(15 * 60);
const FULL_LIMIT: Duration = Duration::from_secs(8 * 3600);

/// Runs everything; failed scripts are listed at the end, and the page shows what is missing.
pub fn reproduce(words: &[&str]) -> Result<(), String> {
    let size = match words {
        [] | ["--quick"] => "--quick",
        ["--full"] => "--full",
        _ => return Err("usage: cargo xtask paper [--quick|--full]".into()),
    };
    let results = root().join("paper/results");
    fs::create_dir_all(&results).map_err(|e| e.to_string())?;
    cargo(&["build", "--release", "--package", "lobcod-cli"])?;
    cargo(&["build", "--release", "--package", "lobcod-baselines", "--examples"])?;
    let venv = peers_venv()?;
    let mut failed = Vec::new();
    let mut note = |name: &str, done: Result<(), String>| {
        if let Err(reason) = done {
            eprintln!("{name}: {reason}");
            failed.push(name.to_string());
        }
    };
    for script in SCRIPTS {
        note(script, python(&venv, &format!("{script}.py"), &[size], size));
    }
    note("bench_pursuit", pursuit(&venv, size, &results));
    note("bench_1d", one_dimension(size, &results));
    note("overhead", overhead(&venv, &results));
    crate::docs::fill_tables(&[])?;
    println!("docs/benchmarks.md has the new results");
    if failed.is_empty() { Ok(()) } else { Err(format!("these failed: {}", failed.join(", "))) }
}

fn pursuit(venv: &Path, size: &str, results: &Path) -> Result<(), String> {
    let out = results.join(format!("pursuit{size}.json"));
    if out.exists() {
        return Ok(());
    }
    let out = out.to_string_lossy().into_owned();
    let words: &[&str] =
        if size == "--quick" { &["--quick", "--out", &out] } else { &["--out", &out] };
    python_at(real_time(), venv, "bench_pursuit.py", words, size)
}

/// The pursuit of 1-D signals compared with dicodile and alphacsc, which need another numpy.
fn one_dimension(size: &str, results: &Path) -> Result<(), String> {
    let out = results.join(format!("one-dimension{size}.json"));
    if out.exists() {
        return Ok(());
    }
    let venv = folder().join("venv-1d");
    installed(&venv, &["requirements-1d.txt"], false)?;
    let out = out.to_string_lossy().into_owned();
    let words: &[&str] =
        if size == "--quick" { &["--quick", "--out", &out] } else { &["--out", &out] };
    python_at(real_time(), &venv, "bench_1d.py", words, size)
}

/// Overhead of Python over the solver, by the benchmark of the package on a release wheel.
fn overhead(venv: &Path, results: &Path) -> Result<(), String> {
    pip(venv, ["install", "--quiet", "maturin"], &[])?;
    let wheel = build_wheel(venv, "release", &root().join("target/wheels"))?;
    pip(venv, ["install", "--quiet", "--force-reinstall", "--no-deps"], &[wheel.as_path()])?;
    let mut bench = command(real_time(), venv);
    bench
        .arg(root().join("python/benches/overhead.py"))
        .arg("--out")
        .arg(results.join("overhead.json"));
    run(&mut bench)
}

fn folder() -> PathBuf {
    root().join("target/paper")
}

fn peers_venv() -> Result<PathBuf, String> {
    let venv = folder().join("venv");
    installed(
        &venv,
        &["requirements-peers.txt", "requirements-tasks.txt", "requirements-figures.txt"],
        true,
    )?;
    Ok(venv)
}

/// Creates the environment with these requirements files, unless it exists with the same ones.
/// `old_numpy`: packages compiled during installation use numpy and setuptools of the environment
/// itself, and need old versions.
fn installed(venv: &Path, files: &[&str], old_numpy: bool) -> Result<(), String> {
    let paths: Vec<PathBuf> = files.iter().map(|name| root().join("paper").join(name)).collect();
    let mut wanted = String::new();
    for path in &paths {
        wanted += &fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let stamp = venv.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    make_venv(venv)?;
    let mut install = program(venv, "python");
    install.args(["-m", "pip", "install", "--quiet"]);
    if old_numpy {
        run(program(venv, "python").args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "numpy<2",
            "setuptools<70",
            "wheel",
        ]))?;
        install.arg("--no-build-isolation");
    }
    for path in &paths {
        install.arg("-r").arg(path);
    }
    run(&mut install).map_err(|reason| {
        format!(
            "{reason}; spams and mpi4py are compiled here (Debian: g++ libopenblas-dev \
             libopenmpi-dev python3-dev)"
        )
    })?;
    fs::write(stamp, wanted).map_err(|e| e.to_string())
}

/// Whether programs can use real-time priority, so that other work on the machine does not affect
/// timings. Scripts with their own results handle it themselves.
fn real_time() -> bool {
    Command::new("chrt")
        .args(["-f", "1", "true"])
        .output()
        .is_ok_and(|tried| tried.status.success())
}

/// Python of the environment.
fn command(real_time: bool, venv: &Path) -> Command {
    let python = program(venv, "python");
    if !real_time {
        return python;
    }
    let mut ahead = Command::new("chrt");
    ahead.args(["-f", "1"]).arg(python.get_program());
    ahead
}

fn python(venv: &Path, script: &str, words: &[&str], size: &str) -> Result<(), String> {
    python_at(false, venv, script, words, size)
}

/// Runs a script of `paper/` with a time limit.
fn python_at(
    real_time: bool,
    venv: &Path,
    script: &str,
    words: &[&str],
    size: &str,
) -> Result<(), String> {
    let path = root().join("paper").join(script);
    if !path.exists() {
        return Err(format!("paper/{script} does not exist"));
    }
    let limit = if size == "--quick" { QUICK_LIMIT } else { FULL_LIMIT };
    let mut child =
        command(real_time, venv).arg(path).args(words).spawn().map_err(|e| e.to_string())?;
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(_) => return Err(format!("paper/{script} failed")),
            None if began.elapsed() > limit => {
                // SIGTERM, so that the child of the script ends too.
                let _ = Command::new("kill").arg(child.id().to_string()).status();
                let _ = child.wait();
                return Err(format!(
                    "paper/{script} took longer than {} minutes",
                    limit.as_secs() / 60
                ));
            }
            None => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}
