//! What is said: reports on standard output, warnings on standard error.

pub mod json;
pub mod paths;
pub mod summary;
pub mod table;
pub mod warnings;

use anyhow::{Result, bail};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::time::Instant;

/// When the log began; unset where none was asked for.
static LOG: OnceLock<Instant> = OnceLock::new();

/// Writes a report to standard output, with a final line break. A reader that went away (`| head`) is no fault.
pub fn tell(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(format!("{}\n", text.trim_end()).as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => bail!("the report cannot be written to standard output ({e})"),
        _ => Ok(()),
    }
}

/// Says on standard error what was done that the user may not expect.
pub fn warn(text: &str) {
    say(YELLOW, "warning", text);
}

/// Says on standard error why there is no answer. Errors name their causes themselves, so causes are not listed again.
pub fn fail(error: &anyhow::Error) {
    say(RED, "error", &error.to_string());
}

/// Says on standard error what is happening.
pub fn note(text: &str) {
    say(PLAIN, "note", text);
}

/// Starts the log of `-v`.
pub fn start_log() {
    LOG.get_or_init(Instant::now);
}

/// Adds a line to the log on standard error, if one is kept.
pub fn log(text: impl FnOnce() -> String) {
    if let Some(start) = LOG.get() {
        let _ = writeln!(std::io::stderr(), "[{:9.3} s] {}", start.elapsed().as_secs_f64(), text());
    }
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const PLAIN: &str = "1";

fn say(colour: &str, kind: &str, text: &str) {
    let kind = if is_coloured() { format!("\x1b[{colour}m{kind}:\x1b[0m") } else { format!("{kind}:") };
    // There is nowhere left to say that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{kind} {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
}

/// Whether colours are wanted on standard error: on a terminal that has them, unless NO_COLOR is set.
pub fn is_coloured() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
