//! Files that are written whole or not at all.

use crate::error::{Error, Result};
use atomic_write_file::AtomicWriteFile;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name.
///
/// A link is followed; a device or pipe (`/dev/null`) is written straight, for it must not be replaced.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    check_writable(path)?;
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let special = fs::metadata(&target).is_ok_and(|m| !m.is_file());
    let written = if special {
        fs::OpenOptions::new().write(true).open(&target).and_then(|mut file| file.write_all(bytes))
    } else {
        AtomicWriteFile::open(&target).and_then(|mut file| {
            file.write_all(bytes)?;
            file.commit()
        })
    };
    written.map_err(|source| Error::write(path, source))
}

/// Error if a file of this name could not be written: no such folder, a folder of that name, or a protected file.
///
/// Worth asking before long work whose answer goes there.
pub fn check_writable(path: &Path) -> Result<()> {
    let refused = |kind: ErrorKind| Err(Error::write(path, kind.into()));
    // Renaming replaces a protected file without asking, so the question is asked here.
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return refused(ErrorKind::IsADirectory),
        Ok(meta) if meta.permissions().readonly() => return refused(ErrorKind::PermissionDenied),
        _ => {}
    }
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() || folder.is_dir() => Ok(()),
        _ => refused(ErrorKind::NotFound),
    }
}
