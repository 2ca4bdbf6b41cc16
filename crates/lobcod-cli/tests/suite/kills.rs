//! `kill -9` at any time: outputs are the old file or the complete new one, and the checkpoint
//! leads to the result of an uninterrupted run.
//!
//! `LOBCOD_KILLS=200` (`cargo xtask long`) sets the number of kills.

#![cfg(unix)]

use crate::common::Desk;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn kills() -> usize {
    std::env::var("LOBCOD_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(5)
}

/// Kills a command repeatedly, resumes it from its checkpoint, and compares the final output.
fn survives(line: &str, output: &str) {
    let desk = Desk::new();
    desk.image("a.png", &[40, 44], 1, 0.0);
    let began = Instant::now();
    desk.succeed(&format!("{line} -o {output} --quiet"));
    let whole = began.elapsed();
    let answer = fs::read(desk.path(output)).unwrap();
    fs::write(desk.path(output), "an older file").unwrap();
    let mut finished = 0;
    let mut killed = 0;
    let mut begun = 0;
    let mut left = 0;
    // Kill times spread irregularly over the run.
    let mut draw = 0x2545_f491_4f6c_dd1du64;
    while killed < kills() {
        let checkpoint = desk.path("run.npz").exists();
        begun += usize::from(!checkpoint);
        let resume = if checkpoint { "--resume run.npz" } else { "" };
        let mut command =
            desk.command(&format!("{line} -o {output} --quiet --checkpoint run.npz {resume}"));
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(
            whole.mul_f64((draw >> 40) as f64 / f64::from(1 << 24) * 1.3)
                + Duration::from_millis(2),
        );
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let there = fs::read(desk.path(output)).unwrap();
        assert!(
            there == answer || there == b"an older file",
            "{} bytes of {output} after a kill",
            there.len()
        );
        if status.success() {
            // The run ended before the kill.
            assert!(there == answer, "the result differs after {killed} kills");
            finished += 1;
            let _ = fs::remove_file(desk.path("run.npz"));
            fs::write(desk.path(output), "an older file").unwrap();
        } else {
            killed += 1;
        }
        for name in desk.files() {
            if !["a.png", "run.npz", output].contains(&name.as_str()) {
                left += 1;
                fs::remove_file(desk.path(&name)).unwrap();
            }
        }
    }
    desk.succeed(&format!(
        "{line} -o {output} --quiet --checkpoint run.npz{}",
        if desk.path("run.npz").exists() { " --resume run.npz" } else { "" }
    ));
    assert!(fs::read(desk.path(output)).unwrap() == answer);
    println!(
        "{line}: {killed} kills, {begun} times from the start, {finished} runs ended, {left} \
         temporary files left"
    );
    // Temporary files exist only briefly before they are renamed, so few kills leave one.
    assert!(left <= 1 + killed / 20, "{left} temporary files were left behind");
}

#[test]
fn encode_survives_kills() {
    survives(
        "encode a.png --relative-penalty 0.005 --precision f64 --tolerance 1e-5 --threads 1",
        "codes.npz",
    );
}

#[test]
fn learn_survives_kills() {
    survives("learn a.png --atoms 8 --size 5x5 --passes 12 --threads 1", "atoms.npz");
}
