//! Base layers, scores and a synthetic image.

use crate::arrays::{Numbers, optional_mask, signal_array};
use crate::errors::{Fault, Result};
use crate::options::in_precision;
use lobcod::base::Base;
use lobcod::{Extent, Real};
use lobcod_tasks::{metrics, synthetic};
use numpy::Element;
use pyo3::prelude::*;

/// The base layer of an array, for atoms of this size.
#[pyfunction]
pub fn base_layer<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    mask: Option<Numbers<'py>>,
    base: &str,
    size: Vec<usize>,
    precision: &str,
) -> Result<Bound<'py, PyAny>> {
    fn make<'py, T: Real + Element>(
        py: Python<'py>,
        image: &Numbers<'py>,
        has_channels: bool,
        mask: Option<&Numbers<'py>>,
        base: Base,
        atom: Extent,
    ) -> Result<Bound<'py, PyAny>> {
        if base.joint_weight() > 0.0 {
            return Err(Fault::value(
                "a layer that is estimated with the codes depends on them; use encode and its base",
            ));
        }
        let signal = image.signal::<T>(has_channels)?;
        let mask = optional_mask(mask, signal.extent().rank())?;
        let layer = py.detach(|| base.layer(&signal, mask.as_ref(), atom))?;
        Ok(signal_array(py, layer, has_channels)?.into_any())
    }
    in_precision!(
        precision,
        make(py, &image, has_channels, mask.as_ref(), base.parse()?, Extent::new(&size)?)
    )
}

/// Peak signal-to-noise ratio in dB.
#[pyfunction]
pub fn psnr(a: Numbers<'_>, b: Numbers<'_>, has_channels: bool, peak: f64) -> Result<f64> {
    Ok(metrics::psnr(&a.signal::<f64>(has_channels)?, &b.signal::<f64>(has_channels)?, peak)?)
}

/// Structural similarity.
#[pyfunction]
pub fn ssim(a: Numbers<'_>, b: Numbers<'_>, has_channels: bool, peak: f64) -> Result<f64> {
    Ok(metrics::ssim(&a.signal::<f64>(has_channels)?, &b.signal::<f64>(has_channels)?, peak)?)
}

/// A synthetic still life: three channels, 0 to 255, channels first.
#[pyfunction]
pub fn still_life(py: Python<'_>, size: usize) -> Result<Bound<'_, PyAny>> {
    Ok(signal_array(py, synthetic::still_life(size)?, true)?.into_any())
}
