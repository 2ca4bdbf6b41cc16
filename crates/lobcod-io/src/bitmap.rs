//! PNG and JPEG.

use crate::alpha::Alpha;
use crate::array::{Array, DataType};
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::exif::Exif;
use crate::header::Shape;
use crate::metadata::Metadata;
use crate::raster::Raster;
use crate::source::{Allowance, check_promise};
use crate::xmp;
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::codecs::png::{CompressionType, FilterType, PngDecoder, PngEncoder};
use image::{ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, Limits};
use std::io::{BufRead, Cursor, Seek};
use std::path::Path;

/// JPEG quality at which artefacts are barely visible.
const JPEG_QUALITY: u8 = 95;
/// Largest EXIF block that fits in a JPEG segment, without its name and length.
const MAX_EXIF: usize = 65535 - 2 - 6;
/// Memory for the decoder itself and for the metadata in a file.
const DECODER_BYTES: u64 = 64 << 20;

/// Upper bound on the expansion of JPEG: a block of 64 samples takes at least one bit, and
/// represents 16 blocks where colours are subsampled.
const MOST_JPEG: u64 = 8 * 64 * 16;
/// Upper bound on the expansion of deflate (1,032).
const MOST_DEFLATED: u64 = 1040;
/// The same for PNG, where 1-bit grey becomes eight bits and palette colours become four samples.
const MOST_PNG: u64 = MOST_DEFLATED * 32;

pub(crate) fn decode_png(path: &Path, file: &[u8], allowance: Allowance) -> Result<Raster> {
    // The decoder stops after the last pixel and does not check for the end of the file.
    if !file.windows(8).rev().any(|w| w == b"IEND\xae\x42\x60\x82") {
        return Err(truncated(path));
    }
    // The decoder allocates rows immediately, so the size (width, then height, after two
    // signatures) is checked first.
    let size: Vec<usize> = file
        .get(16..24)
        .unwrap_or_default()
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&b| u32::from_be_bytes(b) as usize)
        .collect();
    allowance.check(path, &size)?;
    // A pixel takes at least one bit.
    let promised = size.iter().fold(1, |n: u64, &axis| n.saturating_mul(axis as u64)) / 8;
    check_promise(path, promised, file.len() as u64, MOST_DEFLATED)?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(allowance.on_disk().saturating_add(DECODER_BYTES));
    let decoder =
        PngDecoder::with_limits(Cursor::new(file), limits).map_err(|e| unreadable(path, e))?;
    decode(path, decoder, allowance, file.len() as u64, MOST_PNG)
}

pub(crate) fn decode_jpeg(path: &Path, file: &[u8], allowance: Allowance) -> Result<Raster> {
    // The decoder fills missing parts with grey. Inside a scan these bytes are always markers, so
    // the end follows the last scan.
    let last = |marker: [u8; 2]| file.windows(2).rposition(|w| w == marker);
    if last([0xff, 0xd9]) <= last([0xff, 0xda]) {
        return Err(truncated(path));
    }
    let decoder = JpegDecoder::new(Cursor::new(file)).map_err(|e| unreadable(path, e))?;
    decode(path, decoder, allowance, file.len() as u64, MOST_JPEG)
}

/// The shape of a PNG, from its header.
pub(crate) fn png_shape(path: &Path, file: impl BufRead + Seek, length: u64) -> Result<Shape> {
    let decoder =
        PngDecoder::with_limits(file, Limits::no_limits()).map_err(|e| unreadable(path, e))?;
    shape(path, decoder, length, MOST_PNG)
}

/// The shape of a JPEG, from its header.
pub(crate) fn jpeg_shape(path: &Path, file: impl BufRead + Seek, length: u64) -> Result<Shape> {
    shape(path, JpegDecoder::new(file).map_err(|e| unreadable(path, e))?, length, MOST_JPEG)
}

fn shape(path: &Path, mut decoder: impl ImageDecoder, length: u64, most: u64) -> Result<Shape> {
    check_promise(path, decoder.total_bytes(), length, most)?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let colours = usize::from(color.channel_count()) - usize::from(color.has_alpha());
    let exif = decoder.exif_metadata().ok().flatten();
    let transposed = exif.is_some_and(|block| Exif::read(&block).orientation().is_transposed());
    let (height, width) = if transposed { (width, height) } else { (height, width) };
    let mut axes = vec![height as usize, width as usize];
    axes.extend((colours > 1).then_some(colours));
    Ok(Shape { axes, said: None, is_image: true, is_sound: false })
}

fn decode(
    path: &Path,
    mut decoder: impl ImageDecoder,
    allowance: Allowance,
    length: u64,
    most: u64,
) -> Result<Raster> {
    let total = decoder.total_bytes();
    check_promise(path, total, length, most)?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let samples = usize::from(color.channel_count());
    let mut shape = [height as usize, width as usize, samples];
    allowance.check(path, &shape)?;
    // Damaged metadata does not make the image unreadable.
    let metadata = Metadata {
        icc: decoder.icc_profile().ok().flatten(),
        exif: decoder.exif_metadata().ok().flatten(),
        xmp: decoder.xmp_metadata().ok().flatten(),
        grid: None,
    };
    let mut bytes = vec![0; total as usize];
    decoder.read_image(&mut bytes).map_err(|e| unreadable(path, e))?;
    let (dtype, full, depth) = match usize::from(color.bytes_per_pixel()) / samples {
        1 => (DataType::U8, 255.0, Depth::U8),
        _ => {
            bytes
                .as_chunks_mut::<2>()
                .0
                .iter_mut()
                .for_each(|b| *b = u16::from_ne_bytes(*b).to_le_bytes());
            (DataType::U16, 65535.0, Depth::U16)
        }
    };
    let orientation = metadata.orientation();
    let bytes = orientation.turn(&mut shape, bytes, dtype.size());
    let metadata = metadata.turned_upright(orientation);
    let (array, alpha) = split_alpha(dtype, &shape, bytes, color.has_alpha());
    Ok(Raster {
        array,
        alpha,
        full: Some(full),
        depth,
        is_image: true,
        axes: None,
        sample_rate: None,
        metadata,
    })
}

/// Separates the last channel if it is alpha, and drops the channel axis if one channel remains.
pub(crate) fn split_alpha(
    dtype: DataType,
    shape: &[usize],
    bytes: Vec<u8>,
    has_alpha: bool,
) -> (Array, Option<Alpha>) {
    let mut shape = shape.to_vec();
    let samples = shape.pop().unwrap_or(1);
    let colours = samples - usize::from(has_alpha);
    let pixels = shape.clone();
    if colours > 1 {
        shape.push(colours);
    }
    if !has_alpha {
        return (Array::from_bytes(dtype, shape, bytes), None);
    }
    let size = dtype.size();
    let mut levels = Vec::with_capacity(bytes.len() / samples);
    let mut kept = Vec::with_capacity(bytes.len() / samples * colours);
    for pixel in bytes.chunks_exact(samples * size) {
        let (colour, alpha) = pixel.split_at(colours * size);
        kept.extend_from_slice(colour);
        levels.extend_from_slice(alpha);
    }
    (
        Array::from_bytes(dtype, shape, kept),
        Some(Alpha::new(Array::from_bytes(dtype, pixels, levels))),
    )
}

/// Encodes 8-bit samples as PNG: greyscale with one sample per pixel, colour with three; rows from
/// the top.
pub fn encode_png(samples: &[u8], width: usize, height: usize) -> Result<Vec<u8>> {
    let pixels = width.saturating_mul(height);
    let channels = if pixels > 0 && samples.len() == pixels { 1 } else { 3 };
    if pixels == 0 || samples.len() != pixels.saturating_mul(channels) {
        let reason = format!(
            "a {width} x {height} image has {pixels} samples or three times as many, not {}",
            samples.len()
        );
        return Err(lobcod::Error::Shape(reason).into());
    }
    encode_png_at(samples, width, height, channels, Depth::U8, &Metadata::default())
        .map_err(|e| lobcod::Error::Shape(e.to_string()).into())
}

/// Encodes samples of `depth` (U8, or U16 in native byte order) as PNG.
pub(crate) fn encode_png_at(
    samples: &[u8],
    width: usize,
    height: usize,
    channels: usize,
    depth: Depth,
    metadata: &Metadata,
) -> Result<Vec<u8>, ImageError> {
    let mut file = Vec::new();
    let color = match (channels, depth) {
        (1, Depth::U8) => ExtendedColorType::L8,
        (_, Depth::U8) => ExtendedColorType::Rgb8,
        (1, _) => ExtendedColorType::L16,
        _ => ExtendedColorType::Rgb16,
    };
    let mut encoder =
        PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive);
    annotate(&mut encoder, metadata.icc.clone(), metadata.exif.clone())?;
    encoder.write_image(samples, width as u32, height as u32, color)?;
    metadata.xmp.iter().for_each(|packet| xmp::add_to_png(&mut file, packet));
    Ok(file)
}

fn annotate(
    encoder: &mut impl ImageEncoder,
    icc: Option<Vec<u8>>,
    exif: Option<Vec<u8>>,
) -> Result<(), ImageError> {
    icc.map_or(Ok(()), |icc| encoder.set_icc_profile(icc)).map_err(ImageError::Unsupported)?;
    exif.map_or(Ok(()), |exif| encoder.set_exif_metadata(exif)).map_err(ImageError::Unsupported)
}

pub(crate) fn encode_jpeg(
    samples: &[u8],
    width: usize,
    height: usize,
    channels: usize,
    metadata: &Metadata,
) -> Result<Vec<u8>, ImageError> {
    let mut file = Vec::new();
    let color = if channels == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    let mut encoder = JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY);
    // A block larger than a segment would corrupt the file.
    let small = |block: &Vec<u8>| block.len() <= MAX_EXIF;
    let shortened = || {
        metadata
            .exif
            .as_ref()
            .map(|block| Exif::read(block).without_maker_note().to_block())
            .filter(small)
    };
    let exif = metadata.exif.clone().filter(small).or_else(shortened);
    annotate(&mut encoder, metadata.icc.clone(), exif)?;
    encoder.write_image(samples, width as u32, height as u32, color)?;
    metadata.xmp.iter().for_each(|packet| xmp::add_to_jpeg(&mut file, packet));
    Ok(file)
}

fn truncated(path: &Path) -> Error {
    Error::format(path, "is truncated: its end is missing; copy or recreate the file")
}

fn unreadable(path: &Path, error: ImageError) -> Error {
    match error {
        ImageError::Unsupported(e) => Error::format(
            path,
            format!("uses an unsupported format ({e}); convert it to a plain png"),
        ),
        e => {
            Error::format(path, format!("is damaged or truncated ({e}); copy or recreate the file"))
        }
    }
}
