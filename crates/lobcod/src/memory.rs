//! Memory in words, and within limits.

use crate::error::{Error, Result};

/// `"1.5 GiB"`: a number of bytes for people.
pub fn words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let step = (0..UNITS.len() - 1).take_while(|&i| bytes >> (10 * (i + 1)) > 0).count();
    let value = bytes as f64 / f64::powi(1024.0, step as i32);
    if step == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[step]) }
}

/// Error if more is needed than allowed.
pub(crate) fn check(needed: u64, limit: Option<u64>) -> Result<()> {
    match limit {
        Some(limit) if needed > limit => Err(Error::Limits { needed, limit }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_become_words() {
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 30, "3.0 GiB"), (1 << 50, "1024.0 TiB")] {
            assert_eq!(super::words(bytes), text);
        }
    }
}
