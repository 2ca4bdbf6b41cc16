//! Pictures written.

use crate::array::Array;
use crate::atomic::write_atomically;
use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::exif::Exif;
use crate::kind::FileKind;
use crate::notes::{Notes, PageOrder};
use crate::picture::check_scale;
use crate::source::STANDARD;
use crate::tiff::{Pages, Written};
use crate::{bitmap, npy, npz, tiff, wav};
use lobcod::{Real, Signal};
use std::io::Write as _;
use std::path::Path;

/// How a picture is written.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOptions {
    /// Order of the axes in arrays; where it does not fit the signal, the usual one is taken.
    pub axes: Axes,
    /// Type of the samples; [`FileKind::nearest_depth`] tells what a format can hold. Arrays keep the type of the signal.
    pub depth: Depth,
    /// What the full range of integers stands for.
    pub scale: f64,
    /// Samples a second, for sound; `None`: 44100.
    pub sample_rate: Option<u32>,
    /// What is said beside the samples, where the format has a place for it.
    pub notes: Notes,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { axes: Axes::Hw, depth: Depth::U8, scale: 255.0, sample_rate: None, notes: Notes::default() }
    }
}

/// Writes a picture in the format its name asks for, whole or not at all; `-` is standard output.
///
/// png and jpeg hold pictures of one or three channels; tiff holds volumes too, a page a layer; wav holds sequences; npy and
/// npz (as `signal`) hold everything, unscaled and unrounded. Integers are rounded, and clipped to their range.
pub fn write_picture<T: Real>(path: &Path, signal: &Signal<T>, options: &WriteOptions) -> Result<()> {
    check_scale(options.scale)?;
    let kind = FileKind::from_path(path)?;
    let file = match kind {
        FileKind::Npy => npy::encode(&to_array(signal, options.axes)),
        FileKind::Npz => npz::encode(&[("signal", to_array(signal, options.axes))]),
        FileKind::Wav => encode_sound(path, signal, options)?,
        FileKind::Png | FileKind::Jpeg | FileKind::Tiff => encode_picture(path, kind, signal, options)?,
    };
    if path.as_os_str() == STANDARD {
        let output = &mut std::io::stdout().lock();
        return output.write_all(&file).and_then(|()| output.flush()).map_err(|source| Error::write(path, source));
    }
    write_atomically(path, &file)
}

/// The samples as an array, in the order wanted.
pub(crate) fn to_array<T: Real>(signal: &Signal<T>, axes: Axes) -> Array {
    let axes = axes.fitting(signal.extent().rank(), signal.channels());
    Array::from_reals(&axes.shape(signal.extent(), signal.channels()), &axes.samples(signal))
}

fn encode_sound<T: Real>(path: &Path, signal: &Signal<T>, options: &WriteOptions) -> Result<Vec<u8>> {
    if signal.extent().rank() != 1 {
        let reason = format!("cannot hold a signal of {}, as sound has one axis; use .tif or .npy", signal.extent());
        return Err(Error::shape(path, reason));
    }
    let rate = options.sample_rate.unwrap_or(44100);
    wav::encode(path, &signal.to_interleaved(), signal.channels(), options.depth, options.scale, rate)
}

fn encode_picture<T: Real>(path: &Path, kind: FileKind, signal: &Signal<T>, options: &WriteOptions) -> Result<Vec<u8>> {
    let (depth, scale) = (options.depth, options.scale);
    let (extent, channels) = (signal.extent(), signal.channels());
    if kind.nearest_depth(depth) != depth {
        let nearest = kind.nearest_depth(depth);
        return Err(Error::format(
            path,
            format!("cannot hold samples of depth {depth}, as it is a {kind} file; use {nearest}, .tif or .npy"),
        ));
    }
    // Channels that lay in pages of their own lie there again.
    let order =
        options.notes.grid.as_ref().filter(|_| kind == FileKind::Tiff && channels > 1).and_then(|grid| grid.channel_pages);
    if ![1, 3].contains(&channels) && order.is_none() {
        return Err(Error::shape(path, format!("cannot hold {channels} channels, as a picture has 1 or 3; use .npy")));
    }
    if !(extent.rank() == 2 || extent.rank() == 3 && kind == FileKind::Tiff) {
        return Err(Error::shape(
            path,
            format!("cannot hold a signal of {extent}; use .npy, .wav for sound or .tif for volumes"),
        ));
    }
    let [_, height, width] = extent.padded();
    let (samples, in_pixel) = match order {
        None => (signal.to_interleaved(), channels),
        Some(order) => (in_pages(signal, order), 1),
    };
    let failed = |e: String| Error::format(path, format!("cannot be written as {kind} ({e}); use .npy"));
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
            let grid = options.notes.grid.as_ref().map(written);
            let icc = options.notes.icc.as_deref();
            let exif = options.notes.exif.as_deref().map(Exif::read).unwrap_or_default();
            let xmp = options.notes.xmp.as_deref();
            let factor = full / scale;
            let pages = Pages { samples: &samples, width, height, channels: in_pixel, factor, icc, exif, xmp, grid };
            tiff::encode(&pages, depth).map_err(|e| failed(e.to_string()))
        }
        (FileKind::Png, Depth::U16) => {
            let bytes: Vec<u8> = samples.iter().flat_map(|x| (to_integer(*x, 65535.0, scale) as u16).to_ne_bytes()).collect();
            bitmap::encode_png_at(&bytes, width, height, channels, depth, &options.notes).map_err(|e| failed(e.to_string()))
        }
        (_, _) => {
            let bytes: Vec<u8> = samples.iter().map(|x| to_integer(*x, 255.0, scale) as u8).collect();
            let file = if kind == FileKind::Png {
                bitmap::encode_png_at(&bytes, width, height, channels, depth, &options.notes)
            } else {
                bitmap::encode_jpeg(&bytes, width, height, channels, &options.notes)
            };
            file.map_err(|e| failed(e.to_string()))
        }
    }
}

/// The samples page after page, a page for every channel of every slice.
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

/// A sample of `0..scale`, rounded and clipped to `0..=full`.
fn to_integer<T: Real>(sample: T, full: f64, scale: f64) -> f64 {
    (sample.to_f64() * (full / scale)).round().clamp(0.0, full)
}
