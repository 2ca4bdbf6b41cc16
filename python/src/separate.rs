//! A smooth layer and texture.

use crate::arrays::{Numbers, signal_array};
use crate::errors::Result;
use crate::options::{PenaltyOptions, RunOptions, in_precision};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::Real;
use lobcod::tasks::separate::SeparateParams;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The two layers of an array, and the report.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "named one by one in Python")]
pub fn separate<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    dictionary: Numbers<'py>,
    smooth: f64,
    alternations: usize,
    penalty: PenaltyOptions,
    run: RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let params = SeparateParams {
        mu: smooth,
        tolerance: run.tolerance,
        alternations,
        time_limit: run.time_limit()?,
        threads: run.threads,
        max_memory: run.max_memory,
        ..SeparateParams::new(penalty.penalty())
    };
    in_precision!(run.precision.as_str(), separate_in(py, &image, has_channels, &dictionary, params, &run))
}

fn separate_in<'py, T: Real + Element>(
    py: Python<'py>,
    image: &Numbers<'py>,
    has_channels: bool,
    dictionary: &Numbers<'py>,
    params: SeparateParams,
    run: &RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let separator = params.check()?;
    let signal = image.signal::<T>(has_channels)?;
    let dictionary = dictionary.dictionary::<T>(signal.extent().rank())?;
    let place = run.place()?;
    let layers = supervise(py, run.callback.as_ref(), move |mut watcher| {
        Ok(separator.run_on(&*place.engine::<T>()?, &signal, &dictionary, &mut watcher)?)
    })?;
    let told = report(py, &layers.report)?;
    told.set_item("alternations", layers.alternations)?;
    let fields = PyDict::new(py);
    fields.set_item("smooth", signal_array(py, layers.base, has_channels)?)?;
    fields.set_item("texture", signal_array(py, layers.texture, has_channels)?)?;
    fields.set_item("report", told)?;
    Ok(fields)
}
