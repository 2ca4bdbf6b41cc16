//! Compares one thread with two, and measures the memory of an encode.

use crate::{cargo, root};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const REPEATS: usize = 7;

/// Encodes `image` at penalty 20 to a gap of 1e-3, alternating between 1 and 2 threads.
pub fn compare(image: &Path) -> Result<(), String> {
    cargo(&["build", "--release", "--package", "lobcod-cli"])?;
    let mut seconds = [Vec::new(), Vec::new()];
    let mut last = Value::Null;
    for _ in 0..REPEATS {
        for (threads, seconds) in seconds.iter_mut().enumerate() {
            last = encode(image, threads + 1)?;
            seconds.push(number(&last, "seconds")?);
        }
    }
    let [one, two] = seconds.map(median);
    println!(
        "{}: 1 thread {one:.3} s, 2 threads {two:.3} s, {:.2} times faster (medians of {REPEATS})",
        image.display(),
        one / two
    );
    let pixels = number(&last, "pixels")?;
    println!(
        "working memory {:.1} bytes per pixel, peak of the process {:.1} MB, relative gap {:.1e}",
        number(&last, "working_memory_bytes")? / pixels,
        number(&last, "peak_memory_bytes")? / 1e6,
        number(&last, "relative_gap")?
    );
    Ok(())
}

fn encode(image: &Path, threads: usize) -> Result<Value, String> {
    let output = Command::new(root().join("target/release/lobcod"))
        .args([
            "encode",
            "--penalty",
            "20",
            "--tolerance",
            "1e-3",
            "--json",
            "--threads",
            &threads.to_string(),
        ])
        .arg(image)
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())
}

fn number(report: &Value, field: &str) -> Result<f64, String> {
    report[field].as_f64().ok_or_else(|| format!("the report has no number {field}"))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
