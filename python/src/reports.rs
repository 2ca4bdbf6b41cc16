//! Reports as dictionaries, with the names of the command line's `--json`.

use lobcod::{Certificate, HistoryPoint, LearnPoint, Progress, Report};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Where the work stands, for callbacks.
pub fn progress<'py>(py: Python<'py>, now: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("seconds", now.seconds)?;
    fields.set_item("objective", now.objective)?;
    fields.set_item("relative_gap", now.relative_gap)?;
    fields.set_item("tolerance", now.tolerance)?;
    fields.set_item("nonzeros", now.nonzeros)?;
    fields.set_item("discovery_sweeps", now.discovery_sweeps)?;
    fields.set_item("support_sweeps", now.support_sweeps)?;
    fields.set_item("stage_penalty", now.stage_penalty)?;
    fields.set_item("pass_number", now.pass)?;
    Ok(fields)
}

/// The report of a pursuit.
pub fn report<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let fields = certificate(py, &report.total)?;
    fields.set_item("status", report.status.to_string())?;
    fields.set_item("penalty", report.penalty)?;
    fields.set_item("discovery_sweeps", report.discovery_sweeps)?;
    fields.set_item("support_sweeps", report.support_sweeps)?;
    fields.set_item("seconds", report.seconds)?;
    fields.set_item("working_memory_bytes", report.working_memory_bytes)?;
    fields.set_item("threads", report.threads)?;
    fields.set_item("engine", report.engine)?;
    fields.set_item("precision", report.precision)?;
    fields.set_item("history", list(py, &report.history, history_point)?)?;
    Ok(fields)
}

/// Objective and certificate.
fn certificate<'py>(py: Python<'py>, certificate: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("objective", certificate.objective)?;
    fields.set_item("data_term", certificate.data_term)?;
    fields.set_item("gap", certificate.gap)?;
    fields.set_item("relative_gap", certificate.relative_gap())?;
    fields.set_item("nonzeros", certificate.nonzeros)?;
    fields.set_item("pixels", certificate.pixels)?;
    fields.set_item("penalty_max", certificate.penalty_max)?;
    Ok(fields)
}

fn history_point<'py>(py: Python<'py>, point: &HistoryPoint) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("seconds", point.seconds)?;
    fields.set_item("objective", point.objective)?;
    fields.set_item("nonzeros", point.nonzeros)?;
    fields.set_item("relative_gap", point.relative_gap)?;
    Ok(fields)
}

/// A pass of learning.
pub fn learn_point<'py>(py: Python<'py>, point: &LearnPoint) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("seconds", point.seconds)?;
    fields.set_item("pass_number", point.pass)?;
    fields.set_item("objective", point.objective)?;
    fields.set_item("data_term", point.data_term)?;
    fields.set_item("nonzeros", point.nonzeros)?;
    fields.set_item("replaced_atoms", point.replaced_atoms)?;
    fields.set_item("merged_atoms", point.merged_atoms)?;
    Ok(fields)
}

/// A list of what `make` makes of the items.
pub fn list<'py, I, R: IntoPyObject<'py>>(
    py: Python<'py>,
    items: &[I],
    make: impl Fn(Python<'py>, &I) -> PyResult<R>,
) -> PyResult<Bound<'py, PyList>> {
    let made = items.iter().map(|item| make(py, item)).collect::<PyResult<Vec<R>>>()?;
    PyList::new(py, made)
}
