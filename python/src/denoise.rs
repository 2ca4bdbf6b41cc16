//! Taking noise off.

use crate::arrays::{Numbers, atoms_array, signal_array};
use crate::errors::{Fault, Result};
use crate::options::{RunOptions, word};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::tasks::denoise::{DenoiseParams, Method, Noise};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What belongs to denoising alone.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct DenoiseOptions {
    noise: String,
    sigma: Option<f64>,
    gain: Option<f64>,
    share: Option<f64>,
    method: String,
    fit_atoms: bool,
    scale: f64,
    penalty: Option<f64>,
}

impl DenoiseOptions {
    fn noise(&self) -> Result<Noise> {
        match self.noise.as_str() {
            "gaussian" => Ok(Noise::Gaussian { sigma: self.sigma }),
            "poisson" => Ok(Noise::Poisson { gain: self.gain }),
            "mixed" => Ok(Noise::Mixed { gain: self.gain.unwrap_or(1.0), sigma: self.sigma.unwrap_or(0.0) }),
            "impulse" => Ok(Noise::Impulse { share: self.share }),
            other => Err(Fault::value(format!("the noise is {other}, but must be gaussian, poisson, mixed or impulse"))),
        }
    }
}

/// The clean picture, the atoms as fitted to it, and the report.
#[pyfunction]
pub fn denoise<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    dictionary: Numbers<'py>,
    options: DenoiseOptions,
    run: RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let denoiser = DenoiseParams {
        method: word("the method", &options.method, &[("local", Method::Local), ("convolutional", Method::Convolutional)])?,
        fit_atoms: options.fit_atoms,
        scale: options.scale,
        penalty: options.penalty,
        tolerance: run.tolerance,
        time_limit: run.time_limit()?,
        threads: run.threads,
        max_memory: run.max_memory,
        ..DenoiseParams::new(options.noise()?)
    }
    .check()?;
    let signal = image.signal::<f32>(has_channels)?;
    let dictionary = dictionary.dictionary::<f32>(signal.extent().rank())?;
    let place = run.place()?;
    let clean = supervise(py, run.callback.as_ref(), move |mut watcher| {
        Ok(denoiser.run_on(&*place.engine()?, &signal, &dictionary, &mut watcher)?)
    })?;
    let told = PyDict::new(py);
    told.set_item("status", clean.status.to_string())?;
    told.set_item("noise", options.noise)?;
    told.set_item("noise_level", clean.level)?;
    told.set_item("seconds", clean.seconds)?;
    told.set_item("dictionary", atoms_array(py, &clean.dictionary)?)?;
    told.set_item("pursuit", clean.report.map(|pursuit| report(py, &pursuit)).transpose()?)?;
    let fields = PyDict::new(py);
    fields.set_item("picture", signal_array(py, clean.picture, has_channels)?)?;
    fields.set_item("report", told)?;
    Ok(fields)
}
