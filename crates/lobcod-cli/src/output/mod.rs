//! Console output: reports on standard output, messages on standard error.

pub mod paths;
pub mod summary;
pub mod table;
pub mod warnings;

use anyhow::{Result, bail};
use lobcod::run::Clock;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Start time of the log; unset if there is none.
static LOG: OnceLock<Clock> = OnceLock::new();

/// Set where `--quiet` was given.
static QUIET: OnceLock<()> = OnceLock::new();

/// Suppresses warnings from now on.
pub fn be_quiet() {
    QUIET.get_or_init(|| ());
}

/// Writes a report to standard output, with a final newline. A closed pipe (`| head`) is not an
/// error.
pub fn print(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(format!("{}\n", text.trim_end()).as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            bail!("the report cannot be written to standard output ({e})")
        }
        _ => Ok(()),
    }
}

/// Prints a warning to standard error, once per text; nothing with `--quiet`.
pub fn warn(text: &str) {
    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if QUIET.get().is_none() && !printed.iter().any(|old| old == text) {
        printed.push(text.into());
        print_message(YELLOW, "warning", text);
    }
}

/// Prints an error to standard error. Errors include their causes, so causes are not listed again.
pub fn fail(error: &anyhow::Error) {
    print_message(RED, "error", &error.to_string());
}

/// Prints a note to standard error.
pub fn note(text: &str) {
    print_message(PLAIN, "note", text);
}

/// Starts the log of `-v`.
pub fn start_log() {
    LOG.get_or_init(Clock::start);
}

/// Adds a line to the log on standard error, if enabled.
pub fn log(text: impl FnOnce() -> String) {
    if let Some(start) = LOG.get() {
        let _ = writeln!(std::io::stderr(), "[{:9.3} s] {}", start.elapsed().as_secs_f64(), text());
    }
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const PLAIN: &str = "1";

fn print_message(colour: &str, kind: &str, text: &str) {
    let kind =
        if is_coloured() { format!("\x1b[{colour}m{kind}:\x1b[0m") } else { format!("{kind}:") };
    // There is nowhere to report that standard error is closed.
    let _ = writeln!(
        std::io::stderr(),
        "{kind} {}",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    );
}

/// Whether to use colours on standard error: on a terminal that supports them, unless NO_COLOR is
/// set.
pub fn is_coloured() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
