//! Files that are written whole or not at all.

use crate::error::{Error, Result};
use atomic_write_file::AtomicWriteFile;
use std::fs;
use std::io::{ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name.
///
/// A link is followed; a device or pipe (`/dev/null`) is written straight, for it must not be replaced.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let (target, special) = target(path)?;
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

/// Writes a file whole or not at all, by a function that is free to go back in it. What goes to a device or pipe waits on disk until it is whole.
pub(crate) fn write_atomically_with<E: From<std::io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut fs::File) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let (target, special) = target(path).map_err(std::io::Error::other)?;
    if special {
        let mut file = tempfile::tempfile()?;
        write(&mut file)?;
        file.rewind()?;
        std::io::copy(&mut file, &mut fs::OpenOptions::new().write(true).open(&target)?)?;
        return Ok(());
    }
    let mut file = AtomicWriteFile::open(&target)?;
    write(file.as_file_mut())?;
    Ok(file.commit()?)
}

/// Error if a file of this name could not be written: no such folder, a folder of that name, a protected file, or a folder in
/// which no file can be made.
///
/// Worth asking before long work whose answer goes there.
pub fn check_writable(path: &Path) -> Result<()> {
    let (target, special) = target(path)?;
    if !special {
        // Permissions do not tell all (read-only disks, full tables of files), so a file is begun, and dropped.
        AtomicWriteFile::open(&target).and_then(AtomicWriteFile::discard).map_err(|source| Error::write(path, source))?;
    }
    Ok(())
}

/// The file that a path leads to, and whether it is a device or pipe.
fn target(path: &Path) -> Result<(PathBuf, bool)> {
    let refused = |kind: ErrorKind| Err(Error::write(path, kind.into()));
    let special = match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return refused(ErrorKind::IsADirectory),
        // Renaming replaces a protected file without asking, so the question is asked here.
        Ok(meta) if meta.permissions().readonly() => return refused(ErrorKind::PermissionDenied),
        Ok(meta) => !meta.is_file(),
        Err(_) => false,
    };
    if !has_folder(path) {
        return refused(ErrorKind::NotFound);
    }
    Ok((fs::canonicalize(path).unwrap_or_else(|_| path.into()), special))
}

/// Whether the folder of a file is there.
pub(crate) fn has_folder(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}
