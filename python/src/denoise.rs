//! Denoising.

use crate::arrays::{Numbers, atoms_array, signal_array};
use crate::errors::Result;
use crate::options::{RunOptions, word};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod_tasks::denoise::{DenoiseParams, DetectedNoise, Effort, Method};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Denoising methods by name.
pub const METHODS: &[(&str, Method)] =
    &[("local", Method::Local), ("convolutional", Method::Convolutional)];
/// Methods of the presets by name.
pub const PRESETS: &[(&str, Method)] = &[
    ("fast", Method::Local),
    ("standard", Method::Groups(Effort::Standard)),
    ("best", Method::Groups(Effort::Best)),
];

/// Options of denoising.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct DenoiseOptions {
    noise: String,
    strength: f64,
    preset: String,
    method: Option<String>,
    fit_atoms: bool,
    scale: f64,
    penalty: Option<f64>,
    tolerance: f64,
}

/// The clean image, the atoms adapted to it, and the report.
#[pyfunction]
pub fn denoise<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    dictionary: Numbers<'py>,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyDict>> {
    let run: RunOptions<'py> = options.extract()?;
    let options: DenoiseOptions = options.extract()?;
    let mut params = DenoiseParams::new(options.noise.parse()?);
    params.strength = options.strength;
    params.method = match &options.method {
        Some(method) => word("the method", method, METHODS)?,
        None => word("the preset", &options.preset, PRESETS)?,
    };
    params.fit_atoms = options.fit_atoms;
    params.scale = options.scale;
    params.penalty = options.penalty;
    params.tolerance = options.tolerance;
    params.time_limit = run.time_limit()?;
    params.max_memory = run.max_memory;
    let given = params.noise;
    let denoiser = params.check()?;
    let signal = image.signal::<f32>(has_channels)?;
    let dictionary = dictionary.dictionary::<f32>(2)?;
    let choice = run.engine_choice()?;
    let clean = supervise(py, run.callback.as_ref(), move |mut watcher| {
        Ok(denoiser.run(&*choice.engine()?, &signal, &dictionary, &mut watcher)?)
    })?;
    let report_fields = PyDict::new(py);
    report_fields.set_item("status", clean.status.to_string())?;
    let removed = clean.detected.map_or(Some(given), DetectedNoise::to_noise);
    report_fields.set_item("noise", removed.map_or("none", |noise| noise.name()))?;
    report_fields.set_item("noise_level", clean.level)?;
    report_fields.set_item("seconds", clean.seconds)?;
    let atoms = clean.dictionary.map(|dictionary| atoms_array(py, &dictionary));
    report_fields.set_item("dictionary", atoms.transpose()?)?;
    report_fields
        .set_item("pursuit", clean.report.map(|pursuit| report(py, &pursuit)).transpose()?)?;
    let fields = PyDict::new(py);
    fields.set_item("image", signal_array(py, clean.image, has_channels)?)?;
    fields.set_item("report", report_fields)?;
    Ok(fields)
}
