//! Command lines of every verb, with the options its help names and values that nobody expects.

use crate::bytes::Bytes;
use crate::scratch;
use lobcod::{Extent, Signal};
use lobcod_image::{Depth, WriteOptions, write_picture};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const VERBS: [&str; 9] = ["encode", "learn", "inpaint", "fuse", "denoise", "separate", "compare", "decode", "show"];

/// Files that are there, some that are not what their names say, and one that is not there.
const FILES: [&str; 8] = ["a.png", "b.png", "c.png", "line.wav", "codes.npz", "a.npy", "text.png", "missing.png"];

/// Values that options are given.
const VALUES: [&str; 44] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-0",
    "0.5",
    "1e-12",
    "1e12",
    "1e-320",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "255",
    "65535",
    "65536",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1x1",
    "8x8",
    "5x5x5",
    "3",
    "100000x100000",
    "4294967295x4294967295x2",
    "free",
    "periodic",
    "zero",
    "hw",
    "hwc",
    "dhw",
    "t",
    "smooth:1",
    "none",
    "auto",
    "64K",
    "1G",
    "gaussian:9",
    "impulse",
    "f64",
    "",
    "ä€\u{1F980}",
];

/// Seconds that a run has before it is interrupted, and then to end.
const PATIENCE: u64 = 20;

/// Input: verb, files, options and values, one byte each.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let verb = bytes.one_of(&VERBS);
    let mut line: Vec<String> = vec![verb.into()];
    let files = 1 + usize::from(["fuse", "compare"].contains(&verb)) + bytes.below(8) / 7;
    line.extend((0..files).map(|_| usual(&mut bytes, &["a.png", "b.png"], &FILES)));
    match verb {
        "separate" => line.extend(["--smooth-out", "out.png", "--texture-out", "out2.png"].map(String::from)),
        "learn" => line.extend(["-o".into(), usual(&mut bytes, &["out.npz"], &["out.png", "-", "nowhere/x"])]),
        _ => line.extend(["-o".into(), usual(&mut bytes, &["out.npz", "out.png"], &["-", "nowhere/x", "a.png", ""])]),
    }
    let options = &options()[VERBS.iter().position(|v| *v == verb).expect("a verb")];
    for _ in 0..bytes.below(5) {
        let (name, takes) = &options[bytes.below(options.len())];
        line.push(name.clone());
        if *takes {
            line.push(if bytes.byte().is_multiple_of(8) { bytes.one_of(&FILES).into() } else { bytes.one_of(&VALUES).into() });
        }
    }
    // Nothing may take long, so most lines say so; a few show what an interrupt does.
    if options.iter().any(|(name, _)| name == "--time-limit") && bytes.byte() % 16 != 1 {
        line.extend(["--time-limit".into(), "1".into()]);
    }
    check(&line);
}

fn usual(bytes: &mut Bytes, likely: &[&str], other: &[&str]) -> String {
    if bytes.byte().is_multiple_of(8) { bytes.one_of(other).into() } else { bytes.one_of(likely).into() }
}

fn check(line: &[String]) {
    let folder = desk();
    for old in ["out.npz", "out.png", "out2.png"] {
        let _ = std::fs::remove_file(folder.join(old));
    }
    let output = wait(start(folder, line), line);
    let err = String::from_utf8_lossy(&output.stderr);
    let told = format!("lobcod {}: {:?}\n{err}", line.join(" "), output.status);
    match output.status.code() {
        Some(0 | 130) => {}
        Some(1) => {
            // Warnings may stand before it.
            let last = err.lines().last().unwrap_or_default();
            assert!(last.starts_with("error: ") && err.lines().filter(|l| l.starts_with("error: ")).count() == 1, "{told}");
        }
        Some(2) => assert!(err.contains("error: "), "{told}"),
        _ => panic!("{told}"),
    }
    assert!(!err.contains("panicked"), "{told}");
    if output.status.code() == Some(0) && line.iter().any(|word| word == "--json") {
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap_or_else(|e| panic!("{e}: {told}"));
    }
}

/// The program in the folder, with 4 GB of addresses.
fn start(folder: &Path, line: &[String]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]).arg(program()).args(line);
    command.current_dir(folder).env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// What it ends with; one that takes long is interrupted, and must then end.
fn wait(child: Child, line: &[String]) -> Output {
    let id = child.id().to_string();
    let (done, ended) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let output = child.wait_with_output();
        let _ = done.send(());
        output
    });
    let began = Instant::now();
    for signal in ["-INT", "-KILL"] {
        if ended.recv_timeout(Duration::from_secs(PATIENCE)).is_ok() {
            break;
        }
        assert!(signal == "-INT", "lobcod {} did not end {PATIENCE} s after an interrupt", line.join(" "));
        let _ = Command::new("kill").args([signal, &id]).status();
    }
    assert!(began.elapsed().as_secs() < 3 * PATIENCE, "lobcod {} ended late", line.join(" "));
    waiting.join().expect("a thread that waits").expect("output")
}

/// The folder in which lines run.
fn desk() -> &'static Path {
    static DESK: OnceLock<PathBuf> = OnceLock::new();
    DESK.get_or_init(|| {
        let folder = scratch::folder().join("desk");
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, axes: &[usize], channels: usize, depth| {
            let extent = Extent::new(axes).expect("a shape");
            let samples = (0..extent.volume() * channels).map(|i| (i * 37 % 101) as f32).collect();
            let signal = Signal::from_planar(extent, channels, samples).expect("samples");
            write_picture(&folder.join(name), &signal, &WriteOptions { depth, ..WriteOptions::default() }).expect("a file");
        };
        write("a.png", &[13, 12], 1, Depth::U8);
        write("b.png", &[13, 12], 1, Depth::U16);
        write("c.png", &[13, 12], 3, Depth::U8);
        write("line.wav", &[60], 1, Depth::I16);
        write("a.npy", &[13, 12], 1, Depth::F32);
        std::fs::write(folder.join("text.png"), "no picture").expect("a file");
        let line = ["encode", "a.png", "-o", "codes.npz", "--size", "3x3"].map(String::from);
        assert!(wait(start(&folder, &line), &line).status.success(), "codes for other lines");
        folder
    })
}

/// Names of a verb's long options, and whether each takes a value, as its help tells.
fn options() -> &'static [Vec<(String, bool)>] {
    static OPTIONS: OnceLock<Vec<Vec<(String, bool)>>> = OnceLock::new();
    OPTIONS.get_or_init(|| VERBS.iter().map(|verb| options_of(verb)).collect())
}

fn options_of(verb: &str) -> Vec<(String, bool)> {
    let output = Command::new(program()).args([verb, "-h"]).output().expect("the program starts");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let option = |line: &str| {
        let start = line.find("--")?;
        let words = line.trim_start();
        let rest = &line[start..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        words.starts_with('-').then(|| (rest[..end].to_string(), rest[end..].starts_with(" <")))
    };
    // Help is not an answer.
    let found: Vec<_> = help.lines().filter_map(option).filter(|(name, _)| name != "--help").collect();
    assert!(found.len() > 3, "the help of {verb} names no options:\n{help}");
    found
}

/// The program: `$LOBCOD_BIN`, or the one built beside this crate.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
        let named = std::env::var_os("LOBCOD_BIN").map(PathBuf::from);
        let places = named.into_iter().chain(["release", "debug"].map(|profile| built.join(profile).join("lobcod")));
        let there = places.filter_map(|place| place.canonicalize().ok()).next();
        there.expect("a built lobcod: cargo build --release, or name one by LOBCOD_BIN")
    })
}
