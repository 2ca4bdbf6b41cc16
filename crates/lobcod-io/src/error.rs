//! Errors of file access, by cause.

use crate::atomic::has_folder;
use lobcod::memory::words;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

/// A one-sentence error that names the file, the problem and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error of the operating system.
    #[error("{}", io_sentence(.path, *.access, .source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Whether it was read or written.
        access: Access,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Not an image, truncated, damaged or unsupported.
    #[error("{} {reason}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The problem and a remedy, as the predicate of the file.
        reason: String,
    },
    /// The file is valid but has the wrong shape for its purpose.
    #[error("{} {reason}", .path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The problem and a remedy, as the predicate of the file.
        reason: String,
    },
    /// The file needs more memory than allowed.
    #[error(
        "{} needs about {} of memory, but the limit is {}; raise the limit or use a smaller file",
        .path.display(), words(*.needed), words(*.limit)
    )]
    Limits {
        /// The file.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The values in the file are invalid.
    #[error("{}: {source}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The error of the solver library.
        source: lobcod::Error,
    },
    /// An error that concerns no file, such as an invalid parameter.
    #[error(transparent)]
    Core(#[from] lobcod::Error),
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Error::Io { path: path.into(), access: Access::Read, source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Error::Io { path: path.into(), access: Access::Write, source }
    }

    pub(crate) fn format(path: &Path, reason: impl Into<String>) -> Self {
        // Messages of decoders may have several lines.
        let words: Vec<String> = reason.into().split('\n').map(|line| line.trim().into()).collect();
        Error::Format { path: path.into(), reason: words.join(" ") }
    }

    pub(crate) fn shape(path: &Path, reason: impl Into<String>) -> Self {
        Error::Shape { path: path.into(), reason: reason.into() }
    }

    /// For `map_err`: adds the file name to an error of the library.
    pub(crate) fn content(path: &Path) -> impl Fn(lobcod::Error) -> Self {
        move |source| Error::Content { path: path.into(), source }
    }

    pub(crate) fn data(path: &Path, reason: &str) -> Self {
        Self::content(path)(lobcod::Error::Data(reason.into()))
    }
}

fn io_sentence(path: &Path, access: Access, source: &io::Error) -> String {
    let file = path.display();
    match (access, source.kind()) {
        (Access::Read, ErrorKind::NotFound) => {
            format!("the file {file} does not exist; check its name and folder")
        }
        (Access::Read, ErrorKind::PermissionDenied) => {
            format!("{file} cannot be read: permission denied; change its permissions")
        }
        (_, ErrorKind::IsADirectory) => format!("{file} is a folder; use a file"),
        (Access::Write, ErrorKind::NotFound | ErrorKind::NotADirectory) if !has_folder(path) => {
            let folder = path.parent().unwrap_or(path).display();
            format!(
                "{file} cannot be written because the folder {folder} does not exist; create it \
                 first"
            )
        }
        (Access::Write, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            format!(
                "{file} cannot be written: permission denied; change the permissions of the file \
                 and its folder, or choose another location"
            )
        }
        (Access::Write, ErrorKind::StorageFull) => {
            format!("{file} cannot be written because the disk is full; free some space")
        }
        (Access::Read, _) => {
            format!("{file} cannot be read ({source}); check the file and its disk")
        }
        (Access::Write, _) => {
            format!("{file} cannot be written ({source}); choose another location")
        }
    }
}
