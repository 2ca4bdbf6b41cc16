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

use std::path::Path;

/// Whether a path is a folder of the Zarr format, version 2 or 3.
pub fn is_zarr(path: &Path) -> bool {
    ["zarr.json", ".zgroup", ".zarray"].iter().any(|name| path.join(name).is_file())
}
