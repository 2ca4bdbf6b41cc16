//! Reports as dictionaries, with the field names of `--json`.

use lobcod::learn::LearnPoint;
use lobcod::pursuit::HistoryPoint;
use lobcod::{Certificate, Constrained, Progress, Report, Reweighted};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Sets items of a dictionary to the fields of the same names.
macro_rules! set_fields {
    ($fields:expr, $from:expr, $($name:ident),+ $(,)?) => {
        $($fields.set_item(stringify!($name), $from.$name)?;)+
    };
}
pub(crate) use set_fields;

/// Sets the fields of every run report: status, resources and settings.
macro_rules! set_run_fields {
    ($fields:expr, $report:expr) => {
        $fields.set_item("status", $report.status.to_string())?;
        $crate::reports::set_fields!(
            $fields,
            $report,
            penalty,
            discovery_sweeps,
            support_sweeps,
            seconds
        );
        $crate::reports::set_fields!(
            $fields,
            $report,
            working_memory_bytes,
            threads,
            engine,
            precision
        );
    };
}
pub(crate) use set_run_fields;

/// The current progress, for callbacks.
pub fn progress<'py>(py: Python<'py>, now: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(
        fields,
        now,
        seconds,
        objective,
        relative_gap,
        tolerance,
        nonzeros,
        discovery_sweeps,
        support_sweeps,
        stage_penalty,
        fraction
    );
    fields.set_item("pass_number", now.pass)?;
    Ok(fields)
}

/// The report of a pursuit.
pub fn report<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let fields = certificate(py, &report.total)?;
    set_run_fields!(fields, report);
    fields.set_item("debiased_data_term", report.debiased_data_term)?;
    let constrained = report.constrained.as_ref().map(|of| constrained(py, of)).transpose()?;
    fields.set_item("constrained", constrained)?;
    let reweighted = report.reweighted.as_ref().map(|of| reweighted(py, of)).transpose()?;
    fields.set_item("reweighted", reweighted)?;
    fields.set_item("history", list(py, &report.history, history_point)?)?;
    Ok(fields)
}

/// Certificate of the constrained form.
fn constrained<'py>(py: Python<'py>, of: &Constrained) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(fields, of, max_error, error, l1_norm, gap, solves);
    Ok(fields)
}

/// Result of reweighting.
fn reweighted<'py>(py: Python<'py>, of: &Reweighted) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(fields, of, rounds, objective);
    Ok(fields)
}

/// Objective and certificate.
fn certificate<'py>(py: Python<'py>, certificate: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(fields, certificate, objective, data_term, gap, nonzeros, pixels, penalty_max);
    fields.set_item("relative_gap", certificate.relative_gap())?;
    Ok(fields)
}

fn history_point<'py>(py: Python<'py>, point: &HistoryPoint) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(fields, point, seconds, objective, nonzeros, relative_gap);
    Ok(fields)
}

/// A pass of learning.
pub fn learn_point<'py>(py: Python<'py>, point: &LearnPoint) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set_fields!(
        fields,
        point,
        seconds,
        objective,
        data_term,
        nonzeros,
        replaced_atoms,
        merged_atoms
    );
    fields.set_item("pass_number", point.pass)?;
    Ok(fields)
}

/// A list of the results of `make` for each item.
pub fn list<'py, I, R: IntoPyObject<'py>>(
    py: Python<'py>,
    items: &[I],
    make: impl Fn(Python<'py>, &I) -> PyResult<R>,
) -> PyResult<Bound<'py, PyList>> {
    let made = items.iter().map(|item| make(py, item)).collect::<PyResult<Vec<R>>>()?;
    PyList::new(py, made)
}
