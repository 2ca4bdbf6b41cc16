//! Checks the supply chain: licences and sources of all dependencies, and the files with `unsafe`.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Licences that require nothing but a notice; the same list is in deny.toml.
const LICENCES: [&str; 12] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "0BSD",
    "CC0-1.0",
    "Unlicense",
];

/// Allowed source of crates.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Files, or folders, that may contain `unsafe`; docs/explanation/architecture.md explains why.
const UNSAFE: [&str; 13] = [
    "crates/lobcod-simd/src/",
    "crates/lobcod/src/simd/",
    "crates/lobcod/src/lasso/mod.rs",
    "crates/lobcod/benches/speed/",
    "crates/lobcod/src/engine/cpu/data/field.rs",
    "crates/lobcod/src/engine/cpu/workers/team.rs",
    "crates/lobcod/src/engine/cpu/workers/pool.rs",
    "crates/lobcod-cli/src/allocator.rs",
    "crates/lobcod-cuda/src/",
    "crates/lobcod-cuda/benches/",
    "crates/lobcod-mpi/",
    "crates/lobcod-web/src/wasm.rs",
    "xtask/src/supply.rs",
];

pub fn check() -> Result<(), String> {
    let packages = packages()?;
    let mut faults = dependencies(&packages);
    faults.extend(unsafe_places()?);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

fn packages() -> Result<Vec<Value>, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(super::root())
        .output();
    let output = output.map_err(|e| e.to_string())?;
    let mut metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err("cargo metadata reports no packages".into()),
    }
}

/// Problems with licences, sources and versions.
fn dependencies(packages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut own = 0;
    let mut names = BTreeSet::new();
    for package in packages {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let (name, licence) = (text("name"), text("license"));
        match package["source"].as_str() {
            None => own += 1,
            Some(SOURCE) => {}
            Some(other) => faults.push(format!("{name} comes from {other}, not from crates.io")),
        }
        if !allowed(licence) {
            faults.push(format!("{name} is under \"{licence}\", which is not on the list"));
        }
        names.insert(name.to_string());
    }
    let foreign = packages.len() - own;
    println!(
        "{foreign} crates of others ({} names, all platforms and tests included), {own} of our own",
        names.len() - own
    );
    faults
}

/// Whether a licence expression can be satisfied from the list.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // Brackets occur only in "(A OR B) AND C": each part of an AND needs an allowed alternative.
    expression
        .split(" AND ")
        .all(|part| part.split(" OR ").any(|licence| LICENCES.contains(&licence.trim())))
}

/// Files with `unsafe` that are not listed, and blocks without a SAFETY comment.
fn unsafe_places() -> Result<Vec<String>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "*.rs"])
        .current_dir(super::root())
        .output()
        .map_err(|e| e.to_string())?;
    let mut faults = Vec::new();
    let mut files = 0;
    let mut blocks = 0;
    for name in String::from_utf8_lossy(&listed.stdout).lines() {
        let text = fs::read_to_string(super::root().join(Path::new(name)))
            .map_err(|e| format!("{name}: {e}"))?;
        let code = |line: &str| line.split("//").next().unwrap_or_default().to_string();
        let uses = |line: &str| {
            ["unsafe {", "unsafe impl", "unsafe fn", "unsafe extern"]
                .iter()
                .any(|word| code(line).contains(word))
        };
        let count = text.lines().filter(|line| uses(line)).count();
        if count == 0 {
            continue;
        }
        (files, blocks) = (files + 1, blocks + count);
        if !UNSAFE.iter().any(|place| name.starts_with(place)) {
            faults.push(format!(
                "{name} contains unsafe code, but is not listed in xtask/src/supply.rs"
            ));
        }
    }
    println!("unsafe in {files} files, {blocks} blocks, functions and implementations");
    Ok(faults)
}

#[cfg(test)]
mod tests {
    #[test]
    fn licences_are_read_as_expressions() {
        for (expression, good) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("(MIT OR Apache-2.0) AND GPL-3.0", false),
            ("", false),
        ] {
            assert_eq!(super::allowed(expression), good, "{expression}");
        }
    }
}
