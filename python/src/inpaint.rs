//! Filling what is missing.

use crate::arrays::{Numbers, atoms_array, signal_array};
use crate::errors::Result;
use crate::options::{RunOptions, in_precision};
use crate::reports::{list, tell, tell_run};
use crate::supervise::supervise;
use lobcod::Real;
use lobcod::tasks::inpaint::{AnswerReport, InpaintParams, InpaintReport, PathPoint};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What belongs to inpainting alone.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct InpaintOptions {
    penalty: Option<f64>,
    learn: bool,
    variants: usize,
    windows: Vec<f64>,
    density: f64,
    held_out: f64,
    seed: u64,
}

/// The filled array, the fit everywhere, atoms learnt on it, and the report.
#[pyfunction]
pub fn inpaint<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    known: Numbers<'py>,
    dictionaries: Vec<Numbers<'py>>,
    options: InpaintOptions,
    run: RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    in_precision!(run.precision.as_str(), inpaint_in(py, &image, has_channels, &known, &dictionaries, &options, &run))
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
    let inpaint = InpaintParams {
        penalty: options.penalty,
        learn: options.learn,
        variants: options.variants,
        windows: options.windows.clone(),
        density: options.density,
        held_out: options.held_out,
        seed: options.seed,
        time_limit: run.time_limit()?,
        threads: run.threads,
        max_memory: run.max_memory,
    }
    .check()?;
    let signal = image.signal::<T>(has_channels)?;
    let rank = signal.extent().rank();
    let known = known.mask::<T>(rank)?;
    let dictionaries = dictionaries.iter().map(|d| d.dictionary::<T>(rank)).collect::<Result<Vec<_>>>()?;
    let place = run.place()?;
    let filled = supervise(py, run.callback.as_ref(), move |mut watcher| {
        Ok(inpaint.run_on(&*place.engine::<T>()?, &signal, &known, &dictionaries, &mut watcher)?)
    })?;
    let fields = PyDict::new(py);
    fields.set_item("picture", signal_array(py, filled.picture, has_channels)?)?;
    fields.set_item("fit", signal_array(py, filled.fit, has_channels)?)?;
    fields.set_item("learnt", filled.learnt.map(|atoms| atoms_array(py, &atoms)).transpose()?)?;
    fields.set_item("report", report(py, &filled.report)?)?;
    Ok(fields)
}

fn report<'py>(py: Python<'py>, report: &InpaintReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    tell_run!(fields, report);
    fields.set_item("penalty_path", list(py, &report.path, path_point)?)?;
    fields.set_item("answers", list(py, &report.answers, answer)?)?;
    fields.set_item("held_out_samples", report.held_out)?;
    fields.set_item("nonzeros", report.answers.iter().map(|a| a.nonzeros).sum::<usize>())?;
    Ok(fields)
}

fn answer<'py>(py: Python<'py>, answer: &AnswerReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    tell!(fields, answer, dictionary, variant, window, trust, learnt, weight, penalty, nonzeros);
    fields.set_item("penalty_path", list(py, &answer.path, path_point)?)?;
    Ok(fields)
}

fn path_point<'py>(py: Python<'py>, point: &PathPoint) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    tell!(fields, point, penalty, held_out_error);
    Ok(fields)
}
