//! Temporary files for readers.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The folder of this process, in memory if possible.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let make = || {
        tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .expect("a temporary folder")
    };
    FOLDER.get_or_init(make).path()
}

/// Writes a file with this content; every thread has its own.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = place(name);
    std::fs::write(&path, content).expect("the temporary folder is writable");
    path
}

/// Path of a file of this thread.
pub fn place(name: &str) -> PathBuf {
    let thread =
        format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_ascii_digit(), "");
    folder().join(format!("{thread}-{name}"))
}
