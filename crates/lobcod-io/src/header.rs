//! Image sizes from headers alone.

use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::image_file::{ReadOptions, check_not_empty};
use crate::kind::FileKind;
use crate::npy;
use crate::raster::{named_array, usual_axes};
use crate::source::{Allowance, STANDARD, load};
use crate::zarr::{ZarrImage, is_zarr};
use crate::{bitmap, npz, tiff, time};
use lobcod::Extent;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// The samples described by a header.
pub(crate) struct Shape {
    /// Length of every axis, without alpha.
    pub axes: Vec<usize>,
    /// The order of the axes, if the file specifies it.
    pub said: Option<Axes>,
    /// Whether the last axis is known to be colour.
    pub is_image: bool,
    /// Whether it is a sound.
    pub is_sound: bool,
}

/// Extent and number of channels of an image, from its header; nothing is decoded, so it takes
/// little time and memory. A header that declares more than the file can contain is refused. `None`
/// for pipes, which can be read only once.
pub fn read_shape(path: &Path, options: &ReadOptions) -> Result<Option<(Extent, usize)>> {
    let failed = |source| Error::read(path, source);
    if options.axes.is_some_and(|axes| axes.of_time_point().is_some()) {
        return time::read_shape(path, options).map(Some);
    }
    let shape = if is_zarr(path) {
        ZarrImage::open(path)?.shape()
    } else if path.as_os_str() == STANDARD {
        let input = load(path, Allowance::new::<f32>(options.max_bytes))?;
        shape(Path::new("standard input"), Cursor::new(input), options)?
    } else {
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Ok(None);
        }
        shape(path, BufReader::new(file), options)?
    };
    check_not_empty(path, &shape.axes)?;
    let axes = match options.axes {
        Some(axes) => axes,
        None => usual_axes(path, &shape)?,
    };
    let stored = if shape.is_image && axes == Axes::Chw { Axes::Hwc } else { axes };
    stored.split(path, &shape.axes).map(Some)
}

fn shape(path: &Path, mut file: impl BufRead + Seek, options: &ReadOptions) -> Result<Shape> {
    let failed = |source| Error::read(path, source);
    let mut head = Vec::new();
    file.by_ref().take(npy::LONGEST_HEADER).read_to_end(&mut head).map_err(failed)?;
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let array = |axes: Vec<usize>| Shape { axes, said: None, is_image: false, is_sound: false };
    match FileKind::of_content(path, &head)? {
        FileKind::Png => bitmap::png_shape(path, file, length),
        FileKind::Jpeg => bitmap::jpeg_shape(path, file, length),
        FileKind::Tiff => tiff::shape(path, file, length, options.axes),
        FileKind::Wav => {
            let reader = hound::WavReader::new(file);
            let reader = reader.map_err(|e| {
                Error::format(
                    path,
                    format!("is damaged or truncated ({e}); copy or recreate the file"),
                )
            })?;
            let channels = usize::from(reader.spec().channels);
            let axes = if channels > 1 {
                vec![reader.duration() as usize, channels]
            } else {
                vec![reader.duration() as usize]
            };
            Ok(Shape { is_sound: true, ..array(axes) })
        }
        FileKind::Zarr => Ok(ZarrImage::open(path)?.shape()),
        FileKind::Npy => Ok(array(npy::Header::parse(path, &head)?.shape)),
        FileKind::Npz => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(failed)?;
            let npz = npz::Npz::new(path, bytes, u64::MAX)?;
            npz.shape(named_array(path, &npz)?).map(array)
        }
    }
}
