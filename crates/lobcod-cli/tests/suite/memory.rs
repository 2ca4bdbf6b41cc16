//! `--max-memory`: the process stays within the limit, or the work is refused with a message that
//! states the requirement.

#![cfg(target_os = "linux")]

use crate::common::{Desk, number, text};
use lobcod::{Extent, Signal};
use lobcod_io::Depth;

const MIB: f64 = 1048576.0;
/// Tolerated overrun of a limit; a debug build is larger by this much.
const SLACK: f64 = 0.1;
const DEBUGGING: f64 = if cfg!(debug_assertions) { 10.0 * MIB } else { 0.0 };

/// Every kind of task, and its output.
const LINES: [(&str, &str); 11] = [
    ("encode a.png -o out.npz", "out.npz"),
    ("encode c.png -o out.npz --precision f64", "out.npz"),
    ("encode a.npy -o out.npz --holes holes.png --base none", "out.npz"),
    ("encode a.png -o out.npz --holes holes.png --base smooth", "out.npz"),
    ("encode a.png -o out.npz --reference b.png", "out.npz"),
    ("fuse a.png b.png -o out.png --fast --report out.html", "out.png"),
    ("learn a.png -o out.npz --atoms 8 --size 5x5 --passes 1", "out.npz"),
    ("denoise c.png -o out.png --noise gaussian:9 --keep-atoms", "out.png"),
    ("separate a.png --smooth-out out.png --texture-out texture.png --alternations 1", "out.png"),
    ("fuse a.png b.png -o out.png --fast", "out.png"),
    ("inpaint a.png -o out.png --holes holes.png --preset fast --penalty 9", "out.png"),
];

#[test]
fn the_process_stays_within_the_limit_or_the_work_is_refused() {
    let desk = Desk::new();
    desk.image("a.png", &[220, 240], 1, 0.0);
    desk.image("b.png", &[220, 240], 1, 0.4);
    desk.image("a.npy", &[220, 240], 1, 0.0);
    desk.image("c.png", &[200, 180], 3, 0.0);
    let extent = Extent::new(&[220, 240]).unwrap();
    let hole = |i: usize| if i.is_multiple_of(5) { 255.0 } else { 0.0 };
    desk.write(
        "holes.png",
        &Signal::from_planar(extent, 1, (0..extent.volume()).map(hole).collect()).unwrap(),
        Depth::U8,
    );
    for (line, name) in LINES {
        // The command-line arguments themselves take some memory.
        let need = number(&desk.json(&format!("{line} --threads 1 --dry-run")), "memory_bytes")
            .ceil()
            + 65536.0;
        let report = desk.json(&format!("{line} --threads 1 --max-memory {need}"));
        let peak = number(&report, "peak_memory_bytes");
        assert!(
            peak <= (1.0 + SLACK) * need + DEBUGGING,
            "{line}: {:.1} MiB of {:.1}",
            peak / MIB,
            need / MIB
        );
        assert!(peak >= 0.5 * need, "{line}: {:.1} MiB of {:.1}", peak / MIB, need / MIB);
        std::fs::remove_file(desk.path(name)).unwrap();
        for share in [0.95, 0.5] {
            let limit = (share * need).floor();
            let output = desk.run(&format!("{line} --threads 1 --json --max-memory {limit}"));
            let err = text(&output.stderr);
            if line.starts_with("inpaint") && output.status.success() {
                // It was filled in groups of windows.
                let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                let peak = number(&report, "peak_memory_bytes");
                assert!(peak <= (1.0 + SLACK) * limit + DEBUGGING, "{line}: {peak} of {limit}");
                std::fs::remove_file(desk.path(name)).unwrap();
                continue;
            }
            assert_eq!(output.status.code(), Some(1), "{line}: {err}");
            assert!(
                err.lines().count() == 1 && err.contains("needs") && err.contains("limit"),
                "{line}: {err}"
            );
            assert!(!desk.path(name).exists(), "{line}");
        }
    }
}

#[test]
fn any_limit_is_accepted() {
    let desk = Desk::new();
    desk.image("a.png", &[20, 24], 1, 0.0);
    for limit in ["18446744073709551616", "18446744073709551615", "99999999999999999999999G"] {
        let output = desk.run(&format!("encode a.png -o out.npz --max-memory {limit}"));
        assert_eq!(output.status.code(), Some(0), "{limit}: {}", text(&output.stderr));
    }
}

#[test]
fn a_mask_that_does_not_fit_is_refused_by_its_header() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 40], 1, 0.0);
    let extent = Extent::new(&[3000, 2000]).unwrap();
    let mask = Signal::from_planar(extent, 1, vec![255.0; extent.volume()]).unwrap();
    desk.write("mask.png", &mask, Depth::U8);
    for option in ["--holes", "--known", "--penalty-map"] {
        let output = desk.run(&format!(
            "encode a.png -o out.npz --threads 1 {option} mask.png --max-memory 40M"
        ));
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{option}: {err}");
        assert!(
            err.lines().count() == 1
                && err.contains("mask.png needs about")
                && err.contains("the limit is 40"),
            "{err}"
        );
    }
    assert_eq!(desk.files(), ["a.png", "mask.png"]);
}

#[test]
fn codes_denser_than_estimated_end_the_run() {
    let desk = Desk::new();
    let extent = Extent::new(&[300, 300]).unwrap();
    let noise = |i: usize| ((i * 7919) % 6007 * 31 % 255) as f32;
    desk.write(
        "a.png",
        &Signal::from_planar(extent, 1, (0..extent.volume()).map(noise).collect()).unwrap(),
        Depth::U8,
    );
    desk.bytes("out.npz", b"an older file");
    let line =
        "encode a.png -o out.npz --threads 1 --base none --relative-penalty 1e-4 --max-sweeps 4";
    let need = number(&desk.json(&format!("{line} --dry-run")), "memory_bytes").ceil() + 65536.0;
    let output = desk.run(&format!("{line} --max-memory {need}"));
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.lines().count() == 1 && err.starts_with("error: more than the limit of"), "{err}");
    assert_eq!(std::fs::read(desk.path("out.npz")).unwrap(), b"an older file");
    assert_eq!(desk.files(), ["a.png", "out.npz"]);
}
