//! What can go wrong with files, split by who is at fault.

use crate::atomic::has_folder;
use lobcod::memory::words;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What was being done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The file was read.
    Read,
    /// The file was written.
    Write,
}

/// One sentence that names the file, what is wrong with it, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}", io_sentence(.path, *.access, .source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Whether it was read or written.
        access: Access,
        /// What the operating system said.
        source: io::Error,
    },
    /// Not an image, truncated, damaged, or of a kind that is not supported.
    #[error("{} {reason}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do, said of the file.
        reason: String,
    },
    /// The file is sound, but of the wrong shape for its purpose.
    #[error("{} {reason}", .path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do, said of the file.
        reason: String,
    },
    /// The file would need more memory than was allowed.
    #[error(
        "{} needs about {} of memory, but the limit is {}; raise the limit or use a smaller file",
        .path.display(), words(*.needed), words(*.limit)
    )]
    Limits {
        /// The file.
        path: PathBuf,
        /// Bytes it would need.
        needed: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The numbers in the file cannot be worked with.
    #[error("{}: {source}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What the solver's library says about them.
        source: lobcod::Error,
    },
    /// A fault that belongs to no file, such as a wrong parameter.
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
        // Decoders may say what they have to say in several lines.
        let words: Vec<String> = reason.into().split('\n').map(|line| line.trim().into()).collect();
        Error::Format { path: path.into(), reason: words.join(" ") }
    }

    pub(crate) fn shape(path: &Path, reason: impl Into<String>) -> Self {
        Error::Shape { path: path.into(), reason: reason.into() }
    }

    /// For `map_err`: names the file that made the library complain.
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
        (Access::Read, ErrorKind::NotFound) => format!("there is no file {file}; check its name and folder"),
        (Access::Read, ErrorKind::PermissionDenied) => format!("{file} may not be read; change its permissions"),
        (_, ErrorKind::IsADirectory) => format!("{file} is a folder; name a file"),
        (Access::Write, ErrorKind::NotFound | ErrorKind::NotADirectory) if !has_folder(path) => {
            let folder = path.parent().unwrap_or(path).display();
            format!("{file} cannot be written because there is no folder {folder}; make it first")
        }
        (Access::Write, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            format!("{file} may not be written; change the permissions of the file and its folder, or name another place")
        }
        (Access::Write, ErrorKind::StorageFull) => format!("{file} cannot be written because the disk is full; free some space"),
        (Access::Read, _) => format!("{file} cannot be read ({source}); check the file and its disk"),
        (Access::Write, _) => format!("{file} cannot be written ({source}); name another place"),
    }
}
