//! Numbers of bytes: printed for people, and checked against a limit.

use crate::error::{Error, Result};

/// Formats a number of bytes, for example as `"1.5 GiB"`.
pub fn words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let step = (0..UNITS.len() - 1).take_while(|&i| bytes >> (10 * (i + 1)) > 0).count();
    let value = bytes as f64 / f64::powi(1024.0, step as i32);
    if step == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[step]) }
}

/// Returns an error if more is needed than allowed.
pub fn check(needed: u64, limit: Option<u64>) -> Result<()> {
    match limit {
        Some(limit) if needed > limit => Err(Error::Limits { needed, limit }),
        _ => Ok(()),
    }
}
