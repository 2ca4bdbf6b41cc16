//! Long tests: fuzzing, kills, load, and the memory that runs take under a limit.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Fuzzes a target for some seconds with the driver that needs no special compiler.
pub fn fuzz(words: &[&str]) -> Result<(), String> {
    super::cargo(&["build", "--workspace"])?;
    super::cargo(&[&["run", "--package", "lobcod-fuzz", "--"], words].concat())
}

/// The tests that CI runs for a moment, at full length.
pub fn long() -> Result<(), String> {
    let tests = ["test", "--workspace", "--test", "kills", "--test", "load", "--test", "crowd", "--", "--nocapture"];
    let status = Command::new("cargo")
        .args(tests)
        .envs([("LOBCOD_KILLS", "100"), ("LOBCOD_LOAD", "10000"), ("LOBCOD_CROWD", "64")])
        .current_dir(super::root())
        .status();
    if status.map_err(|e| e.to_string())?.success() { Ok(()) } else { Err("the long tests failed".into()) }
}

/// Lines whose memory is measured; each is given a picture and a limit.
const LINES: [(&str, &str); 6] = [
    ("encode", "encode big.npy -o out.npz --penalty 40"),
    ("encode --known (never in bands)", "encode big.npy -o out.npz --penalty 40 --known all.npy"),
    ("learn", "learn small.npy -o out.npz --atoms 25 --size 7x7 --passes 2 --penalty 40"),
    ("learn --stream", "learn small.npy small.npy small.npy -o out.npz --atoms 25 --size 7x7 --stream --penalty 40"),
    ("inpaint", "inpaint small.npy -o out.npy --holes holes.npy --penalty 40 --preset fast"),
    ("fuse", "fuse small.npy other.npy -o out.npy"),
];

/// Peak memory of whole processes under `--max-memory`, as a table.
pub fn memory() -> Result<(), String> {
    super::cargo(&["build", "--release"])?;
    let folder = env::temp_dir().join(format!("lobcod-memory-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let program = super::root().join("target/release/lobcod").canonicalize().map_err(|e| e.to_string())?;
    let run = |line: &str| Command::new(&program).args(line.split(' ')).current_dir(&folder).output().map_err(|e| e.to_string());
    pictures(&folder)?;
    println!("| verb | limit, MiB | peak of the process, MiB | share of the limit |");
    println!("|---|---|---|---|");
    let mut worst: f64 = 0.0;
    for (name, line) in LINES {
        for limit in [16, 32, 64, 256] {
            let output = run(&format!("{line} --threads 1 --json --max-memory {limit}M"))?;
            if !output.status.success() {
                let reason = String::from_utf8_lossy(&output.stderr);
                println!("| {name} | {limit} | refused: {} | |", reason.trim().rsplit("error: ").next().unwrap_or_default());
                continue;
            }
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
            let peak = report["peak_memory_bytes"].as_f64().unwrap_or(f64::NAN) / 1048576.0;
            worst = worst.max(peak / f64::from(limit));
            println!("| {name} | {limit} | {peak:.0} | {:.0} % |", 100.0 * peak / f64::from(limit));
        }
    }
    fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    println!("largest share: {:.0} %", 100.0 * worst);
    Ok(())
}

/// Pictures of stripes, as arrays of floats: 1200 x 1200, 300 x 300, another like it, and masks.
fn pictures(folder: &Path) -> Result<(), String> {
    let wave =
        |x: usize, y: usize| (x as f32 * 0.4).sin() * 60.0 + (y as f32 * 0.23).cos() * 40.0 + ((x * 7 + y * 13) % 11) as f32;
    let hole = |x: usize, y: usize| f32::from(u8::from((x * 31 + y * 17) % 7 < 2));
    write(folder, "big.npy", 1200, wave)?;
    write(folder, "all.npy", 1200, |_, _| 1.0)?;
    write(folder, "small.npy", 300, wave)?;
    write(folder, "other.npy", 300, |x, y| wave(x + 1, y))?;
    write(folder, "holes.npy", 300, hole)
}

/// A square numpy array.
fn write(folder: &Path, name: &str, side: usize, sample: impl Fn(usize, usize) -> f32) -> Result<(), String> {
    let mut file = format!("\u{1}\0\x76\0{{'descr': '<f4', 'fortran_order': False, 'shape': ({side}, {side}), }}").into_bytes();
    file.splice(0..0, *b"\x93NUMPY");
    file.resize(127, b' ');
    file.push(b'\n');
    file.extend((0..side * side).flat_map(|i| sample(i % side, i / side).to_le_bytes()));
    fs::write(folder.join(name), file).map_err(|e| e.to_string())
}
