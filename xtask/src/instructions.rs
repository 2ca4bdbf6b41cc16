//! Counts the instructions of three fixed small runs with callgrind, and compares them with the
//! stored counts.

use crate::root;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const RUNS: [&str; 3] = ["pursuit", "masked", "learning"];
/// Maximum allowed ratio to the stored count.
const ALLOWED: f64 = 1.05;

/// Counts and compares; `write` stores the new counts instead.
pub fn compare(write: bool) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: instructions are not counted");
        return Ok(());
    }
    let file = root().join("crates/lobcod/benches/instructions.txt");
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let program = build()?;
    let mut lines: Vec<String> = kept.lines().map(str::to_string).collect();
    let mut slower = Vec::new();
    for run in RUNS {
        let (level, count) = count(&program, run)?;
        let key = format!("{run} {level} ");
        let place = lines.iter().position(|line| line.starts_with(&key));
        let before: Option<f64> = place.and_then(|at| lines[at][key.len()..].trim().parse().ok());
        match before {
            Some(before) => {
                println!(
                    "{run}, {level}: {count} instructions, {:.3} times the stored {before}",
                    count as f64 / before
                )
            }
            None => {
                println!("{run}, {level}: {count} instructions, no stored count for these vectors")
            }
        }
        if write {
            let line = format!("{key}{count}");
            match place {
                Some(at) => lines[at] = line,
                None => lines.push(line),
            }
        } else if before.is_some_and(|before| count as f64 > ALLOWED * before) {
            slower.push(run);
        }
    }
    if write {
        std::fs::write(&file, lines.join("\n") + "\n")
            .map_err(|e| format!("{}: {e}", file.display()))?;
    }
    if slower.is_empty() {
        return Ok(());
    }
    Err(format!(
        "more instructions than stored in {}: {}; if intended, store them with `cargo xtask \
         instructions keep`",
        file.display(),
        slower.join(", ")
    ))
}

/// The program with the runs.
fn build() -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .args([
            "bench",
            "--package",
            "lobcod",
            "--bench",
            "instructions",
            "--no-run",
            "--message-format",
            "json",
        ])
        .current_dir(root())
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages
        .filter(|m| m["target"]["name"] == "instructions")
        .filter_map(|m| m["executable"].as_str().map(PathBuf::from));
    programs.next().ok_or_else(|| "cargo reported no program".into())
}

/// Vector level and number of instructions. Callgrind emulates a processor without AVX-512.
fn count(program: &Path, run: &str) -> Result<(String, u64), String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(run)
        .output()
        .map_err(|e| e.to_string())?;
    let (said, log) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let level = said.split_whitespace().next().map(str::to_string);
    let collected = log
        .lines()
        .find_map(|line| line.split("Collected :").nth(1))
        .and_then(|n| n.trim().parse().ok());
    level.zip(collected).ok_or_else(|| format!("callgrind counted nothing for {run}: {log}"))
}
