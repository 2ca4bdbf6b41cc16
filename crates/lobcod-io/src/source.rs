//! Reading of files within a memory limit.

use crate::error::{Error, Result};
use crate::free_memory::free_memory;
use lobcod::Real;
use lobcod::memory::words;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Default limit on the samples of one file in bytes: 16 GiB, or half of the free memory if that is
/// less.
pub const DEFAULT_MAX_BYTES: u64 = 16 << 30;

/// [`DEFAULT_MAX_BYTES`], or half of the free memory if that is less: a small file can expand a
/// lot.
fn usual_limit() -> u64 {
    free_memory().map_or(DEFAULT_MAX_BYTES, |free| DEFAULT_MAX_BYTES.min(free / 2))
}

/// The memory limit of a file.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    bytes: u64,
    sample: u64,
}

impl Allowance {
    /// For samples of type `T`.
    pub(crate) fn new<T: Real>(max_bytes: Option<u64>) -> Self {
        Self { bytes: max_bytes.unwrap_or_else(usual_limit), sample: size_of::<T>() as u64 }
    }

    /// Error if an array of this shape is too large as type `T`.
    pub(crate) fn check(self, path: &Path, shape: &[usize]) -> Result<()> {
        let needed = shape.iter().fold(self.sample, |n, &axis| n.saturating_mul(axis as u64));
        self.check_bytes(path, needed, self.bytes)
    }

    /// Limit on the stored size of a file or array: `f64` on disk may become `f32`, and there are
    /// headers.
    pub(crate) fn on_disk(self) -> u64 {
        self.bytes.saturating_mul(2).saturating_add(1 << 16)
    }

    fn check_bytes(self, path: &Path, needed: u64, allowed: u64) -> Result<()> {
        if needed > allowed {
            return Err(Error::Limits { path: path.into(), needed, limit: self.bytes });
        }
        Ok(())
    }
}

/// Error if a header declares more bytes than a file of this length can contain, if each byte
/// expands to at most `most`.
pub(crate) fn check_promise(path: &Path, promised: u64, length: u64, most: u64) -> Result<()> {
    if promised > length.saturating_mul(most) {
        let (promised, length) = (words(promised), words(length));
        let reason = format!(
            "is damaged: its header declares {promised} of samples, but the file has {length}"
        );
        return Err(Error::format(path, format!("{reason}; copy or recreate the file")));
    }
    Ok(())
}

/// The name for standard input and output; a file of that name is `./-`.
pub(crate) const STANDARD: &str = "-";

/// The bytes of a file or of standard input, within the limit.
pub(crate) fn load(path: &Path, allowance: Allowance) -> Result<Vec<u8>> {
    let failed = |source| Error::read(path, source);
    if path.as_os_str() == STANDARD {
        return standard_input(allowance);
    }
    let file = File::open(path).map_err(failed)?;
    let limit = allowance.on_disk();
    allowance.check_bytes(path, file.metadata().map_err(failed)?.len(), limit)?;
    // Pipes and devices have no length, so reading is limited too.
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    allowance.check_bytes(path, bytes.len() as u64, limit)?;
    Ok(bytes)
}

/// All of standard input, kept because images are read more than once when memory is short.
fn standard_input(allowance: Allowance) -> Result<Vec<u8>> {
    static KEPT: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let path = Path::new(STANDARD);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = &*kept {
        return Ok(bytes.clone());
    }
    let (limit, mut bytes) = (allowance.on_disk(), Vec::new());
    let input = std::io::stdin().lock();
    input
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::read(path, source))?;
    allowance.check_bytes(path, bytes.len() as u64, limit)?;
    *kept = Some(bytes.clone());
    Ok(bytes)
}
