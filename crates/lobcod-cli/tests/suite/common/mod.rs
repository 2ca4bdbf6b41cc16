//! Test support: a temporary folder, synthetic images and the program itself.

pub mod browser;

use lobcod::{Extent, Signal};
use lobcod_io::{Depth, WriteOptions, write_image};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with images, in which the program runs.
pub struct Desk {
    folder: TempDir,
}

impl Desk {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes an image with stripes and shading; images differ in `phase`.
    pub fn image(&self, name: &str, axes: &[usize], channels: usize, phase: f32) -> Signal<f32> {
        let signal = texture(axes, channels, phase);
        self.write(name, &signal, Depth::U8);
        signal
    }

    /// Writes a signal.
    pub fn write(&self, name: &str, signal: &Signal<f32>, depth: Depth) {
        write_image(&self.path(name), signal, &WriteOptions { depth, ..WriteOptions::default() })
            .unwrap();
    }

    /// Writes a mask that is 0 at every eleventh pixel and 255 elsewhere.
    pub fn mask(&self, name: &str, axes: &[usize]) {
        let extent = Extent::new(axes).unwrap();
        let samples = (0..extent.volume()).map(|i| if i % 11 == 0 { 0.0 } else { 255.0 }).collect();
        self.write(name, &Signal::from_planar(extent, 1, samples).unwrap(), Depth::U8);
    }

    /// Writes plain bytes.
    pub fn bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Runs the program with `--json`, interrupts it once it has created the file `name`, and
    /// returns its report.
    #[cfg(unix)]
    pub fn interrupt_after(&self, name: &str, line: &str) -> Value {
        let report: Value =
            serde_json::from_slice(&self.break_off(line, |_| self.path(name).exists()).stdout)
                .unwrap();
        assert_eq!(report["status"], "interrupted");
        report
    }

    /// Runs the program with `--json` and interrupts it when it is due; returns its output.
    #[cfg(unix)]
    pub fn break_off(&self, line: &str, due: impl Fn(Duration) -> bool) -> Output {
        let child = self
            .command(&format!("{line} --json"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while !due(began.elapsed()) {
            assert!(began.elapsed().as_secs() < 120, "lobcod {line} never came so far");
            std::thread::sleep(Duration::from_millis(5));
        }
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "lobcod {line}");
        output
    }

    /// The program, set up to run in the folder.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lobcod"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env("RUST_BACKTRACE", "1");
        command
    }

    /// Runs the program to completion.
    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs the program, which must succeed and print nothing on standard error; returns its
    /// standard output.
    pub fn succeed(&self, line: &str) -> String {
        let output = self.run(line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(
            output.status.success() && err.is_empty(),
            "lobcod {line}: {:?}\n{out}\n{err}",
            output.status
        );
        out
    }

    /// Runs the program with `--json` and reads its report.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.succeed(&format!("{line} --json"))).unwrap()
    }

    /// Names of all files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Stripes on a gradient, integers from 0 to 255.
pub fn texture(axes: &[usize], channels: usize, phase: f32) -> Signal<f32> {
    let extent = Extent::new(axes).unwrap();
    let width = axes[axes.len() - 1];
    let value = |i: usize| {
        let (x, y) = ((i % width) as f32, (i / width) as f32);
        let stripes = (0.9 * x + 0.35 * y + phase).sin()
            * if (x as usize / 9 + y as usize / 7).is_multiple_of(2) { 60.0 } else { 12.0 };
        (120.0 + stripes + 40.0 * (0.07 * (x - y)).cos()).round().clamp(0.0, 255.0)
    };
    Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(value).collect())
        .unwrap()
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A number in a report.
pub fn number(report: &Value, name: &str) -> f64 {
    report[name].as_f64().unwrap_or_else(|| panic!("{name} is {}", report[name]))
}

/// Whether two numbers agree to a relative error.
pub fn near(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs())
}
