//! What is said: reports on standard output, warnings on standard error.

pub mod json;
pub mod paths;
pub mod summary;
pub mod table;

use anyhow::{Result, bail};
use std::io::{ErrorKind, Write as _};

/// Writes a report to standard output, with a final line break. A reader that went away (`| head`) is no fault.
pub fn tell(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(format!("{}\n", text.trim_end()).as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => bail!("the report cannot be written to standard output ({e})"),
        _ => Ok(()),
    }
}

/// Says on standard error what was done that the user may not expect.
pub fn warn(text: &str) {
    // There is nowhere left to say that standard error is closed.
    let _ = writeln!(std::io::stderr(), "warning: {}", one_line(text));
}

/// Says on standard error how the work is done.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "note: {}", one_line(text));
}

/// Says on standard error why there is no answer. Errors name their causes themselves, so causes are not listed again.
pub fn fail(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "error: {}", one_line(&error.to_string()));
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
