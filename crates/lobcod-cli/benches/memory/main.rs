//! Peak memory of processes under `--max-memory`: for each command the estimate of its dry run,
//! then the actual peak when that much is allowed, when more is, and the outcome when less is.
//!
//! `cargo xtask memory [WORD]`: only the commands that contain the word.

mod images;
mod lines;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const MIB: f64 = 1048576.0;
/// Limits, as fractions of the estimate.
const SHARES: [f64; 4] = [0.5, 0.8, 1.0, 2.0];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let folder = tempfile::tempdir().expect("a folder for images");
    println!("| run | need, MiB | half of it | 0.8 of it | just that | twice that |");
    println!("|---|---|---|---|---|---|");
    let (mut most, mut least) = (0.0, f64::INFINITY);
    for line in lines::LINES.iter().filter(|line| words.iter().all(|word| line.contains(word))) {
        let need =
            measure(folder.path(), line, &["--dry-run"]).map(|plan| number(&plan, "memory_bytes"));
        let need = need.unwrap_or_else(|error| panic!("lobcod {line} --dry-run: {error}"));
        print!("| {line} | {:.1} |", need / MIB);
        for share in SHARES {
            // The command-line arguments themselves take some memory.
            let limit = (share * need).ceil() + 65536.0;
            match measure(folder.path(), line, &["--max-memory", &format!("{limit}")]) {
                Ok(report) => {
                    let peak = number(&report, "peak_memory_bytes");
                    most = f64::max(most, peak / limit);
                    if share == 1.0 {
                        least = f64::min(least, peak / need);
                    }
                    let bands = report["bands"]
                        .as_u64()
                        .map_or(String::new(), |bands| format!(", {bands} bands"));
                    print!(" {:.1}{bands}: {:.0} % |", peak / MIB, 100.0 * peak / limit);
                }
                Err(error) if error.contains(" needs ") => print!(" refused |"),
                Err(error) if error.starts_with("more than the limit") => {
                    print!(" ended at the limit |")
                }
                Err(error) => print!(" {error} |"),
            }
        }
        println!();
    }
    println!(
        "\nlargest fraction of a limit: {:.0} %; smallest fraction of an estimate that was just \
         allowed: {:.0} %",
        100.0 * most,
        100.0 * least
    );
}

fn number(report: &Value, name: &str) -> f64 {
    report[name].as_f64().unwrap_or_else(|| panic!("{report} has no {name}"))
}

/// Runs a command with its input files generated and its outputs named; returns the report, or the
/// error message.
fn measure(folder: &Path, line: &str, more: &[&str]) -> Result<Value, String> {
    let command = line.split(' ').next().unwrap_or_default();
    for name in line
        .split(' ')
        .filter(|word| word.contains('-') && word.contains('.') && !word.starts_with("--"))
    {
        if !folder.join(name).exists() {
            images::make(folder, name);
        }
    }
    let outputs: &[&str] = match command {
        "encode" | "learn" => &[
            "-o",
            if line.contains(".png grey") && command == "encode" { "out/" } else { "out.npz" },
        ],
        "separate" => &["--smooth-out", "smooth.npy", "--texture-out", "texture.npy"],
        _ => &["-o", "out.png"],
    };
    let penalty: &[&str] =
        if ["encode", "learn", "separate"].contains(&command) { &["--penalty", "15"] } else { &[] };
    let words = line
        .split(' ')
        .flat_map(|word| if word == "--report" { vec![word, "out.html"] } else { vec![word] });
    let mut command = Command::new(env!("CARGO_BIN_EXE_lobcod"));
    command
        .args(words)
        .args(outputs)
        .args(penalty)
        .args(["--threads", "1", "--json"])
        .args(more)
        .current_dir(folder);
    let Output { status, stdout, stderr } = command.output().expect("the program runs");
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        return Err(said.trim().rsplit("error: ").next().unwrap_or_default().into());
    }
    Ok(serde_json::from_slice(&stdout).expect("a report"))
}
