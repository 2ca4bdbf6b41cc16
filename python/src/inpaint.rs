//! Inpainting.

use crate::arrays::{Numbers, atoms_array, signal_array};
use crate::errors::Result;
use crate::options::{RunOptions, in_precision, word};
use crate::reports::{list, set_fields, set_run_fields};
use crate::supervise::supervise;
use lobcod::Real;
use lobcod_tasks::inpaint::{AnswerReport, Fill, InpaintParams, InpaintReport, PathPoint, Preset};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What large holes are filled with, by name.
pub const FILLS: &[(&str, Fill)] =
    &[("model", Fill::Model), ("auto", Fill::Auto), ("copy", Fill::Copy)];

/// Presets by name.
pub const PRESETS: &[(&str, Preset)] =
    &[("fast", Preset::Fast), ("standard", Preset::Standard), ("best", Preset::Best)];

/// Options of inpainting; those that are `None` are the preset's.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct InpaintOptions {
    preset: String,
    penalty: Option<f64>,
    learn: Option<bool>,
    variants: Option<usize>,
    windows: Option<Vec<f64>>,
    density: Option<f64>,
    groups: Option<usize>,
    held_out: f64,
    fill: String,
    refit_known: bool,
    seed: u64,
}

/// The filled array, the full fit, the atoms learnt from it, and the report.
#[pyfunction]
pub fn inpaint<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    known: Numbers<'py>,
    dictionaries: Vec<Numbers<'py>>,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyDict>> {
    let (options, run): (InpaintOptions, RunOptions<'py>) =
        (options.extract()?, options.extract()?);
    in_precision!(
        run.precision.as_str(),
        inpaint_in(py, &image, has_channels, &known, &dictionaries, &options, &run)
    )
}

fn inpaint_in<'py, T: Real + Element>(
    py: Python<'py>,
    image: &Numbers<'py>,
    has_channels: bool,
    known: &Numbers<'py>,
    dictionaries: &[Numbers<'py>],
    options: &InpaintOptions,
    run: &RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let mut params = InpaintParams::preset(word("the preset", &options.preset, PRESETS)?);
    params.penalty = options.penalty;
    params.learn = options.learn.unwrap_or(params.learn);
    params.variants = options.variants.unwrap_or(params.variants);
    params.windows = options.windows.clone().unwrap_or(params.windows);
    params.density = options.density.unwrap_or(params.density);
    params.groups = options.groups.unwrap_or(params.groups);
    params.held_out = options.held_out;
    params.fill = word("the fill", &options.fill, FILLS)?;
    params.everywhere = options.refit_known;
    params.seed = options.seed;
    params.time_limit = run.time_limit()?;
    params.max_memory = run.max_memory;
    let inpaint = params.check()?;
    let signal = image.signal::<T>(has_channels)?;
    let rank = signal.extent().rank();
    let known = known.mask::<T>(rank)?;
    let dictionaries =
        dictionaries.iter().map(|d| d.dictionary::<T>(rank)).collect::<Result<Vec<_>>>()?;
    let choice = run.engine_choice()?;
    let filled = supervise(py, run.callback.as_ref(), move |mut watcher| {
        Ok(inpaint.run(&*choice.engine::<T>()?, &signal, &known, &dictionaries, &mut watcher)?)
    })?;
    let fields = PyDict::new(py);
    fields.set_item("image", signal_array(py, filled.image, has_channels)?)?;
    fields.set_item("fit", signal_array(py, filled.fit, has_channels)?)?;
    fields.set_item("learnt", filled.learnt.map(|atoms| atoms_array(py, &atoms)).transpose()?)?;
    fields.set_item("report", report(py, &filled.report)?)?;
    Ok(fields)
}

fn report<'py>(py: Python<'py>, report: &InpaintReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_run_fields!(fields, report);
    fields.set_item("penalty_path", list(py, &report.path, path_point)?)?;
    fields.set_item("answers", list(py, &report.answers, answer)?)?;
    fields.set_item("held_out_samples", report.held_out)?;
    fields.set_item("nonzeros", report.answers.iter().map(|a| a.nonzeros).sum::<usize>())?;
    Ok(fields)
}

fn answer<'py>(py: Python<'py>, answer: &AnswerReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(
        fields, answer, dictionary, groups, variant, window, trust, learnt, weight, penalty,
        nonzeros
    );
    fields.set_item("penalty_path", list(py, &answer.path, path_point)?)?;
    Ok(fields)
}

fn path_point<'py>(py: Python<'py>, point: &PathPoint) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(fields, point, penalty, held_out_error);
    Ok(fields)
}
