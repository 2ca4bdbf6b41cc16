//! Atomic writing of files.

use crate::error::{Error, Result};
use crate::zarr::is_zarr;
use atomic_write_file::AtomicWriteFile;
use std::fs;
use std::io::{ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// Writes a file atomically: to a temporary file next to it, which is then renamed.
///
/// Symbolic links are followed. Devices and pipes (`/dev/null`) are written directly, because they
/// must not be replaced.
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

/// Writes a file atomically, with a function that may seek in it. Output to a device or pipe is
/// buffered on disk until it is complete.
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

/// Error if this file could not be written: its folder does not exist, it is a folder itself (other
/// than a Zarr folder, which is replaced as a whole), it is
/// protected, or no file can be created in its folder.
///
/// Call it before long work whose result is written there.
pub fn check_writable(path: &Path) -> Result<()> {
    crate::zarr::check_supported(path)?;
    if is_zarr(path) {
        return Ok(());
    }
    let (target, special) = target(path)?;
    if !special {
        // Permissions are not sufficient (read-only disks, no free inodes), so a file is created
        // and removed.
        AtomicWriteFile::open(&target)
            .and_then(AtomicWriteFile::discard)
            .map_err(|source| Error::write(path, source))?;
    }
    Ok(())
}

/// The file a path resolves to, and whether it is a device or pipe.
fn target(path: &Path) -> Result<(PathBuf, bool)> {
    let refused = |kind: ErrorKind| Err(Error::write(path, kind.into()));
    let special = match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return refused(ErrorKind::IsADirectory),
        // Renaming would replace a protected file, so permissions are checked here.
        Ok(meta) if meta.permissions().readonly() => return refused(ErrorKind::PermissionDenied),
        Ok(meta) => !meta.is_file(),
        Err(_) => false,
    };
    if !has_folder(path) {
        return refused(ErrorKind::NotFound);
    }
    Ok((fs::canonicalize(path).unwrap_or_else(|_| path.into()), special))
}

/// Whether the folder of a file exists.
pub(crate) fn has_folder(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}
