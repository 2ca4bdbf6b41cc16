//! What any picture file holds, before it becomes a signal.

use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::kind::FileKind;
use crate::notes::Notes;
use crate::npy::{self, Header, shape_words};
use crate::npz::Npz;
use crate::source::{Allowance, STANDARD, load};
use crate::{bitmap, tiff, wav};
use std::path::Path;

/// Samples of a picture file as they lie there, alpha set apart.
pub(crate) struct Raster {
    pub array: Array,
    /// Whether each pixel is opaque (alpha above 0); `None`: there is no alpha.
    pub opaque: Option<Vec<bool>>,
    /// The sample value that stands for full scale; `None`: samples are taken as they are.
    pub full: Option<f64>,
    pub depth: Depth,
    /// Whether the last axis is known to be colour, as in pictures; the axes of plain arrays are anybody's guess.
    pub is_picture: bool,
    /// The order of the axes, where the file itself says it.
    pub axes: Option<Axes>,
    /// Samples a second, for sound.
    pub sample_rate: Option<u32>,
    /// What the file says beside.
    pub notes: Notes,
}

impl Raster {
    /// Reads a file. `axes` decides whether all pages of a stack are wanted.
    pub(crate) fn read(path: &Path, axes: Option<Axes>, allowance: Allowance) -> Result<Self> {
        let file = load(path, allowance)?;
        let path = if path.as_os_str() == STANDARD { Path::new("standard input") } else { path };
        match FileKind::of_content(path, &file)? {
            FileKind::Png => bitmap::decode_png(path, &file, allowance),
            FileKind::Jpeg => bitmap::decode_jpeg(path, &file, allowance),
            FileKind::Tiff => tiff::decode(path, &file, axes, allowance),
            FileKind::Wav => wav::decode(path, &file, allowance),
            FileKind::Npy => {
                allowance.check(path, &Header::parse(path, &file)?.shape)?;
                Self::from_array(path, npy::decode_whole(path, file)?)
            }
            FileKind::Npz => {
                let array = only_array(path, &Npz::new(path, file, allowance.on_disk())?)?;
                allowance.check(path, array.shape())?;
                Self::from_array(path, array)
            }
        }
    }

    pub(crate) fn from_array(path: &Path, array: Array) -> Result<Self> {
        let (full, depth) = match array.dtype() {
            DataType::U8 => (Some(255.0), Depth::U8),
            DataType::U16 => (Some(65535.0), Depth::U16),
            DataType::Text(_) => return Err(Error::format(path, "holds texts, not numbers; give an array of numbers")),
            other if other.size() <= 2 || other == DataType::F32 => (None, Depth::F32),
            _ => (None, Depth::F64),
        };
        Ok(Self { array, opaque: None, full, depth, is_picture: false, axes: None, sample_rate: None, notes: Notes::default() })
    }

    /// The axes meant when nobody says.
    pub(crate) fn usual_axes(&self, path: &Path) -> Result<Axes> {
        if let Some(axes) = self.axes {
            return Ok(axes);
        }
        Ok(match self.array.shape() {
            [_] => Axes::T,
            [_, _] if self.sample_rate.is_some() => Axes::T,
            [_, _] => Axes::Hw,
            [_, _, _] if self.is_picture => Axes::Hwc,
            [_, _, 3 | 4] => Axes::Hwc,
            shape => {
                let cure = "say what its axes are with --axes t, hw, hwc, chw, dhw or dhwc";
                return Err(Error::shape(
                    path,
                    format!("holds an array of shape {}, which may mean several things; {cure}", shape_words(shape)),
                ));
            }
        })
    }
}

fn only_array(path: &Path, npz: &Npz) -> Result<Array> {
    let names: Vec<&str> = npz.names().collect();
    match names[..] {
        [name] => npz.get(name),
        _ if names.contains(&"image") => npz.get("image"),
        _ if names.contains(&"signal") => npz.get("signal"),
        _ if names.contains(&"position") => Err(Error::format(path, "holds codes, not a picture; decode it first")),
        _ => Err(Error::format(path, format!("holds {} arrays; call the one that is meant image or signal", names.len()))),
    }
}
