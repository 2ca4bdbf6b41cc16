//! Time series: files whose time points are read as separate images.
//!
//! With axes that begin with time (`thw`, `thwc`, `tdhw`, `tdhwc`), `movie.tif[3]` is the time
//! point 3 of `movie.tif`, counted from 0.

use crate::array::Array;
use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::image_file::ReadOptions;
use crate::kind::FileKind;
use crate::npy::{self, Header, shape_words};
use crate::npz::Npz;
use crate::raster::{Raster, named_array};
use crate::rows::{npy_rows, open_npy};
use crate::source::{Allowance, load};
use crate::tiff;
use crate::zarr::{ZarrImage, is_zarr};
use lobcod::Extent;
use std::path::{Path, PathBuf};

/// The name of a time point of a file, such as `movie.tif[3]`.
pub fn time_point_of(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("[{number}]"));
    name.into()
}

/// The file and the number of a time point, if the path names one.
pub fn split_time_point(path: &Path) -> Option<(PathBuf, usize)> {
    let (file, number) = path.to_str()?.strip_suffix(']')?.rsplit_once('[')?;
    Some((file.into(), number.parse().ok()?))
}

/// Number of time points of a file; the axes in `options` begin with time.
pub fn count_time_points(path: &Path, options: &ReadOptions) -> Result<usize> {
    let frame = frame_axes(path, options.axes)?;
    if is_zarr(path) {
        return Ok(ZarrImage::open(path)?.time_points());
    }
    if let Some((_, header)) = open_npy(path)? {
        return check(path, frame, &header.shape);
    }
    let allowance = Allowance::new::<f32>(options.max_bytes);
    let file = load(path, allowance)?;
    match FileKind::of_content(path, &file)? {
        FileKind::Tiff => tiff::count_time_points(path, &file, frame),
        FileKind::Npy => check(path, frame, &Header::parse(path, &file)?.shape),
        FileKind::Npz => {
            let npz = Npz::new(path, file, allowance.on_disk())?;
            check(path, frame, &npz.shape(named_array(path, &npz)?)?)
        }
        _ => Err(no_time(path)),
    }
}

/// Reads a time point.
pub(crate) fn read(path: &Path, axes: Axes, allowance: Allowance) -> Result<(Raster, Axes)> {
    let frame = frame_axes(path, Some(axes))?;
    let Some((path, number)) = split_time_point(path) else {
        let name = time_point_of(path, 0);
        let cure = format!("name one of its time points, such as {}", name.display());
        return Err(Error::shape(path, format!("is a time series with the axes {axes}; {cure}")));
    };
    let path = path.as_path();
    if is_zarr(path) {
        let zarr = ZarrImage::open(path)?;
        check_number(path, number, zarr.time_points())?;
        return Ok((zarr.read(Some(number), allowance)?, frame));
    }
    if let Some((mut file, header)) = open_npy(path)? {
        check_number(path, number, check(path, frame, &header.shape)?)?;
        allowance.check(path, &header.shape[1..])?;
        let array = npy_rows(path, &mut file, &header, number..number + 1, None)?;
        return Ok((Raster::from_array(path, time_point(path, frame, 0, &array)?)?, frame));
    }
    let file = load(path, allowance)?;
    let raster = match FileKind::of_content(path, &file)? {
        FileKind::Tiff => tiff::decode_time_point(path, &file, frame, number, allowance)?,
        FileKind::Npy => {
            let array = npy::decode_whole(path, file)?;
            Raster::from_array(path, time_point(path, frame, number, &array)?)?
        }
        FileKind::Npz => {
            let npz = Npz::new(path, file, allowance.on_disk())?;
            let array = npz.get(named_array(path, &npz)?)?;
            Raster::from_array(path, time_point(path, frame, number, &array)?)?
        }
        _ => return Err(no_time(path)),
    };
    allowance.check(path, raster.array.shape())?;
    Ok((raster, frame))
}

/// Extent and number of channels of a time point.
pub(crate) fn read_shape(path: &Path, options: &ReadOptions) -> Result<(Extent, usize)> {
    let axes = options.axes.unwrap_or_default();
    if let Some((file, number)) = split_time_point(path)
        && !is_zarr(&file)
        && let Some((_, header)) = open_npy(&file)?
    {
        let frame = frame_axes(path, options.axes)?;
        check_number(&file, number, check(&file, frame, &header.shape)?)?;
        return frame.split(path, &header.shape[1..]);
    }
    let (raster, frame) = read(path, axes, Allowance::new::<f32>(options.max_bytes))?;
    frame.split(path, raster.array.shape())
}

/// One time point of an array.
fn time_point(path: &Path, frame: Axes, number: usize, array: &Array) -> Result<Array> {
    let count = check(path, frame, array.shape())?;
    check_number(path, number, count)?;
    let length = array.bytes().len() / count;
    let bytes = array.bytes()[number * length..(number + 1) * length].to_vec();
    Ok(Array::from_bytes(array.dtype(), array.shape()[1..].to_vec(), bytes))
}

/// Number of time points in an array of this shape.
fn check(path: &Path, frame: Axes, shape: &[usize]) -> Result<usize> {
    match shape {
        [count, rest @ ..] if *count > 0 => frame.split(path, rest).map(|_| *count),
        _ => Err(Error::shape(
            path,
            format!("has the shape {} and no time points", shape_words(shape)),
        )),
    }
}

/// Error unless there is a time point of this number.
pub(crate) fn check_number(path: &Path, number: usize, count: usize) -> Result<()> {
    if number < count {
        return Ok(());
    }
    let reason = format!("has {count} time points; use a number below {count} in brackets");
    Err(Error::shape(path, reason))
}

fn frame_axes(path: &Path, axes: Option<Axes>) -> Result<Axes> {
    axes.and_then(Axes::of_time_point).ok_or_else(|| no_time(path))
}

fn no_time(path: &Path) -> Error {
    Error::shape(path, "has no time axis; use a tiff, npy, npz or zarr file")
}
