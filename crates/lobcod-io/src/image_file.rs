//! Reading images.

use crate::alpha::Alpha;
use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::raster::Raster;
use crate::source::Allowance;
use crate::time;
use lobcod::{Mask, Real, Signal};
use std::path::Path;

/// Options for reading an image.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `axes` | by the file: `t`, `hw` or `hwc` | meaning of the axes of an array, or of the pages of a TIFF |
/// | `scale` | 255 | full range of integer images maps to 0..scale (of sound, -scale..scale); floats stay |
/// | `max_bytes` | [`DEFAULT_MAX_BYTES`](crate::DEFAULT_MAX_BYTES) | bytes the samples may take as `T` |
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Meaning of the axes; `None` to infer it from the file.
    pub axes: Option<Axes>,
    /// Signal value of the full integer range.
    pub scale: f64,
    /// Memory limit for the samples in bytes; checked against the header, before decoding.
    pub max_bytes: Option<u64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { axes: None, scale: 255.0, max_bytes: None }
    }
}

/// An image, sequence or volume with its metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Image<T> {
    /// The samples; missing ones are 0.
    pub signal: Signal<T>,
    /// Mask of known samples, if some are missing. NaN is missing, and so are pixels with an alpha
    /// below one half and partly transparent pixels next to them.
    pub known: Option<Mask<T>>,
    /// Type of the samples in the file.
    pub depth: Depth,
    /// Order of the axes in the file.
    pub axes: Axes,
    /// Sample rate, if the file is a sound.
    pub sample_rate: Option<u32>,
    /// Metadata of the file.
    pub metadata: Metadata,
}

/// Reads a png, jpeg, tiff, npy, npz (one array, or one named `image` or `signal`) or wav file; `-`
/// is standard input.
///
/// Pixels are rotated upright according to the EXIF orientation; no colour profile is applied.
/// Unsigned 8-bit and 16-bit integers are scaled as images; other integers in arrays are used
/// unchanged. Alpha is not coded but determines which pixels are known.
///
/// ```no_run
/// let image = lobcod_io::read_image::<f32>("photo.png".as_ref(), &Default::default())?;
/// println!("{} with {} channels", image.signal.extent(), image.signal.channels());
/// # Ok::<(), lobcod_io::Error>(())
/// ```
pub fn read_image<T: Real>(path: &Path, options: &ReadOptions) -> Result<Image<T>> {
    check_scale(options.scale)?;
    let allowance = Allowance::new::<T>(options.max_bytes);
    let (raster, axes) = match options.axes {
        Some(axes) if axes.of_time_point().is_some() => time::read(path, axes, allowance)?,
        Some(axes) => (Raster::read(path, Some(axes), allowance)?, axes),
        None => {
            let raster = Raster::read(path, None, allowance)?;
            let axes = raster.usual_axes(path)?;
            (raster, axes)
        }
    };
    check_not_empty(path, raster.array.shape())?;
    let factor = raster.full.map_or(1.0, |full| options.scale / full);
    let mut signal = raster.to_signal::<T>(path, axes, factor)?;
    let known = take_missing(path, &mut signal, raster.alpha.as_ref())?;
    Ok(Image {
        signal,
        known,
        depth: raster.depth,
        axes,
        sample_rate: raster.sample_rate,
        metadata: raster.metadata,
    })
}

impl Raster {
    /// The samples times `factor`, arranged by these axes.
    pub(crate) fn to_signal<T: Real>(
        &self,
        path: &Path,
        axes: Axes,
        factor: f64,
    ) -> Result<Signal<T>> {
        let samples = self.array.to_reals(factor).ok_or_else(|| {
            Error::format(path, "contains strings instead of numbers; use an array of numbers")
        })?;
        // Images always have their channels last, whatever order is requested for arrays.
        let stored = if self.is_image && axes == Axes::Chw { Axes::Hwc } else { axes };
        stored.to_signal(path, self.array.shape(), samples)
    }
}

/// Error if there are no samples.
pub(crate) fn check_not_empty(path: &Path, shape: &[usize]) -> Result<()> {
    if shape.contains(&0) {
        return Err(Error::shape(
            path,
            "has an axis of length 0, so there is nothing to code; use an image with samples",
        ));
    }
    Ok(())
}

/// Error unless the scale is a positive number.
pub(crate) fn check_scale(scale: f64) -> Result<()> {
    if scale.is_finite() && scale > 0.0 {
        return Ok(());
    }
    Err(lobcod::Error::Parameter {
        name: "the scale",
        value: scale.to_string(),
        allowed: "a number above 0",
    }
    .into())
}

/// Sets missing samples to 0 and returns the mask; `None` if none is missing.
fn take_missing<T: Real>(
    path: &Path,
    signal: &mut Signal<T>,
    alpha: Option<&Alpha>,
) -> Result<Option<Mask<T>>> {
    let Some(weights) = missing_weights(path, signal, alpha)? else { return Ok(None) };
    if weights.data().iter().all(|&w| w == T::ZERO) {
        return Err(Error::data(
            path,
            "every sample is NaN or transparent; at least one must be known",
        ));
    }
    Mask::new(weights).map(Some).map_err(Error::content(path))
}

/// Sets missing samples to 0 and returns the weights, with one channel if all channels agree;
/// `None` if none is missing.
pub(crate) fn missing_weights<T: Real>(
    path: &Path,
    signal: &mut Signal<T>,
    alpha: Option<&Alpha>,
) -> Result<Option<Signal<T>>> {
    let (extent, channels) = (signal.extent(), signal.channels());
    let opaque = alpha.map(|alpha| &alpha.opaque);
    if opaque.is_none() && signal.data().iter().all(|sample| sample.is_finite()) {
        return Ok(None);
    }
    let mut known = vec![true; signal.data().len()];
    for (i, sample) in signal.data_mut().iter_mut().enumerate() {
        // There is one alpha value per pixel, or one per sample for pages read as channels.
        known[i] = opaque.is_none_or(|o| o[i % o.len()]) && !sample.to_f64().is_nan();
        if !known[i] {
            *sample = T::ZERO;
        } else if !sample.is_finite() {
            return Err(Error::data(
                path,
                "a sample is infinite or overflows the precision; replace it by NaN if it is \
                 unknown",
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
