//! Defaults and accepted values of options, for the parameter table in Python.

use crate::options::{ENGINES, PRECISIONS};
use crate::{denoise, fuse, inpaint, learn, pursuit};
use lobcod::base::Base;
use lobcod::dictionary::Embedded;
use lobcod::learn::Step;
use lobcod::{Border, LearnParams, Penalty, PursuitParams};
use lobcod_tasks::denoise::{DenoiseParams, Noise};
use lobcod_tasks::fuse::FuseParams;
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::separate::SeparateParams;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Default penalty, as a fraction of penalty_max.
const RELATIVE_PENALTY: f64 = 0.05;
/// Default number and size of learnt atoms.
const ATOMS: usize = 81;
const SIZE: [usize; 2] = [8, 8];

/// Makes a dictionary of names and values.
macro_rules! dict {
    ($py:expr, $($name:ident: $value:expr),+ $(,)?) => {{
        let fields = PyDict::new($py);
        $(fields.set_item(stringify!($name), $value)?;)+
        fields
    }};
}

/// The names of a choice.
fn words<T>(meanings: &[(&'static str, T)]) -> Vec<&'static str> {
    meanings.iter().map(|(word, _)| *word).collect()
}

/// The name of a value.
fn name<T: PartialEq>(value: &T, meanings: &[(&'static str, T)]) -> &'static str {
    meanings
        .iter()
        .find(|(_, meaning)| meaning == value)
        .map(|(word, _)| *word)
        .expect("every value has a name")
}

/// The values that each option accepts.
#[pyfunction]
pub fn choices(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(dict!(py,
        border: Border::ALL.map(|border| border.to_string()),
        embedded: Embedded::ALL.map(|embedded| embedded.to_string()),
        engine: words(ENGINES),
        precision: PRECISIONS,
        schedule: words(pursuit::SCHEDULES),
        local: words(pursuit::LOCAL_SOLVERS),
        learning: words(learn::METHODS),
        order: words(learn::ORDERS),
        step: Step::ALL.map(|step| step.to_string()),
        denoising: words(denoise::METHODS),
        fill: words(inpaint::FILLS),
        mode: words(fuse::MODES),
        activity: words(fuse::ACTIVITIES),
        compose: words(fuse::COMPOSITIONS),
        fuse_base: words(fuse::BASES),
        prefer: words(fuse::PREFERENCES),
        align: words(fuse::ALIGNMENTS),
    ))
}

/// The defaults of the options of each function.
#[pyfunction]
pub fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(dict!(py,
        relative_penalty: RELATIVE_PENALTY,
        encode: encode_defaults(py)?,
        learn: learn_defaults(py)?,
        Stream: stream_defaults(py)?,
        inpaint: inpaint_defaults(py)?,
        fuse: fuse_defaults(py)?,
        denoise: denoise_defaults(py)?,
        separate: separate_defaults(py)?,
        base_layer: dict!(py, base: Base::default().to_string()),
    ))
}

fn no_penalty() -> Option<f64> {
    None
}

fn encode_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let params = PursuitParams::new(Penalty::Relative(RELATIVE_PENALTY));
    Ok(dict!(py,
        penalty: no_penalty(),
        border: params.border.to_string(),
        tolerance: params.tolerance,
        base: Base::default().to_string(),
        nonnegative: params.nonnegative,
        atom_weights: params.atom_weights,
        elastic: params.elastic,
        joint: params.joint,
        max_error: no_penalty(),
        debias: params.debias,
        loss: params.loss.to_string(),
        max_nonzeros: params.max_nonzeros,
        schedule: name(&params.schedule, pursuit::SCHEDULES),
        local: name(&params.local, pursuit::LOCAL_SOLVERS),
        tile: params.tile,
        max_sweeps: params.max_sweeps,
        seed: params.seed,
        threads: 0,
        engine: ENGINES[0].0,
        time_limit: params.time_limit.map(|limit| limit.as_secs_f64()),
        max_memory: params.max_memory,
    ))
}

fn learn_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let params = LearnParams::new(Penalty::Relative(RELATIVE_PENALTY));
    Ok(dict!(py,
        atoms: ATOMS,
        size: (SIZE[0], SIZE[1]),
        penalty: no_penalty(),
        method: name(&params.method, learn::METHODS),
        seed: params.seed,
        nonnegative: params.nonnegative,
        zero_mean: params.zero_mean,
        grow: params.grow,
        passes: params.passes,
        rounds: params.rounds,
        target_objective: params.target_objective,
        base: Base::default().to_string(),
        border: params.border.to_string(),
        tolerance: params.tolerance,
        threads: 0,
        engine: ENGINES[0].0,
        time_limit: params.time_limit.map(|limit| limit.as_secs_f64()),
        max_memory: params.max_memory,
    ))
}

fn stream_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let fields = learn_defaults(py)?;
    fields.set_item(
        "stream_memory",
        LearnParams::new(Penalty::Relative(RELATIVE_PENALTY)).stream_memory,
    )?;
    Ok(fields)
}

fn inpaint_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let params = InpaintParams::default();
    Ok(dict!(py,
        penalty: params.penalty,
        held_out: params.held_out,
        fill: name(&params.fill, inpaint::FILLS),
        seed: params.seed,
        threads: 0,
        engine: ENGINES[0].0,
        time_limit: params.time_limit.map(|limit| limit.as_secs_f64()),
        max_memory: params.max_memory,
    ))
}

fn fuse_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let params = FuseParams::default();
    Ok(dict!(py,
        mode: name(&params.mode, fuse::MODES),
        penalty: params.penalty,
        smooth: params.mu,
        window: params.window,
        fuse_base: name(&params.base, fuse::BASES),
        activity: name(&params.activity, fuse::ACTIVITIES),
        prefer: name(&params.prefer, fuse::PREFERENCES),
        align: name(&params.align, fuse::ALIGNMENTS),
        fast: params.fast,
        alternations: params.alternations,
        tolerance: params.tolerance,
        threads: 0,
        engine: ENGINES[0].0,
        time_limit: params.time_limit.map(|limit| limit.as_secs_f64()),
        max_memory: params.max_memory,
    ))
}

fn denoise_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let params = DenoiseParams::new(Noise::Auto);
    Ok(dict!(py,
        noise: params.noise.name(),
        strength: params.strength,
        fit_atoms: params.fit_atoms,
        penalty: params.penalty,
        tolerance: params.tolerance,
        threads: 0,
        engine: ENGINES[0].0,
        time_limit: params.time_limit.map(|limit| limit.as_secs_f64()),
        max_memory: params.max_memory,
    ))
}

fn separate_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let params = SeparateParams::new(Penalty::Relative(RELATIVE_PENALTY));
    Ok(dict!(py,
        penalty: no_penalty(),
        smooth: params.mu,
        alternations: params.alternations,
        tolerance: params.tolerance,
        threads: 0,
        engine: ENGINES[0].0,
        time_limit: params.time_limit.map(|limit| limit.as_secs_f64()),
        max_memory: params.max_memory,
    ))
}
