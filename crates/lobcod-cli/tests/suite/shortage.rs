//! Disk and memory exhaustion at any time: one error message, and the old file or the complete new
//! one.

#![cfg(target_os = "linux")]

use crate::common::{Desk, text};
use std::fs;
use std::process::{Command, Output};

/// Commands that write, and their output.
const WRITERS: [(&str, &str); 7] = [
    ("encode a.png -o out.npz", "out.npz"),
    ("encode a.npy -o out.npz --max-memory 100M --size 5x5 --dictionary dct", "out.npz"),
    ("encode a.png --report out.html", "out.html"),
    ("learn a.png -o out.npz --atoms 4 --size 5x5 --passes 2", "out.npz"),
    ("encode a.png --max-sweeps 2 --checkpoint out.npz", "out.npz"),
    ("denoise a.png -o out.tif --noise gaussian:9", "out.tif"),
    ("fuse a.png b.png -o out.png", "out.png"),
];

/// Runs a command under a shell limit.
fn under(desk: &Desk, limit: &str, line: &str) -> Output {
    let script = format!("{limit}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_lobcod")])
        .args(line.split(' '))
        .current_dir(desk.path("."));
    command.env("RUST_BACKTRACE", "0").output().unwrap()
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("a.png", &[48, 50], 1, 0.0);
    desk.image("b.png", &[48, 50], 1, 0.3);
    desk.image("a.npy", &[48, 50], 1, 0.0);
    desk
}

/// Checks for one sentence on standard error, exit code 1 and no new file.
fn check_failure(desk: &Desk, line: &str, limit: &str, output: &Output, name: &str) {
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{limit}: lobcod {line}: {:?}\n{err}", output.status);
    let errors: Vec<&str> = err.lines().filter(|l| l.starts_with("error: ")).collect();
    assert!(
        errors.len() == 1 && err.lines().last() == Some(errors[0]),
        "{limit}: lobcod {line}\n{err}"
    );
    assert_eq!(fs::read(desk.path(name)).unwrap(), b"an older file", "{limit}: lobcod {line}");
    assert_eq!(desk.files().len(), 4, "{limit}: lobcod {line} left {:?}", desk.files());
}

#[test]
fn a_disk_that_fills_up_at_any_write() {
    let desk = desk();
    let mut failures = 0;
    for (line, name) in WRITERS {
        let line = format!("{line} --threads 1 --quiet");
        if name == "out.npz" && line.contains("--checkpoint") {
            // A checkpoint may only replace a checkpoint.
            let _ = fs::remove_file(desk.path(name));
            desk.succeed(&line);
        }
        let replaceable = line.contains("--checkpoint");
        // In blocks of 512 bytes. A write beyond the limit fails if the accompanying signal is
        // ignored.
        for blocks in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
            if !replaceable {
                fs::write(desk.path(name), "an older file").unwrap();
            }
            let output = under(&desk, &format!("trap '' XFSZ; ulimit -f {blocks}"), &line);
            if output.status.success() {
                break;
            }
            failures += 1;
            if !replaceable {
                check_failure(&desk, &line, &format!("{blocks} blocks"), &output, name);
            }
            assert_eq!(output.status.code(), Some(1), "{line}");
            // Otherwise the signal kills the process.
            let output = under(&desk, &format!("ulimit -f {blocks}"), &line);
            assert!(!output.status.success());
            if replaceable {
                // A newer checkpoint may have fitted.
                lobcod_io::read_checkpoint(&desk.path(name)).expect("a checkpoint that is whole");
            } else {
                assert_eq!(fs::read(desk.path(name)).unwrap(), b"an older file", "{line}");
            }
        }
        fs::remove_file(desk.path(name)).unwrap();
    }
    println!("{failures} writes failed");
    assert!(failures > 20, "only {failures} writes failed");
}

#[test]
fn memory_that_runs_out() {
    let desk = desk();
    // An image that needs some memory, in a file of a few kilobytes.
    let flat = lobcod_io::encode_png(&vec![90; 3000 * 3000], 3000, 3000).unwrap();
    desk.bytes("a.npy", &flat);
    let (mut refused, mut done) = (0, 0);
    for line in [
        "encode a.npy -o out.npz --threads 2",
        "denoise a.npy -o out.npz --noise gaussian:9 --time-limit 1",
    ] {
        for megabytes in [24, 32, 48, 64, 96, 128, 192, 256, 384, 512] {
            fs::write(desk.path("out.npz"), "an older file").unwrap();
            let limit = format!("ulimit -v {}", megabytes << 10);
            // With too little memory the program does not start.
            if !under(&desk, &limit, "--version").status.success() {
                continue;
            }
            let output = under(&desk, &limit, &format!("{line} --quiet"));
            if output.status.success() {
                done += 1;
                break;
            }
            refused += 1;
            check_failure(&desk, line, &limit, &output, "out.npz");
        }
    }
    println!("{refused} runs out of memory, {done} with enough of it");
    assert!(refused > 5, "only {refused} runs were short of memory");
}
