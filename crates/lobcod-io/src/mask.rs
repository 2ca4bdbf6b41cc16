//! Reading masks: which samples are known.

use crate::alpha;
use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::npy::shape_words;
use crate::raster::Raster;
use crate::source::Allowance;
use lobcod::{Extent, Mask, Real, Signal};
use std::path::Path;

/// Distance from black or white within which a value of a soft mask counts as such, as a fraction
/// of white.
const NEAR: f64 = 16.0 / 255.0;
/// Smallest fraction of pixels near black or white in a soft mask.
const MOSTLY: f64 = 0.9;

/// Meaning of marked pixels in a mask file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarity {
    /// Marked pixels are known.
    Known,
    /// Marked pixels are missing.
    Holes,
}

/// Which pixels of a mask file are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskRule {
    /// Non-zero pixels.
    NonZero,
    /// In a soft mask (JPEG, feathered brushes), pixels above 16/255 for [`Polarity::Holes`] and
    /// above 239/255 for [`Polarity::Known`].
    Soft,
    /// Every pixel, weighted by its value from 0 to 1.
    Weights,
}

/// A mask, and how its file was interpreted.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskFile<T> {
    /// The mask; missing samples have weight 0.
    pub mask: Mask<T>,
    /// Which pixels are marked.
    pub rule: MaskRule,
    /// Whether the alpha channel was used because the colours are constant.
    pub from_alpha: bool,
}

/// Like [`read_mask_file`], but returns only the mask.
pub fn read_mask<T: Real>(
    path: &Path,
    polarity: Polarity,
    extent: Extent,
    max_bytes: Option<u64>,
) -> Result<Mask<T>> {
    read_mask_file(path, polarity, extent, max_bytes).map(|file| file.mask)
}

/// Reads a mask for a signal of this size from any image or array.
///
/// Non-zero pixels are marked; the brightness of a colour pixel is its largest channel. There are
/// three special cases:
///
/// - Single-channel floats in [0, 1] are weights if `polarity` is [`Polarity::Known`].
/// - An 8-bit or 16-bit image is a soft mask if it has values other than black and white, at least
///   90 % of its pixels are within 16/255 of black or white, and some are near white. An image with
///   0 and one other value is not soft.
/// - For an image of constant colour, the alpha channel is the mask, unless it is constant too.
pub fn read_mask_file<T: Real>(
    path: &Path,
    polarity: Polarity,
    extent: Extent,
    max_bytes: Option<u64>,
) -> Result<MaskFile<T>> {
    let axes = Axes::Hw.fitting(extent.rank(), 1);
    let raster = Raster::read(path, Some(axes), Allowance::new::<T>(max_bytes))?;
    let from_alpha = alpha_is_the_mask(&raster, extent);
    let (array, white) = match &raster.alpha {
        Some(alpha) if from_alpha => (&alpha.levels, Some(alpha::full(alpha.levels.dtype()))),
        _ => (&raster.array, raster.full),
    };
    let is_float = array.dtype().is_float();
    let values = array.to_reals::<T>(1.0).ok_or_else(|| {
        Error::format(path, "contains strings instead of numbers; use an array of numbers")
    })?;
    if values.iter().any(|x| x.to_f64().is_nan()) {
        return Err(Error::data(path, "a mask must not contain NaN; use 0 and 1"));
    }
    let one_channel = array.shape() == extent.axes();
    let mut values = brightest(path, values, array.shape(), extent)?;
    let fraction = |x: &T| (T::ZERO..=T::ONE).contains(x);
    let white = white.filter(|white| raster.is_image && [255.0, 65535.0].contains(white));
    let weights = values.iter().all(fraction);
    let rule = match white {
        _ if polarity == Polarity::Known && is_float && one_channel && weights => MaskRule::Weights,
        Some(white) if is_soft(&values, white) => MaskRule::Soft,
        _ => MaskRule::NonZero,
    };
    let threshold =
        white.unwrap_or(1.0) * if polarity == Polarity::Known { 1.0 - NEAR } else { NEAR };
    let is_marked =
        |x: T| if rule == MaskRule::Soft { x.to_f64() > threshold } else { x != T::ZERO };
    if rule != MaskRule::Weights {
        let weight =
            |x: T| if is_marked(x) == (polarity == Polarity::Known) { T::ONE } else { T::ZERO };
        values.iter_mut().for_each(|x| *x = weight(*x));
    }
    let mask =
        Signal::from_planar(extent, 1, values).and_then(Mask::new).map_err(Error::content(path))?;
    Ok(MaskFile { mask, rule, from_alpha })
}

/// Whether the colours are constant but alpha is not.
fn alpha_is_the_mask(raster: &Raster, extent: Extent) -> bool {
    let Some(alpha) = &raster.alpha else { return false };
    let is_constant = |bytes: &[u8], size: usize| {
        bytes.chunks_exact(size.max(1)).all(|item| *item == bytes[..size])
    };
    let pixel = raster.array.bytes().len() / alpha.levels.bytes().len().max(1)
        * alpha.levels.dtype().size();
    alpha.levels.shape() == extent.axes()
        && is_constant(raster.array.bytes(), pixel)
        && !is_constant(alpha.levels.bytes(), alpha.levels.dtype().size())
}

/// One value per pixel: the channel farthest from 0, with channels first or last.
fn brightest<T: Real>(
    path: &Path,
    values: Vec<T>,
    shape: &[usize],
    extent: Extent,
) -> Result<Vec<T>> {
    let size = extent.axes();
    let farthest = |a: T, b: T| if b.to_f64().abs() > a.to_f64().abs() { b } else { a };
    if shape == size {
        Ok(values)
    } else if shape.split_last().is_some_and(|(_, rest)| rest == size) {
        let channels = shape[size.len()].max(1);
        Ok(values
            .chunks_exact(channels)
            .map(|pixel| pixel.iter().copied().fold(T::ZERO, farthest))
            .collect())
    } else if shape.split_first().is_some_and(|(_, rest)| rest == size) {
        let volume = extent.volume();
        Ok((0..volume)
            .map(|i| values.iter().copied().skip(i).step_by(volume).fold(T::ZERO, farthest))
            .collect())
    } else {
        Err(Error::shape(path, wrong_size(shape, size)))
    }
}

/// Why a mask does not fit; sizes of images are width x height.
fn wrong_size(shape: &[usize], size: &[usize]) -> String {
    let ([height, width] | [height, width, 2..=4], [rows, columns]) = (shape, size) else {
        let (mask, signal) = (shape_words(shape), shape_words(size));
        return format!("is a mask of {mask}, but the signal is {signal}; resize the mask");
    };
    let cure = if (height, width) == (columns, rows) {
        "one of them lies on its side: photographs are turned upright by their EXIF orientation, \
         so turn the mask by 90 degrees"
    } else {
        "resize the mask"
    };
    format!("is a mask of {width}x{height} pixels, but the image has {columns}x{rows}; {cure}")
}

/// Whether the values of an image with this white level form a soft mask.
fn is_soft<T: Real>(values: &[T], white: f64) -> bool {
    let is_black = |x: &T| x.to_f64() <= NEAR * white;
    let is_white = |x: &T| x.to_f64() >= (1.0 - NEAR) * white;
    let is_exact = |x: &T| *x == T::ZERO || x.to_f64() == white;
    let mark = values.iter().copied().find(|x| *x != T::ZERO).unwrap_or(T::ZERO);
    let is_two_valued =
        values.iter().all(|x| *x == T::ZERO || *x == mark) && values.contains(&T::ZERO);
    let near = values.iter().filter(|x| is_black(x) || is_white(x)).count();
    !is_two_valued
        && !values.iter().all(is_exact)
        && values.iter().any(is_white)
        && near as f64 >= MOSTLY * values.len() as f64
}
