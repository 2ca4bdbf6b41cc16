//! OME-Zarr images: folders of chunks, read and written piece by piece.

#[cfg(feature = "zarr")]
mod image;
#[cfg(feature = "zarr")]
mod layout;
#[cfg(feature = "zarr")]
mod write;

#[cfg(not(feature = "zarr"))]
mod missing;

#[cfg(feature = "zarr")]
pub(crate) use {image::ZarrImage, write::write};

#[cfg(not(feature = "zarr"))]
pub(crate) use missing::{ZarrImage, write};

use crate::error::{Error, Result};
use crate::kind::FileKind;
use std::path::Path;

/// Whether a path is a folder of the Zarr format, version 2 or 3.
pub fn is_zarr(path: &Path) -> bool {
    ["zarr.json", ".zgroup", ".zarray"].iter().any(|name| path.join(name).is_file())
}

/// Error if a file of this name would be a Zarr folder and this build has none.
pub(crate) fn check_supported(path: &Path) -> Result<()> {
    let named = matches!(FileKind::from_path(path), Ok(FileKind::Zarr));
    if named && !cfg!(feature = "zarr") { Err(not_supported(path)) } else { Ok(()) }
}

fn not_supported(path: &Path) -> Error {
    Error::format(
        path,
        "is a Zarr folder, which this build does not support; install it with: cargo install \
         lobcod-cli --features zarr",
    )
}
