//! Many concurrent processes on few cores: all end with the same result.
//!
//! `LOBCOD_CROWD=64` (`cargo xtask long`) sets the number of processes.

use crate::common::Desk;
use std::fs;
use std::process::Stdio;

#[test]
fn concurrent_processes_give_the_same_result() {
    let desk = Desk::new();
    desk.image("a.png", &[60, 70], 1, 0.0);
    let count = std::env::var("LOBCOD_CROWD").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let line = "encode a.png --relative-penalty 0.05 --quiet";
    desk.succeed(&format!("{line} -o alone.npz"));
    let start = |i: usize| {
        desk.command(&format!("{line} -o {i}.npz")).stdout(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..count).map(start).collect();
    let alone = fs::read(desk.path("alone.npz")).unwrap();
    for (i, mut child) in children.into_iter().enumerate() {
        assert!(child.wait().unwrap().success(), "process {i} failed");
        assert!(
            fs::read(desk.path(&format!("{i}.npz"))).unwrap() == alone,
            "process {i} gave a different result"
        );
    }
    println!("{count} processes ended");
}
