//! File formats, recognized by content when reading and by name when writing.

use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::npy;
use crate::source::STANDARD;
use std::fmt;
use std::path::Path;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// PNG images.
    Png,
    /// JPEG images.
    Jpeg,
    /// TIFF images and stacks.
    Tiff,
    /// One numpy array.
    Npy,
    /// Named numpy arrays.
    Npz,
    /// WAV sounds.
    Wav,
    /// OME-Zarr folders.
    Zarr,
}

impl FileKind {
    /// The format of a file extension; `-`, standard output, is png.
    pub fn from_path(path: &Path) -> Result<Self> {
        if path.as_os_str() == STANDARD {
            return Ok(FileKind::Png);
        }
        let extension =
            path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        Ok(match extension.as_str() {
            "png" => FileKind::Png,
            "jpg" | "jpeg" => FileKind::Jpeg,
            "tif" | "tiff" => FileKind::Tiff,
            "npy" => FileKind::Npy,
            "npz" => FileKind::Npz,
            "wav" => FileKind::Wav,
            "zarr" => FileKind::Zarr,
            _ => {
                return Err(Error::format(
                    path,
                    "has no known file extension; use .png, .jpg, .tif, .npy, .npz, .wav or .zarr",
                ));
            }
        })
    }

    /// The format of the contents of a file, whatever its name.
    pub(crate) fn of_content(path: &Path, file: &[u8]) -> Result<Self> {
        Ok(match file {
            [] => return Err(Error::format(path, "is empty; recreate the file")),
            _ if camera_raw(path, file) => {
                return Err(Error::format(
                    path,
                    "is a camera raw file, which is not supported; convert it to a 16-bit TIFF \
                     first, for example with: darktable-cli IN.nef OUT.tif",
                ));
            }
            _ if file.get(4..8) == Some(b"ftyp") => {
                return Err(Error::format(
                    path,
                    "is a HEIC or AVIF image, which is not supported; convert it first, for \
                     example with: heif-convert IN.heic OUT.png",
                ));
            }
            _ if file.starts_with(b"\x89PNG\r\n\x1a\n") => FileKind::Png,
            _ if file.starts_with(b"\xff\xd8\xff") => FileKind::Jpeg,
            // The last two are TIFF with 64-bit offsets.
            _ if [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|m| file.starts_with(*m)) => {
                FileKind::Tiff
            }
            _ if file.starts_with(npy::MAGIC) => FileKind::Npy,
            _ if file.starts_with(b"PK") => FileKind::Npz,
            _ if file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WAVE") => FileKind::Wav,
            _ => {
                let cure = "use a png, jpeg, tiff, npy, npz or wav file";
                return Err(Error::format(
                    path,
                    format!("is not an image, array or sound in a supported format; {cure}"),
                ));
            }
        })
    }

    /// The supported depth nearest to `wanted`.
    pub fn nearest_depth(self, wanted: Depth) -> Depth {
        match (self, wanted) {
            (FileKind::Jpeg, _) => Depth::U8,
            (FileKind::Png, Depth::U8) | (FileKind::Tiff, Depth::U8) => Depth::U8,
            (FileKind::Png, _) => Depth::U16,
            (FileKind::Tiff, Depth::U16 | Depth::F64) => wanted,
            (FileKind::Tiff, _) => Depth::F32,
            (FileKind::Wav, Depth::U16) => Depth::I16,
            (FileKind::Wav, Depth::F64) => Depth::F32,
            (FileKind::Zarr, Depth::I16 | Depth::I24 | Depth::I32) => Depth::F32,
            _ => wanted,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Png => "png",
            FileKind::Jpeg => "jpeg",
            FileKind::Tiff => "tiff",
            FileKind::Npy => "npy",
            FileKind::Npz => "npz",
            FileKind::Wav => "wav",
            FileKind::Zarr => "zarr",
        })
    }
}

/// Extensions of raw files that are valid TIFF files, whose first page is only a preview.
const RAW_EXTENSIONS: [&str; 9] = ["3fr", "arw", "cr2", "dng", "erf", "iiq", "nef", "nrw", "pef"];

/// Whether this is a camera raw file.
fn camera_raw(path: &Path, file: &[u8]) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let is_tiff = file.starts_with(b"II*\0") || file.starts_with(b"MM\0*");
    is_tiff && (RAW_EXTENSIONS.contains(&extension.as_str()) || file.get(8..10) == Some(b"CR"))
        || file.get(4..12) == Some(b"ftypcrx ")
        || [&b"FUJIFILMCCD-RAW"[..], b"IIU\0", b"IIRO", b"IIRS", b"MMOR"]
            .iter()
            .any(|magic| file.starts_with(magic))
}
