//! Command lines of every command, with the options of its help and unexpected values.

use crate::bytes::Bytes;
use crate::scratch;
use lobcod::{Extent, Signal};
use lobcod_io::{Depth, WriteOptions, write_image};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const COMMANDS: [&str; 9] =
    ["encode", "learn", "inpaint", "fuse", "denoise", "separate", "compare", "decode", "show"];

/// Existing files, some with misleading names, and one that does not exist.
const FILES: [&str; 8] =
    ["a.png", "b.png", "c.png", "line.wav", "codes.npz", "a.npy", "text.png", "missing.png"];

/// Values of options.
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

/// Seconds before a run is interrupted, and then until it must have ended.
const PATIENCE: u64 = 20;

/// Input: command, files, options and values, one byte each.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let command = bytes.one_of(&COMMANDS);
    let mut line: Vec<String> = vec![command.into()];
    let files = 1 + usize::from(["fuse", "compare"].contains(&command)) + bytes.below(8) / 7;
    line.extend((0..files).map(|_| usual(&mut bytes, &["a.png", "b.png"], &FILES)));
    match command {
        "separate" => {
            line.extend(["--smooth-out", "out.png", "--texture-out", "out2.png"].map(String::from))
        }
        "learn" => line
            .extend(["-o".into(), usual(&mut bytes, &["out.npz"], &["out.png", "-", "nowhere/x"])]),
        _ => line.extend([
            "-o".into(),
            usual(&mut bytes, &["out.npz", "out.png"], &["-", "nowhere/x", "a.png", ""]),
        ]),
    }
    let options = &options()[COMMANDS.iter().position(|v| *v == command).expect("a command")];
    for _ in 0..bytes.below(5) {
        let (name, takes) = &options[bytes.below(options.len())];
        line.push(name.clone());
        if *takes {
            line.push(if bytes.byte().is_multiple_of(8) {
                bytes.one_of(&FILES).into()
            } else {
                bytes.one_of(&VALUES).into()
            });
        }
    }
    // Limit the time of most runs; a few test interruption.
    if options.iter().any(|(name, _)| name == "--time-limit") && bytes.byte() % 16 != 1 {
        line.extend(["--time-limit".into(), "1".into()]);
    }
    check(&line);
}

fn usual(bytes: &mut Bytes, likely: &[&str], other: &[&str]) -> String {
    if bytes.byte().is_multiple_of(8) {
        bytes.one_of(other).into()
    } else {
        bytes.one_of(likely).into()
    }
}

fn check(line: &[String]) {
    let folder = desk();
    for old in ["out.npz", "out.png", "out2.png"] {
        let _ = std::fs::remove_file(folder.join(old));
    }
    let output = wait(start(folder, line), line);
    let err = String::from_utf8_lossy(&output.stderr);
    let message = format!("lobcod {}: {:?}\n{err}", line.join(" "), output.status);
    match output.status.code() {
        Some(0 | 130) => {}
        Some(1) => {
            // Warnings may precede it.
            let last = err.lines().last().unwrap_or_default();
            assert!(
                last.starts_with("error: ")
                    && err.lines().filter(|l| l.starts_with("error: ")).count() == 1,
                "{message}"
            );
        }
        Some(2) => assert!(err.contains("error: "), "{message}"),
        _ => panic!("{message}"),
    }
    assert!(!err.contains("panicked"), "{message}");
    if output.status.code() == Some(0) && line.iter().any(|word| word == "--json") {
        serde_json::from_slice::<serde_json::Value>(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {message}"));
    }
}

/// Starts the program in the folder, with 4 GB of address space.
fn start(folder: &Path, line: &[String]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]).arg(program()).args(line);
    command
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Waits for the end; a slow run is interrupted, and must then end.
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
        assert!(
            signal == "-INT",
            "lobcod {} did not end {PATIENCE} s after an interrupt",
            line.join(" ")
        );
        let _ = Command::new("kill").args([signal, &id]).status();
    }
    assert!(began.elapsed().as_secs() < 3 * PATIENCE, "lobcod {} ended late", line.join(" "));
    waiting.join().expect("a thread that waits").expect("output")
}

/// The working folder of command lines.
fn desk() -> &'static Path {
    static DESK: OnceLock<PathBuf> = OnceLock::new();
    DESK.get_or_init(|| {
        let folder = scratch::folder().join("desk");
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, axes: &[usize], channels: usize, depth| {
            let extent = Extent::new(axes).expect("a shape");
            let samples = (0..extent.volume() * channels).map(|i| (i * 37 % 101) as f32).collect();
            let signal = Signal::from_planar(extent, channels, samples).expect("samples");
            write_image(
                &folder.join(name),
                &signal,
                &WriteOptions { depth, ..WriteOptions::default() },
            )
            .expect("a file");
        };
        write("a.png", &[13, 12], 1, Depth::U8);
        write("b.png", &[13, 12], 1, Depth::U16);
        write("c.png", &[13, 12], 3, Depth::U8);
        write("line.wav", &[60], 1, Depth::I16);
        write("a.npy", &[13, 12], 1, Depth::F32);
        std::fs::write(folder.join("text.png"), "no image").expect("a file");
        let line = ["encode", "a.png", "-o", "codes.npz", "--size", "3x3"].map(String::from);
        assert!(
            wait(start(&folder, &line), &line).status.success(),
            "encoding the input of other lines failed"
        );
        folder
    })
}

/// The long options of a command, and whether each takes a value, from its help.
fn options() -> &'static [Vec<(String, bool)>] {
    static OPTIONS: OnceLock<Vec<Vec<(String, bool)>>> = OnceLock::new();
    OPTIONS.get_or_init(|| COMMANDS.iter().map(|command| options_of(command)).collect())
}

fn options_of(command: &str) -> Vec<(String, bool)> {
    let output =
        Command::new(program()).args([command, "-h"]).output().expect("the program starts");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let option = |line: &str| {
        let start = line.find("--")?;
        let words = line.trim_start();
        let rest = &line[start..];
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        words.starts_with('-').then(|| (rest[..end].to_string(), rest[end..].starts_with(" <")))
    };
    // Skip help.
    let found: Vec<_> =
        help.lines().filter_map(option).filter(|(name, _)| name != "--help").collect();
    assert!(found.len() > 3, "the help of {command} names no options:\n{help}");
    found
}

/// The program: `$LOBCOD_BIN`, or the one built next to this crate.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
        let named = std::env::var_os("LOBCOD_BIN").map(PathBuf::from);
        let places = named
            .into_iter()
            .chain(["release", "debug"].map(|profile| built.join(profile).join("lobcod")));
        let there = places.filter_map(|place| place.canonicalize().ok()).next();
        there.expect("lobcod is built: cargo build --release, or set LOBCOD_BIN")
    })
}
