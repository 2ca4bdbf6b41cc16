//! Long tests: fuzzing, killed processes, load.

use std::process::Command;

/// Fuzzes a target for some seconds with the driver that needs no special compiler.
pub fn fuzz(words: &[&str]) -> Result<(), String> {
    super::cargo(&["build", "--workspace"])?;
    super::cargo(&[&["run", "--package", "lobcod-fuzz", "--"], words].concat())
}

/// The tests that CI runs briefly, at full length.
pub fn long() -> Result<(), String> {
    let tests = [
        "test",
        "--workspace",
        "--test",
        "suite",
        "--test",
        "load",
        "--",
        "--nocapture",
        "kills::",
        "crowd::",
        "memory_stays_flat",
    ];
    let status = Command::new("cargo")
        .args(tests)
        .envs([("LOBCOD_KILLS", "100"), ("LOBCOD_LOAD", "10000"), ("LOBCOD_CROWD", "64")])
        .current_dir(super::root())
        .status();
    if status.map_err(|e| e.to_string())?.success() {
        Ok(())
    } else {
        Err("the long tests failed".into())
    }
}
