//! Writing images.

use crate::array::Array;
use crate::atomic::write_atomically;
use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::exif::Exif;
use crate::image_file::check_scale;
use crate::kind::FileKind;
use crate::metadata::{Metadata, PageOrder};
use crate::source::STANDARD;
use crate::tiff::{Pages, Written};
use crate::{bitmap, npy, npz, tiff, wav, zarr};
use lobcod::{Real, Signal};
use std::io::Write as _;
use std::path::Path;

/// Options for writing an image.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOptions {
    /// Order of the axes in arrays; if it does not fit the signal, the default order is used.
    pub axes: Axes,
    /// Sample type; see [`FileKind::nearest_depth`] for what a format supports. Arrays use `f64`
    /// at depth [`Depth::F64`], and otherwise the type of the signal.
    pub depth: Depth,
    /// Signal value of the full integer range.
    pub scale: f64,
    /// Sample rate of sounds; `None` means 44100.
    pub sample_rate: Option<u32>,
    /// Metadata, written if the format supports it.
    pub metadata: Metadata,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            axes: Axes::Hw,
            depth: Depth::U8,
            scale: 255.0,
            sample_rate: None,
            metadata: Metadata::default(),
        }
    }
}

/// Writes an image atomically, in the format of its file extension; `-` is standard output.
///
/// png and jpeg store images with one or three channels; tiff also stores volumes, one page per
/// layer; zarr stores images and volumes with any number of channels; wav stores sequences; npy and
/// npz (as `signal`) store everything, unscaled and unrounded. Integers are rounded and clipped to
/// their range.
pub fn write_image<T: Real>(path: &Path, signal: &Signal<T>, options: &WriteOptions) -> Result<()> {
    check_scale(options.scale)?;
    let kind = FileKind::from_path(path)?;
    let file = match kind {
        FileKind::Zarr => return zarr::write(path, signal, options),
        FileKind::Npy => npy::encode(&to_array_at(signal, options)),
        FileKind::Npz => npz::encode(&[("signal", to_array_at(signal, options))]),
        FileKind::Wav => encode_sound(path, signal, options)?,
        FileKind::Png | FileKind::Jpeg | FileKind::Tiff => {
            encode_image(path, kind, signal, options)?
        }
    };
    if path.as_os_str() == STANDARD {
        let output = &mut std::io::stdout().lock();
        return output
            .write_all(&file)
            .and_then(|()| output.flush())
            .map_err(|source| Error::write(path, source));
    }
    write_atomically(path, &file)
}

/// The samples as an array in the given order, of doubles if the signal or the depth is double.
fn to_array_at<T: Real>(signal: &Signal<T>, options: &WriteOptions) -> Array {
    if options.depth == Depth::F64 {
        to_array(&signal.cast::<f64>(), options.axes)
    } else {
        to_array(signal, options.axes)
    }
}

/// The samples as an array in this order.
pub(crate) fn to_array<T: Real>(signal: &Signal<T>, axes: Axes) -> Array {
    let axes = axes.fitting(signal.extent().rank(), signal.channels());
    Array::from_reals(&axes.shape(signal.extent(), signal.channels()), &axes.samples(signal))
}

fn encode_sound<T: Real>(
    path: &Path,
    signal: &Signal<T>,
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    if signal.extent().rank() != 1 {
        let reason = format!(
            "cannot store a signal of {}, because a sound has one axis; use .tif or .npy",
            signal.extent()
        );
        return Err(Error::shape(path, reason));
    }
    let rate = options.sample_rate.unwrap_or(44100);
    wav::encode(
        path,
        &signal.to_interleaved(),
        signal.channels(),
        options.depth,
        options.scale,
        rate,
    )
}

fn encode_image<T: Real>(
    path: &Path,
    kind: FileKind,
    signal: &Signal<T>,
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    let (depth, scale) = (options.depth, options.scale);
    let (extent, channels) = (signal.extent(), signal.channels());
    if kind.nearest_depth(depth) != depth {
        let nearest = kind.nearest_depth(depth);
        return Err(Error::format(
            path,
            format!(
                "cannot store samples of depth {depth}, because it is a {kind} file; use \
                 {nearest}, .tif or .npy"
            ),
        ));
    }
    // Channels that were separate pages become separate pages again.
    let order = options
        .metadata
        .grid
        .as_ref()
        .filter(|_| kind == FileKind::Tiff && channels > 1)
        .and_then(|grid| grid.channel_pages);
    if ![1, 3].contains(&channels) && order.is_none() {
        return Err(Error::shape(
            path,
            format!("cannot store {channels} channels, because an image has 1 or 3; use .npy"),
        ));
    }
    if !(extent.rank() == 2 || extent.rank() == 3 && kind == FileKind::Tiff) {
        return Err(Error::shape(
            path,
            format!(
                "cannot store a signal of {extent}; use .npy, .wav for sounds or .tif for volumes"
            ),
        ));
    }
    let [_, height, width] = extent.padded();
    let (samples, in_pixel) = match order {
        None => (signal.to_interleaved(), channels),
        Some(order) => (in_pages(signal, order), 1),
    };
    let failed =
        |e: String| Error::format(path, format!("cannot be written as {kind} ({e}); use .npy"));
    match (kind, depth) {
        (FileKind::Tiff, _) => {
            let full = if depth == Depth::U8 { 255.0 } else { 65535.0 };
            let [depth_pages, ..] = extent.padded();
            let kind = match depth {
                Depth::U8 => "uint8",
                Depth::U16 => "uint16",
                Depth::F32 => "float",
                _ => "double",
            };
            let written = |grid| Written::of(grid, depth_pages, [height, width, channels], kind);
            let grid = options.metadata.grid.as_ref().map(written);
            let icc = options.metadata.icc.as_deref();
            let exif = options.metadata.exif.as_deref().map(Exif::read).unwrap_or_default();
            let xmp = options.metadata.xmp.as_deref();
            let factor = full / scale;
            let pages = Pages {
                samples: &samples,
                width,
                height,
                channels: in_pixel,
                factor,
                icc,
                exif,
                xmp,
                grid,
            };
            tiff::encode(&pages, depth).map_err(|e| failed(e.to_string()))
        }
        (FileKind::Png, Depth::U16) => {
            let bytes: Vec<u8> = samples
                .iter()
                .flat_map(|x| (to_integer(*x, 65535.0, scale) as u16).to_ne_bytes())
                .collect();
            bitmap::encode_png_at(&bytes, width, height, channels, depth, &options.metadata)
                .map_err(|e| failed(e.to_string()))
        }
        (_, _) => {
            let bytes: Vec<u8> =
                samples.iter().map(|x| to_integer(*x, 255.0, scale) as u8).collect();
            let file = if kind == FileKind::Png {
                bitmap::encode_png_at(&bytes, width, height, channels, depth, &options.metadata)
            } else {
                bitmap::encode_jpeg(&bytes, width, height, channels, &options.metadata)
            };
            file.map_err(|e| failed(e.to_string()))
        }
    }
}

/// The samples page by page, with one page per channel and slice.
fn in_pages<T: Real>(signal: &Signal<T>, order: PageOrder) -> Vec<T> {
    let ([slices, height, width], channels) = (signal.extent().padded(), signal.channels());
    let length = height * width;
    let mut samples = vec![T::ZERO; signal.data().len()];
    for channel in 0..channels {
        for (slice, page) in signal.channel(channel).chunks_exact(length).enumerate() {
            let start = length * order.page((channel, channels), (slice, slices));
            samples[start..start + length].copy_from_slice(page);
        }
    }
    samples
}

/// A sample in `0..scale`, rounded and clipped to `0..=full`.
pub(crate) fn to_integer<T: Real>(sample: T, full: f64, scale: f64) -> f64 {
    (sample.to_f64() * (full / scale)).round().clamp(0.0, full)
}
