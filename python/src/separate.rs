//! Separation into a smooth layer and texture.

use crate::arrays::{Numbers, signal_array};
use crate::errors::Result;
use crate::options::{PenaltyOptions, RunOptions, in_precision};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::Real;
use lobcod_tasks::separate::SeparateParams;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Options of separation.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SeparateOptions {
    smooth: f64,
    alternations: usize,
    tolerance: f64,
}

/// The two layers of an array, and the report.
#[pyfunction]
pub fn separate<'py>(
    py: Python<'py>,
    image: Numbers<'py>,
    has_channels: bool,
    dictionary: Numbers<'py>,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyDict>> {
    let (penalty, run): (PenaltyOptions, RunOptions<'py>) =
        (options.extract()?, options.extract()?);
    let options: SeparateOptions = options.extract()?;
    let mut params = SeparateParams::new(penalty.penalty());
    params.mu = options.smooth;
    params.tolerance = options.tolerance;
    params.alternations = options.alternations;
    params.time_limit = run.time_limit()?;
    params.max_memory = run.max_memory;
    in_precision!(
        run.precision.as_str(),
        separate_in(py, &image, has_channels, &dictionary, params, &run)
    )
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
    let choice = run.engine_choice()?;
    let layers = supervise(py, run.callback.as_ref(), move |mut watcher| {
        Ok(separator.run(&*choice.engine::<T>()?, &signal, &dictionary, &mut watcher)?)
    })?;
    let report_fields = report(py, &layers.report)?;
    report_fields.set_item("alternations", layers.alternations)?;
    let fields = PyDict::new(py);
    fields.set_item("smooth", signal_array(py, layers.base, has_channels)?)?;
    fields.set_item("texture", signal_array(py, layers.texture, has_channels)?)?;
    fields.set_item("report", report_fields)?;
    Ok(fields)
}
