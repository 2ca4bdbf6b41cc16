//! Files that claim to be huge are refused by their headers, with one sentence, before anything is
//! decoded.

use crate::common::{Desk, text};
use std::process::{Command, Output};

/// Every kind of task on `a`; commands with two inputs also read `b`.
const LINES: [&str; 6] = [
    "denoise a -o out.png --noise gaussian:9",
    "encode a -o out.npz",
    "inpaint a -o out.png",
    "separate a --smooth-out out.png --texture-out t.png",
    "fuse a b -o out.png",
    "learn a -o out.npz --atoms 4",
];

/// An 8-bit greyscale PNG with a valid header and meaningless content.
fn png(width: u32, height: u32, content: usize) -> Vec<u8> {
    let chunk = |name: &[u8; 4], data: &[u8]| {
        let body = [name, data].concat();
        [&(data.len() as u32).to_be_bytes()[..], &body, &checksum(&body).to_be_bytes()].concat()
    };
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let noise: Vec<u8> = (0..content).map(|i| (i * 7919 % 251) as u8).collect();
    let chunks = [chunk(b"IHDR", &header), chunk(b"IDAT", &noise), chunk(b"IEND", &[])].concat();
    [b"\x89PNG\r\n\x1a\n", &chunks[..]].concat()
}

/// The CRC-32 that PNG uses.
fn checksum(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

fn refused(line: &str, output: &Output, words: &[&str]) {
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "lobcod {line}: {err}");
    assert_eq!(err.lines().count(), 1, "lobcod {line}: {err}");
    for word in words {
        assert!(err.contains(word), "lobcod {line}: no {word} in {err}");
    }
}

#[test]
fn a_header_larger_than_the_file_is_refused() {
    let desk = Desk::new();
    desk.image("small.jpg", &[40, 48], 1, 0.0);
    let mut jpeg = std::fs::read(desk.path("small.jpg")).unwrap();
    let frame = jpeg.windows(4).position(|w| w[..2] == [0xff, 0xc0] && w[2] == 0).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    assert!(jpeg.len() < 4096);
    desk.bytes("a", &jpeg);
    desk.bytes("b", &jpeg);
    for line in LINES.iter().copied().chain(["compare a b", "denoise a -o never.png --dry-run"]) {
        refused(line, &desk.run(line), &["a is damaged", "declares", "the file has"]);
    }
    assert_eq!(desk.files(), ["a", "b", "small.jpg"]);
}

#[test]
fn the_estimate_is_compared_with_the_limit_before_decoding() {
    let desk = Desk::new();
    desk.bytes("a", &png(4000, 4000, 1 << 16));
    desk.bytes("b", &png(4000, 4000, 1 << 16));
    for line in LINES {
        // The samples alone would fit.
        let small = format!("{line} --max-memory 100M --threads 1");
        refused(&small, &desk.run(&small), &["a: ", "needs about", "the limit is 100"]);
        // With enough memory the damage is found.
        let large = format!("{line} --max-memory 200G --threads 1");
        refused(&large, &desk.run(&large), &["a is damaged"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_default_limit_is_most_of_the_free_memory() {
    let desk = Desk::new();
    desk.bytes("a", &png(6000, 6000, 1 << 16));
    desk.bytes("b", &png(6000, 6000, 1 << 16));
    let run = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 500000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_lobcod")]);
        command.args(line.split(' ')).current_dir(desk.path(".")).output().unwrap()
    };
    for line in
        ["denoise a -o out.png --noise gaussian:9", "encode a -o out.npz", "inpaint a -o out.png"]
    {
        refused(
            line,
            &run(&format!("{line} --threads 1")),
            &["a: ", "needs about", "the limit is"],
        );
        let raised = format!("{line} --threads 1 --max-memory 200G");
        refused(&raised, &run(&raised), &["a is damaged"]);
    }
    refused("compare a b", &run("compare a b"), &["a: ", "needs about"]);
}

#[test]
fn references_and_frames_of_another_size_are_not_decoded() {
    let desk = Desk::new();
    desk.image("photo.png", &[40, 48], 1, 0.0);
    desk.bytes("other.png", &png(4000, 3000, 1 << 16));
    for line in [
        "denoise photo.png -o out.png --noise gaussian:9 --reference other.png",
        "inpaint photo.png -o out.png --reference other.png",
        "encode photo.png --reference other.png",
        "fuse photo.png other.png -o out.png",
        "compare photo.png other.png",
    ] {
        refused(line, &desk.run(line), &["other.png", "4000x3000", "48x40"]);
    }
}
