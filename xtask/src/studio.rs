//! Builds the WebAssembly module of lobcod studio, next to the files of the page that embed it.

use super::{cargo_with, root};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// What the module is built for.
pub const TARGET: &str = "wasm32-unknown-unknown";
/// Vectors of 16 bytes. The module asks its host for nothing random: files and their temporary
/// names, for which some crates do, are not part of it.
const FLAGS: [&str; 4] =
    ["-C", "target-feature=+simd128", "--cfg", "getrandom_backend=\"unsupported\""];

/// Builds the module.
pub fn build() -> Result<(), String> {
    if !get_target() {
        return Err(format!(
            "this toolchain cannot build for {TARGET}; run: rustup target add {TARGET}"
        ));
    }
    let arguments = ["rustc", "--package", "lobcod-web", "--lib", "--crate-type", "cdylib"];
    let arguments = [&arguments[..], &["--target", TARGET, "--release"]].concat();
    cargo_with(&arguments, &[("CARGO_ENCODED_RUSTFLAGS", &FLAGS.join("\x1f"))])?;
    let folder =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let built = folder.join(TARGET).join("release").join("lobcod_web.wasm");
    let module = root().join("crates/lobcod-web/page/lobcod_web.wasm");
    let bytes = fs::read(&built).map_err(|e| format!("{}: {e}", built.display()))?;
    // An equal file is left alone, so that nothing is compiled again.
    if fs::read(&module).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    println!("{}: {} bytes", module.display(), bytes.len());
    fs::write(&module, bytes).map_err(|e| format!("{}: {e}", module.display()))
}

/// Builds the module where the target is installed or can be; otherwise the tests that need it are
/// skipped.
pub fn build_where_possible() -> Result<(), String> {
    if get_target() {
        return build();
    }
    println!("{TARGET} is not installed, and could not be: tests of the module are skipped");
    Ok(())
}

/// Tests the page in a browser with a script of its package: `smoke` (one test) or `test` (all).
/// The reason is returned where they cannot run.
pub fn test_page(script: &str) -> Result<Option<&'static str>, String> {
    let npm = |arguments: &[&str]| {
        let folder = root().join("crates/lobcod-web/tests/page");
        Command::new("npm").args(arguments).current_dir(folder).status()
    };
    let Ok(installed) = npm(&["ci", "--silent", "--no-audit", "--no-fund"]) else {
        return Ok(Some("npm is not installed"));
    };
    if !installed.success() {
        return Ok(Some("npm cannot install the packages of the tests"));
    }
    let tested = npm(&["run", "--silent", script]).map_err(|e| e.to_string())?;
    if tested.success() { Ok(None) } else { Err(format!("npm run {script} failed")) }
}

/// The short test of the page; prints why it was skipped.
pub fn smoke() -> Result<(), String> {
    if let Some(reason) = test_page("smoke")? {
        println!("{reason}: the page of lobcod studio is not tested");
    }
    Ok(())
}

/// Whether the toolchain can build for the target, which is installed where that is possible.
fn get_target() -> bool {
    has_target()
        || Command::new("rustup")
            .args(["target", "add", TARGET])
            .output()
            .is_ok_and(|added| added.status.success())
}

/// Whether the toolchain has the standard library of the target.
fn has_target() -> bool {
    let output =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    output
        .is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
