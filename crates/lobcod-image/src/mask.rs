//! Masks read: which samples are known.

use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::npy::shape_words;
use crate::raster::Raster;
use crate::source::Allowance;
use lobcod::{Extent, Mask, Real, Signal};
use std::path::Path;

/// What a non-zero value of a mask file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarity {
    /// Non-zero is known.
    Known,
    /// Non-zero is missing.
    Holes,
}

/// Reads a mask for a signal of this size from any picture or array.
///
/// A pixel counts as non-zero if any of its colours is; alpha is not looked at. Floats of one channel that all lie in
/// [0, 1] are taken as weights when `polarity` is [`Polarity::Known`].
pub fn read_mask<T: Real>(path: &Path, polarity: Polarity, extent: Extent, max_bytes: Option<u64>) -> Result<Mask<T>> {
    let axes = Axes::Hw.fitting(extent.rank(), 1);
    let raster = Raster::read(path, Some(axes), Allowance::new::<T>(max_bytes))?;
    let values = raster.array.to_reals::<T>(1.0).ok_or_else(|| Error::format(path, "holds texts; give numbers"))?;
    if values.iter().any(|x| x.to_f64().is_nan()) {
        return Err(Error::data(path, "a mask must not hold NaN; use 0 and 1"));
    }
    let fraction = |x: &T| (T::ZERO..=T::ONE).contains(x);
    let (shape, size) = (raster.array.shape(), extent.axes());
    let weights: Vec<T> = if shape == size {
        let weighted = polarity == Polarity::Known && raster.array.dtype().is_float() && values.iter().all(fraction);
        if weighted { values } else { values.iter().map(|&x| weight(x != T::ZERO, polarity)).collect() }
    } else if shape.split_last().is_some_and(|(_, rest)| rest == size) {
        let channels = shape[size.len()].max(1);
        values.chunks_exact(channels).map(|pixel| weight(pixel.iter().any(|&x| x != T::ZERO), polarity)).collect()
    } else if shape.split_first().is_some_and(|(_, rest)| rest == size) {
        let volume = extent.volume();
        (0..volume).map(|i| weight(values.iter().skip(i).step_by(volume).any(|&x| x != T::ZERO), polarity)).collect()
    } else {
        let reason =
            format!("is a mask of {}, but the signal is {}; they must have the same size", shape_words(shape), shape_words(size));
        return Err(Error::shape(path, reason));
    };
    Signal::from_planar(extent, 1, weights).and_then(Mask::new).map_err(Error::content(path))
}

fn weight<T: Real>(nonzero: bool, polarity: Polarity) -> T {
    if nonzero == (polarity == Polarity::Known) { T::ONE } else { T::ZERO }
}
