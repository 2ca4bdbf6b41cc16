//! Pictures read.

use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::notes::Notes;
use crate::raster::Raster;
use crate::source::Allowance;
use lobcod::{Mask, Real, Signal};
use std::path::Path;

/// How a picture is read.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `axes` | by the file: `t`, `hw` or `hwc` | meaning of the axes of an array, or of the pages of a TIFF |
/// | `scale` | 255 | full range of integer pictures maps to 0..scale (of sound, -scale..scale); floats stay |
/// | `max_bytes` | [`DEFAULT_MAX_BYTES`](crate::DEFAULT_MAX_BYTES) | bytes the samples may take as `T` |
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Meaning of the axes; `None`: decided by the file.
    pub axes: Option<Axes>,
    /// What the full range of integers maps to.
    pub scale: f64,
    /// Bytes the samples may take; judged by the header, before decoding.
    pub max_bytes: Option<u64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { axes: None, scale: 255.0, max_bytes: None }
    }
}

/// A picture, sequence or volume, and what its file said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture<T> {
    /// The samples; 0 where nothing is known.
    pub signal: Signal<T>,
    /// Which samples are known, if not all: transparent pixels and NaN are missing.
    pub known: Option<Mask<T>>,
    /// Type of the samples in the file.
    pub depth: Depth,
    /// Order of the axes in the file.
    pub axes: Axes,
    /// Samples a second, if the file is sound.
    pub sample_rate: Option<u32>,
    /// What the file says beside.
    pub notes: Notes,
}

/// Reads a png, jpeg, tiff, npy, npz (one array, or one called `image` or `signal`) or wav file; `-` is standard input.
///
/// Samples are taken as stored: no colour profile or orientation note is applied. Unsigned integers of 8 and 16 bits are
/// scaled as pictures; other integers in arrays are taken as they are. Alpha is not coded, it tells what is known.
///
/// ```no_run
/// let picture = lobcod_image::read_picture::<f32>("photo.png".as_ref(), &Default::default())?;
/// println!("{} with {} channels", picture.signal.extent(), picture.signal.channels());
/// # Ok::<(), lobcod_image::Error>(())
/// ```
pub fn read_picture<T: Real>(path: &Path, options: &ReadOptions) -> Result<Picture<T>> {
    check_scale(options.scale)?;
    let raster = Raster::read(path, options.axes, Allowance::new::<T>(options.max_bytes))?;
    let axes = match options.axes {
        Some(axes) => axes,
        None => raster.usual_axes(path)?,
    };
    if raster.array.shape().contains(&0) {
        return Err(Error::shape(path, "has an axis of length 0, so there is nothing to code; give a picture that has samples"));
    }
    let factor = raster.full.map_or(1.0, |full| options.scale / full);
    let mut signal = raster.to_signal::<T>(path, axes, factor)?;
    let known = take_missing(path, &mut signal, raster.opaque.as_deref())?;
    Ok(Picture { signal, known, depth: raster.depth, axes, sample_rate: raster.sample_rate, notes: raster.notes })
}

impl Raster {
    /// The samples, each times `factor`, along these axes.
    pub(crate) fn to_signal<T: Real>(&self, path: &Path, axes: Axes, factor: f64) -> Result<Signal<T>> {
        let samples = self.array.to_reals(factor).ok_or_else(|| Error::format(path, "holds texts; give numbers"))?;
        // Pictures always have their colours last, whatever order is wanted for arrays.
        let stored = if self.is_picture && axes == Axes::Chw { Axes::Hwc } else { axes };
        stored.to_signal(path, self.array.shape(), samples)
    }
}

/// Error unless the scale is a positive number.
pub(crate) fn check_scale(scale: f64) -> Result<()> {
    if scale.is_finite() && scale > 0.0 {
        return Ok(());
    }
    Err(lobcod::Error::Parameter { name: "the scale", value: scale.to_string(), allowed: "a number above 0" }.into())
}

/// Sets missing samples to 0 and says which are known; `None` if all are.
fn take_missing<T: Real>(path: &Path, signal: &mut Signal<T>, opaque: Option<&[bool]>) -> Result<Option<Mask<T>>> {
    let Some(weights) = missing_weights(path, signal, opaque)? else { return Ok(None) };
    if weights.data().iter().all(|&w| w == T::ZERO) {
        return Err(Error::data(path, "every sample is NaN or transparent; at least one must be known"));
    }
    Mask::new(weights).map(Some).map_err(Error::content(path))
}

/// Sets missing samples to 0; the weights of all, one channel for all if they are alike, or `None` if none is missing.
pub(crate) fn missing_weights<T: Real>(
    path: &Path,
    signal: &mut Signal<T>,
    opaque: Option<&[bool]>,
) -> Result<Option<Signal<T>>> {
    let (extent, channels) = (signal.extent(), signal.channels());
    if opaque.is_none() && signal.data().iter().all(|sample| sample.is_finite()) {
        return Ok(None);
    }
    let mut known = vec![true; signal.data().len()];
    for (i, sample) in signal.data_mut().iter_mut().enumerate() {
        // There is one alpha for all channels of a pixel, or one for every sample of pages read as channels.
        known[i] = opaque.is_none_or(|o| o[i % o.len()]) && !sample.to_f64().is_nan();
        if !known[i] {
            *sample = T::ZERO;
        } else if !sample.is_finite() {
            return Err(Error::data(
                path,
                "a sample is infinite or too large for the precision; replace it by NaN if it is unknown",
            ));
        }
    }
    if known.iter().all(|&k| k) {
        return Ok(None);
    }
    let (first, rest) = known.split_at(extent.volume());
    let alike = rest.chunks_exact(extent.volume()).all(|channel| channel == first);
    let (channels, known) = if alike { (1, first) } else { (channels, &known[..]) };
    let weights = known.iter().map(|&k| if k { T::ONE } else { T::ZERO }).collect();
    Signal::from_planar(extent, channels, weights).map(Some).map_err(Error::content(path))
}
