//! Version of the format of codes and dictionary files.

use crate::array::Array;
use crate::error::{Error, Result};
use crate::npz::Npz;
use std::path::Path;

/// Name of the array that holds the version. Files without it are older and have the same arrays.
pub(crate) const NAME: &str = "format_version";
/// The newest version this program reads, and the one it writes.
const NEWEST: i64 = 1;

/// The version, as it is written.
pub(crate) fn array() -> Array {
    Array::scalar(NEWEST)
}

/// Returns an error if the file is of a newer format.
pub(crate) fn check(path: &Path, npz: &Npz) -> Result<()> {
    let Some(array) = npz.find(NAME)? else { return Ok(()) };
    match array.to_integers().as_deref() {
        Some(&[version]) if version <= NEWEST => Ok(()),
        Some(&[version]) => Err(Error::format(
            path,
            format!(
                "has format version {version}, but this program reads versions up to {NEWEST}; \
                 use a newer version of lobcod"
            ),
        )),
        _ => Err(Error::format(path, "has an unreadable format version; recreate the file")),
    }
}
