//! Archives and wheels for every system, built with zig and tried where this machine can run them.
//!
//! On Linux, one machine builds for all systems. Elsewhere, only the machine's own.

use crate::python::{make_venv, program, run, try_wheel, venv_with};
use crate::{root, studio};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A system that archives and wheels are made for.
struct System {
    target: &'static str,
    /// The oldest C library it runs with, as zig writes it after the target.
    oldest: &'static str,
    run: Run,
    /// The tag of its wheel; `None` where there is no wheel.
    wheel: Option<&'static str>,
}

/// How its programs are run on this machine.
enum Run {
    Directly,
    /// Under an emulator: its words.
    Under(&'static [&'static str]),
    /// They cannot be run here, nor perhaps linked: some need libraries of their system.
    Nowhere,
}

const SYSTEMS: [System; 5] = [
    System {
        target: "x86_64-unknown-linux-gnu",
        oldest: ".2.17",
        run: Run::Directly,
        wheel: Some("manylinux2014"),
    },
    // Static: it runs on every Linux, and cannot load CUDA.
    System { target: "x86_64-unknown-linux-musl", oldest: "", run: Run::Directly, wheel: None },
    System {
        target: "aarch64-unknown-linux-gnu",
        oldest: ".2.17",
        run: Run::Under(&["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
        wheel: Some("manylinux2014"),
    },
    System { target: "x86_64-pc-windows-gnu", oldest: "", run: Run::Under(&["wine"]), wheel: None },
    System { target: "aarch64-apple-darwin", oldest: "", run: Run::Nowhere, wheel: None },
];

/// Wine 8 lacks a library that the standard library of Rust needs for random numbers. This one is
/// put next to the program for the trial alone.
const RANDOM_FOR_WINE: &str = "
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL ProcessPrng(PBYTE buffer, SIZE_T length) {
    return SystemFunction036(buffer, (ULONG)length);
}
";

/// Shells that completions are made for, and the names of their files.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "lobcod.bash"),
    ("zsh", "_lobcod"),
    ("fish", "lobcod.fish"),
    ("powershell", "_lobcod.ps1"),
];

/// Builds into `target/dist`: everything, or the systems whose target contains `wanted`.
pub fn release(wanted: &str) -> Result<(), String> {
    let dist = root().join("target/dist");
    fs::create_dir_all(&dist).map_err(|e| e.to_string())?;
    // The program embeds the module.
    run(Command::new("rustup").args(["--quiet", "target", "add", studio::TARGET]))?;
    studio::build()?;
    if !cfg!(target_os = "linux") {
        return native(&dist);
    }
    let tools = venv_with(&root().join("target/release-venv"), "xtask/requirements-release.txt")?;
    let manual = manual()?;
    let mut lines = Vec::new();
    for system in SYSTEMS.iter().filter(|system| system.target.contains(wanted)) {
        println!("== {}", system.target);
        run(Command::new("rustup").args(["--quiet", "target", "add", system.target]))?;
        let program = match build(&tools, system) {
            Err(_) if matches!(system.run, Run::Nowhere) => {
                let words = ["check", "--locked", "--package", "lobcod-cli", "--target"];
                crate::cargo(&[&words[..], &[system.target]].concat())?;
                lines.push(format!("{}: compiles; not linked here", system.target));
                continue;
            }
            program => program?,
        };
        let archive = pack(&dist, system.target, &program, &manual)?;
        lines.push(format!(
            "{}: {}",
            name_of(&archive),
            try_archive(&tools, &system.run, &archive)?
        ));
        if let Run::Under(emulator @ ["qemu-aarch64", ..]) = system.run
            && crate::release::is_there(emulator[0], &["--version"])
        {
            test_core(&tools, system, emulator)?;
            lines.push(format!("tests of the core: passed under {}", emulator[0]));
        }
        if let Some(tag) = system.wheel {
            let wheel = build_wheel(&tools, system, tag, &dist)?;
            lines.push(format!("{}: {}", name_of(&wheel), try_wheel_of(&system.run, &wheel)?));
        }
    }
    println!("\ntarget/dist holds\n{}", lines.join("\n"));
    Ok(())
}

/// The archive and the wheel of this machine's own system.
fn native(dist: &Path) -> Result<(), String> {
    crate::cargo(&["build", "--release", "--package", "lobcod-cli"])?;
    let name = format!("lobcod{}", std::env::consts::EXE_SUFFIX);
    let program = root().join("target/release").join(name);
    let system = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let archive = pack(dist, &system, &program, &manual()?)?;
    let wheel = crate::python::wheel_into(dist)?;
    println!("{}: {}", name_of(&archive), try_archive(dist, &Run::Directly, &archive)?);
    println!("{}: {}", name_of(&wheel), try_wheel_of(&Run::Directly, &wheel)?);
    Ok(())
}

fn build(tools: &Path, system: &System) -> Result<PathBuf, String> {
    let target = format!("{}{}", system.target, system.oldest);
    let words = ["zigbuild", "--release", "--locked", "--package", "lobcod-cli", "--target"];
    run(with_tools(tools, &mut program(tools, "cargo-zigbuild")).args(words).arg(target))?;
    let name = if system.target.contains("windows") { "lobcod.exe" } else { "lobcod" };
    Ok(root().join("target").join(system.target).join("release").join(name))
}

/// Runs the tests of the core that compare its vector loops with the dense oracle.
fn test_core(tools: &Path, system: &System, emulator: &[&str]) -> Result<(), String> {
    let runner = system.target.to_uppercase().replace('-', "_");
    let target = format!("{}{}", system.target, system.oldest);
    let words = ["test", "--release", "--locked", "--package", "lobcod", "--target", &target];
    let tests = ["--test", "suite", "--", "lasso::", "pursuit_oracle::"];
    let mut cargo = program(tools, "cargo-zigbuild");
    cargo.env(format!("CARGO_TARGET_{runner}_RUNNER"), emulator.join(" "));
    run(with_tools(tools, &mut cargo).args(words).args(tests))
}

/// The command with the tools in its path, in the root of the repository.
fn with_tools<'a>(tools: &Path, command: &'a mut Command) -> &'a mut Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.join("bin").display());
    command.env("PATH", path).current_dir(root())
}

/// Completions and man pages, the same for all systems, made by the program of this machine.
fn manual() -> Result<PathBuf, String> {
    let folder = root().join("target/manual");
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|e| e.to_string())?;
    crate::build_program()?;
    let lobcod = root().join(format!("target/debug/lobcod{}", std::env::consts::EXE_SUFFIX));
    run(Command::new(&lobcod).arg("manual").arg("-o").arg(folder.join("man")))?;
    for (shell, file) in SHELLS {
        let output = Command::new(&lobcod).args(["completions", shell]).output();
        let script = output.map_err(|e| e.to_string())?.stdout;
        fs::write(completions.join(file), script).map_err(|e| e.to_string())?;
    }
    Ok(folder)
}

/// An archive of the program, its manual and licences: zip for Windows, tar.gz elsewhere.
fn pack(dist: &Path, system: &str, lobcod: &Path, manual: &Path) -> Result<PathBuf, String> {
    let name = format!("lobcod-{}-{system}", env!("CARGO_PKG_VERSION"));
    let folder = dist.join(&name);
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let files = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
    let files = files.map(|file| root().join(file));
    run(Command::new("cp").arg("-r").arg(lobcod).args(files).arg(&folder))?;
    run(Command::new("cp")
        .arg("-r")
        .args([manual.join("man"), manual.join("completions")])
        .arg(&folder))?;
    let archive = if system.contains("windows") {
        let archive = dist.join(format!("{name}.zip"));
        let words = ["-m", "zipfile", "-c"];
        run(Command::new("python3").args(words).arg(&archive).arg(&name).current_dir(dist))?;
        archive
    } else {
        let archive = dist.join(format!("{name}.tar.gz"));
        run(Command::new("tar").arg("-czf").arg(&archive).arg(&name).current_dir(dist))?;
        archive
    };
    fs::remove_dir_all(&folder).map_err(failed)?;
    Ok(archive)
}

/// Unpacks an archive where paths have spaces and umlauts, and runs the demo and a round trip of
/// codes there, and interrupts a run. Returns how it went, in words.
fn try_archive(tools: &Path, run_by: &Run, archive: &Path) -> Result<String, String> {
    let emulator = match *run_by {
        Run::Nowhere => return Ok("built; not run here".into()),
        Run::Under(words) => {
            if !crate::release::is_there(words[0], &["--version"]) {
                return Ok(format!("built; not run, because {} is not installed", words[0]));
            }
            words
        }
        Run::Directly => &[],
    };
    let place = root().join("target/dist-trial/über uns");
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|e| e.to_string())?;
    }
    fs::create_dir_all(&place).map_err(|e| e.to_string())?;
    let for_windows = archive.extension().is_some_and(|e| e == "zip");
    if for_windows {
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(&place))?;
    } else {
        run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&place))?;
    }
    let name = name_of(archive);
    let folder = place.join(name.trim_end_matches(".zip").trim_end_matches(".tar.gz"));
    let lobcod = folder.join(if for_windows { "lobcod.exe" } else { "lobcod" });
    if emulator == ["wine"] {
        let source = folder.join("random.c");
        fs::write(&source, RANDOM_FOR_WINE).map_err(|e| e.to_string())?;
        let words = ["-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", "-o"];
        run(program(tools, "python")
            .args(words)
            .arg(folder.join("bcryptprimitives.dll"))
            .arg(source)
            .arg("-ladvapi32"))?;
    }
    let words: Vec<&str> = emulator.to_vec();
    let command = |arguments: &[&str]| {
        let mut command = match words.split_first() {
            None => Command::new(&lobcod),
            Some((emulator, rest)) => {
                let mut command = Command::new(emulator);
                command.args(rest).arg(&lobcod);
                command
            }
        };
        command.args(arguments).env("WINEDEBUG", "-all").current_dir(&place);
        command
    };
    run(&mut command(&["demo", "--quiet", "-o", "die Probe"]))?;
    run(&mut command(&["encode", "die Probe/original.png", "-o", "Übung 1.npz", "--quiet"]))?;
    run(&mut command(&["decode", "Übung 1.npz", "-o", "zurück.png", "--quiet"]))?;
    if cfg!(unix) {
        let learn = ["learn", "die Probe/noisy.png", "-o", "Atome.npz", "--atoms", "8", "--size"];
        let long = ["5x5", "--passes", "100000", "--quiet", "--checkpoint", "Stand"];
        interrupt(&mut command(&[&learn[..], &long].concat()), &place.join("Stand"))?;
        if !place.join("Atome.npz").exists() {
            return Err("learn was interrupted and wrote no dictionary".into());
        }
    }
    if name.contains("musl") {
        refuse_cuda(&mut command(&["encode", "die Probe/original.png", "--engine", "cuda"]))?;
    }
    Ok(match emulator.first() {
        None => "built and run".into(),
        Some(emulator) => format!("built, and run under {emulator}"),
    })
}

/// Sends what Ctrl-C sends to a run that has written its first checkpoint; it must save and exit
/// with 130.
fn interrupt(command: &mut Command, checkpoint: &Path) -> Result<(), String> {
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    while !checkpoint.exists() {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Err(format!("a run that should be interrupted ended before: {status}"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    run(Command::new("kill").args(["-INT", &child.id().to_string()]))?;
    let status = child.wait().map_err(|e| e.to_string())?;
    if status.code() == Some(130) {
        Ok(())
    } else {
        Err(format!("a run was interrupted and ended with {status}, not with exit code 130"))
    }
}

/// A static program cannot load CUDA, and says so in one sentence.
fn refuse_cuda(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| e.to_string())?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(1) && words.contains("static program cannot load CUDA") {
        Ok(())
    } else {
        Err(format!("--engine cuda was not refused as expected: {words}"))
    }
}

fn build_wheel(tools: &Path, system: &System, tag: &str, dist: &Path) -> Result<PathBuf, String> {
    let into = root().join("target/wheels").join(system.target);
    if into.exists() {
        fs::remove_dir_all(&into).map_err(|e| e.to_string())?;
    }
    let words = ["build", "--release", "--zig", "--manifest-path", "python/Cargo.toml"];
    run(with_tools(tools, &mut program(tools, "maturin"))
        .args(words)
        .args(["--target", system.target, "--compatibility", tag, "--out"])
        .arg(&into))?;
    let wheel = crate::python::newest_wheel(&into)?;
    let kept = dist.join(name_of(&wheel));
    fs::copy(&wheel, &kept).map_err(|e| e.to_string())?;
    Ok(kept)
}

fn try_wheel_of(run_by: &Run, wheel: &Path) -> Result<String, String> {
    if !matches!(run_by, Run::Directly) {
        return Ok("built; there is no Python for it here".into());
    }
    let venv = root().join("target/dist-trial/venv");
    make_venv(&venv)?;
    try_wheel(&venv, wheel)?;
    Ok("built, installed in an empty environment and run".into())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
