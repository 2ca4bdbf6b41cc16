//! Decoded image files, before conversion to signals.

use crate::alpha::Alpha;
use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::header::Shape;
use crate::kind::FileKind;
use crate::metadata::Metadata;
use crate::npy::{self, Header, shape_words};
use crate::npz::Npz;
use crate::source::{Allowance, STANDARD, load};
use crate::zarr::{ZarrImage, is_zarr};
use crate::{bitmap, tiff, wav};
use std::path::Path;

/// Samples of an image file as stored, with alpha separated.
pub(crate) struct Raster {
    pub array: Array,
    /// Transparency, if the file has an alpha channel.
    pub alpha: Option<Alpha>,
    /// The sample value of full scale; `None` if samples are used unchanged.
    pub full: Option<f64>,
    pub depth: Depth,
    /// Whether the last axis is known to be colour, as in images; the axes of plain arrays are
    /// ambiguous.
    pub is_image: bool,
    /// The order of the axes, if the file specifies it.
    pub axes: Option<Axes>,
    /// Sample rate of a sound.
    pub sample_rate: Option<u32>,
    /// Metadata of the file.
    pub metadata: Metadata,
}

impl Raster {
    /// Reads a file. `axes` determines whether all pages of a stack are read.
    pub(crate) fn read(path: &Path, axes: Option<Axes>, allowance: Allowance) -> Result<Self> {
        if is_zarr(path) {
            return ZarrImage::open(path)?.read(None, allowance);
        }
        let file = load(path, allowance)?;
        let path = if path.as_os_str() == STANDARD { Path::new("standard input") } else { path };
        match FileKind::of_content(path, &file)? {
            FileKind::Png => bitmap::decode_png(path, &file, allowance),
            FileKind::Jpeg => bitmap::decode_jpeg(path, &file, allowance),
            FileKind::Tiff => tiff::decode(path, &file, axes, allowance),
            FileKind::Wav => wav::decode(path, &file, allowance),
            FileKind::Zarr => ZarrImage::open(path)?.read(None, allowance),
            FileKind::Npy => {
                allowance.check(path, &Header::parse(path, &file)?.shape)?;
                Self::from_array(path, npy::decode_whole(path, file)?)
            }
            FileKind::Npz => {
                let npz = Npz::new(path, file, allowance.on_disk())?;
                let array = npz.get(named_array(path, &npz)?)?;
                allowance.check(path, array.shape())?;
                Self::from_array(path, array)
            }
        }
    }

    pub(crate) fn from_array(path: &Path, array: Array) -> Result<Self> {
        let (full, depth) = match array.dtype() {
            DataType::U8 => (Some(255.0), Depth::U8),
            DataType::U16 => (Some(65535.0), Depth::U16),
            DataType::Text(_) => {
                return Err(Error::format(
                    path,
                    "contains strings instead of numbers; use an array of numbers",
                ));
            }
            other if other.size() <= 2 || other == DataType::F32 => (None, Depth::F32),
            _ => (None, Depth::F64),
        };
        Ok(Self {
            array,
            alpha: None,
            full,
            depth,
            is_image: false,
            axes: None,
            sample_rate: None,
            metadata: Metadata::default(),
        })
    }

    /// The default interpretation of the axes.
    pub(crate) fn usual_axes(&self, path: &Path) -> Result<Axes> {
        let shape = Shape {
            axes: self.array.shape().to_vec(),
            said: self.axes,
            is_image: self.is_image,
            is_sound: self.sample_rate.is_some(),
        };
        usual_axes(path, &shape)
    }
}

/// The default interpretation of the axes.
pub(crate) fn usual_axes(path: &Path, shape: &Shape) -> Result<Axes> {
    if let Some(axes) = shape.said {
        return Ok(axes);
    }
    Ok(match shape.axes[..] {
        [_] => Axes::T,
        [_, _] if shape.is_sound => Axes::T,
        [_, _] => Axes::Hw,
        [_, _, _] if shape.is_image => Axes::Hwc,
        [_, _, 3 | 4] => Axes::Hwc,
        ref axes => {
            let cure = "set its axes with --axes t, hw, hwc, chw, dhw or dhwc";
            let found =
                format!("contains an array of shape {}, which is ambiguous", shape_words(axes));
            return Err(Error::shape(path, format!("{found}; {cure}")));
        }
    })
}

/// The name of the image array in a npz file.
pub(crate) fn named_array<'a>(path: &Path, npz: &'a Npz) -> Result<&'a str> {
    let names: Vec<&str> = npz.names().collect();
    match names[..] {
        [name] => Ok(name),
        _ if names.contains(&"image") => Ok("image"),
        _ if names.contains(&"signal") => Ok("signal"),
        _ if names.contains(&"position") => {
            Err(Error::format(path, "contains codes, not an image; decode it first"))
        }
        _ => Err(Error::format(
            path,
            format!("contains {} arrays; name the one to use image or signal", names.len()),
        )),
    }
}
