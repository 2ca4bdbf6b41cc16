//! Online dictionary learning, one array at a time.

use crate::arrays::{Numbers, array, atoms_array};
use crate::errors::Result;
use crate::learn::{GivenImage, ModelOptions, details};
use crate::options::{EngineChoice, PenaltyOptions, RunOptions};
use crate::reports::{learn_point, list};
use crate::supervise::supervise;
use lobcod::base::Base;
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::learn::LearnPoint;
use lobcod::{Control, LearnParams, Real};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;

/// Options of a stream.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct StreamOptions {
    base: String,
    border: String,
    stream_memory: usize,
    seed: u64,
}

/// The model in either precision.
enum Model {
    F32(lobcod::Stream<f32>),
    F64(lobcod::Stream<f64>),
}

/// Calls a function with the model, whatever its precision.
macro_rules! with_model {
    ($model:expr, $stream:ident => $value:expr) => {
        match $model {
            Model::F32($stream) => $value,
            Model::F64($stream) => $value,
        }
    };
}

/// Online dictionary learning, one array at a time.
#[pyclass(module = "lobcod._lobcod")]
pub struct Stream {
    model: Model,
    base: String,
    choice: EngineChoice,
}

#[pymethods]
impl Stream {
    /// A stream that starts from these atoms, for signals with `rank` axes.
    #[new]
    fn new(first: Numbers<'_>, rank: usize, options: &Bound<'_, PyDict>) -> Result<Self> {
        let (penalty, run): (PenaltyOptions, RunOptions<'_>) =
            (options.extract()?, options.extract()?);
        let model: ModelOptions = options.extract()?;
        let options: StreamOptions = options.extract()?;
        let mut params = LearnParams::new(penalty.penalty());
        params.border = options.border.parse()?;
        params.stream_memory = options.stream_memory;
        params.seed = options.seed;
        params.max_memory = run.max_memory;
        params.smooth_layer = options.base.parse::<Base>()?.joint_weight();
        model.set(&mut params)?;
        let learner = params.check()?;
        let model = match run.precision.as_str() {
            "f64" => Model::F64(learner.stream(&first.dictionary(rank)?)?),
            _ => Model::F32(learner.stream(&first.dictionary(rank)?)?),
        };
        Ok(Self { model, base: options.base, choice: run.engine_choice()? })
    }

    /// Learns from more arrays; returns `False` if stopped by the callback, in which case the model
    /// is unchanged.
    fn partial_fit(
        &mut self,
        py: Python<'_>,
        images: Vec<GivenImage<'_>>,
        callback: Option<&Bound<'_, PyAny>>,
    ) -> Result<bool> {
        let (model, control) = match &self.model {
            Model::F32(stream) => {
                let (stream, control) =
                    fit(py, stream.clone(), &images, &self.base, self.choice, callback)?;
                (Model::F32(stream), control)
            }
            Model::F64(stream) => {
                let (stream, control) =
                    fit(py, stream.clone(), &images, &self.base, self.choice, callback)?;
                (Model::F64(stream), control)
            }
        };
        self.model = model;
        Ok(control == Control::Continue)
    }

    /// The current atoms.
    fn dictionary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_model!(&self.model, stream => Ok(atoms_array(py, stream.dictionary())?.into_any()))
    }

    /// One point per call so far.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        with_model!(&self.model, stream => list(py, stream.history(), learn_point))
    }

    /// The penalty in signal units, once it is known.
    fn penalty(&self) -> Option<f64> {
        with_model!(&self.model, stream => stream.penalty())
    }

    /// The state of the model, as arrays and numbers.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let checkpoint = with_model!(&self.model, stream => stream.checkpoint());
        let vector = |numbers: Vec<f64>| {
            let count = numbers.len();
            array(py, numbers, &[count])
        };
        let history: Vec<f64> = checkpoint.history.iter().flat_map(row).collect();
        let memory = PyDict::new(py);
        for (name, numbers) in checkpoint.learner {
            memory.set_item(name, vector(numbers)?)?;
        }
        let state = PyDict::new(py);
        state.set_item("fingerprint", checkpoint.fingerprint)?;
        state.set_item("seconds", checkpoint.seconds)?;
        state.set_item("penalty", checkpoint.penalty)?;
        state.set_item("dictionary", vector(checkpoint.dictionary)?)?;
        state.set_item("history", vector(history)?)?;
        state.set_item("memory", memory)?;
        Ok(state)
    }

    /// Restores the state of a stream with the same parameters and initial atoms.
    fn restore(&mut self, state: StreamState<'_>) -> Result<()> {
        let history: Vec<f64> = state.history.values();
        let checkpoint = LearnCheckpoint {
            fingerprint: state.fingerprint,
            seconds: state.seconds,
            penalty: state.penalty,
            dictionary: state.dictionary.values(),
            codes: Vec::new(),
            history: history.as_chunks().0.iter().map(point).collect(),
            learner: state
                .memory
                .iter()
                .map(|(name, numbers)| (name.clone(), numbers.values()))
                .collect(),
        };
        with_model!(&mut self.model, stream => stream.restore(&checkpoint)?);
        Ok(())
    }
}

/// What [`Stream::state`] returned.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct StreamState<'py> {
    fingerprint: u64,
    seconds: f64,
    penalty: f64,
    dictionary: Numbers<'py>,
    history: Numbers<'py>,
    memory: BTreeMap<String, Numbers<'py>>,
}

fn row(p: &LearnPoint) -> [f64; 7] {
    let [pass, nonzeros, replaced, merged] =
        [p.pass, p.nonzeros, p.replaced_atoms, p.merged_atoms].map(|n| n as f64);
    [p.seconds, pass, p.objective, p.data_term, nonzeros, replaced, merged]
}

fn point(row: &[f64; 7]) -> LearnPoint {
    let [seconds, pass, objective, data_term, nonzeros, replaced, merged] = *row;
    let [pass, nonzeros, replaced_atoms, merged_atoms] =
        [pass, nonzeros, replaced, merged].map(|x| x as usize);
    LearnPoint { seconds, pass, objective, data_term, nonzeros, replaced_atoms, merged_atoms }
}

fn fit<T: Real>(
    py: Python<'_>,
    mut stream: lobcod::Stream<T>,
    images: &[GivenImage<'_>],
    base: &str,
    choice: EngineChoice,
    callback: Option<&Bound<'_, PyAny>>,
) -> Result<(lobcod::Stream<T>, Control)> {
    let observed = details::<T>(py, images, base, stream.dictionary().extent())?;
    supervise(py, callback, move |mut watcher| {
        let control = stream.partial_fit(&*choice.engine::<T>()?, &observed, &mut watcher)?;
        Ok((stream, control))
    })
}
