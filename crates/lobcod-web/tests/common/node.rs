//! The WebAssembly module under Node.

use super::Events;
use lobcod_web::page;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs a request in the module; its events, and the seconds it took. `None`, with a word, where
/// there is no module or no Node.
pub fn run(request: &[u8]) -> Option<(Events, f64)> {
    let Some(module) = page::file(page::MODULE) else {
        println!("skipped: the module is not built; cargo xtask studio builds it");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(page::MODULE);
    std::fs::write(&file, module).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run.mjs");
    let node = Command::new("node")
        .args([script.as_ref(), file.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut node) = node else {
        println!("skipped: there is no node");
        return None;
    };
    node.stdin.take().unwrap().write_all(request).unwrap();
    let output = node.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let mut events = Events::default();
    let mut stream = &output.stdout[..];
    while let Some((length, rest)) = stream.split_first_chunk() {
        let (event, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        events.messages.push(event.to_vec());
        stream = rest;
    }
    Some((events, words.trim().parse().unwrap()))
}
