//! Learning from a set of arrays.

use crate::arrays::{Numbers, atoms_array, optional_mask};
use crate::errors::{Fault, Result};
use crate::options::{PenaltyOptions, RunOptions};
use crate::pursuit::take_base;
use crate::reports::{learn_point, list, report};
use crate::supervise::supervise;
use lobcod::base::Base;
use lobcod::{Decay, Dictionary, Extent, LearnCheckpoint, LearnParams, Mask, Method, Observed, Real, Signal, Step};
use lobcod_image::{Keeper, Kept};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// What belongs to learning alone.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LearnOptions {
    border: String,
    /// Layer taken off before learning.
    pub base: String,
    method: String,
    step: Option<String>,
    step_size: Option<f64>,
    decay: Option<String>,
    passes: usize,
    rounds: usize,
    stream_memory: usize,
    target_objective: Option<f64>,
    seed: u64,
    checkpoint: Option<PathBuf>,
    resume: Option<PathBuf>,
}

impl LearnOptions {
    /// The parameters asked for.
    pub fn params(&self, penalty: &PenaltyOptions, run: &RunOptions<'_>) -> Result<LearnParams> {
        Ok(LearnParams {
            border: self.border.parse()?,
            method: self.method()?,
            passes: self.passes,
            rounds: self.rounds,
            stream_memory: self.stream_memory,
            target_objective: self.target_objective,
            time_limit: run.time_limit()?,
            tolerance: run.tolerance,
            seed: self.seed,
            threads: run.threads,
            max_memory: run.max_memory,
            ..LearnParams::new(penalty.penalty())
        })
    }

    fn method(&self) -> Result<Method> {
        let idle = self.step.is_some() || self.step_size.is_some() || self.decay.is_some();
        match self.method.as_str() {
            "stochastic" => {
                let step = self.step.as_deref().map_or(Ok(Step::PAPER), str::parse)?;
                let step = self.step_size.map_or(step, |size| step.with_size(size));
                Ok(Method::Stochastic { step, decay: self.decay.as_deref().map_or(Ok(Decay::None), str::parse)? })
            }
            _ if idle => Err(Fault::value("step, step_size and decay belong to the method stochastic; leave them out")),
            "atomwise" => Ok(Method::Atomwise),
            "batch" => Ok(Method::Batch),
            other => Err(Fault::value(format!("the method is {other}, but must be atomwise, stochastic or batch"))),
        }
    }
}

/// An array to learn from.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GivenImage<'py> {
    image: Numbers<'py>,
    has_channels: bool,
    mask: Option<Numbers<'py>>,
}

impl GivenImage<'_> {
    /// The samples, and which of them are known.
    pub fn read<T: Real>(&self) -> Result<(Signal<T>, Option<Mask<T>>)> {
        let signal = self.image.signal::<T>(self.has_channels)?;
        let mask = optional_mask(self.mask.as_ref(), signal.extent().rank())?;
        Ok((signal, mask))
    }
}

/// The arrays less their base layers, for atoms of this size.
pub fn details<T: Real>(py: Python<'_>, images: &[GivenImage<'_>], base: &str, atom: Extent) -> Result<Vec<Observed<T>>> {
    let base: Base = base.parse()?;
    let pictures = images.iter().map(GivenImage::read::<T>).collect::<Result<Vec<_>>>()?;
    let kind = |s: &Signal<T>| (s.extent().rank(), s.channels());
    let Some((first, _)) = pictures.first() else { return Err(Fault::value("there is no image to learn from")) };
    if pictures.iter().any(|(signal, _)| kind(signal) != kind(first)) {
        return Err(Fault::value("the images differ in their axes or channels; learn from them one by one"));
    }
    let less_base = |(mut signal, mask): (Signal<T>, Option<Mask<T>>)| {
        take_base(&mut signal, mask.as_ref(), base, atom)?;
        Ok(Observed { mask, ..signal.into() })
    };
    Ok(py.detach(move || pictures.into_iter().map(less_base).collect::<lobcod::Result<Vec<_>>>())?)
}

/// Atoms learnt from arrays, and the report.
#[pyfunction]
pub fn learn<'py>(
    py: Python<'py>,
    images: Vec<GivenImage<'py>>,
    first: Numbers<'py>,
    rank: usize,
    penalty: PenaltyOptions,
    options: LearnOptions,
    run: RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    match run.precision.as_str() {
        "f64" => learn_in::<f64>(py, &images, first.dictionary(rank)?, &penalty, &options, &run),
        _ => learn_in::<f32>(py, &images, first.dictionary(rank)?, &penalty, &options, &run),
    }
}

fn learn_in<'py, T: Real + Element>(
    py: Python<'py>,
    images: &[GivenImage<'py>],
    dictionary: Dictionary<T>,
    penalty: &PenaltyOptions,
    options: &LearnOptions,
    run: &RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let learner = options.params(penalty, run)?.check()?;
    let observed = details::<T>(py, images, &options.base, dictionary.extent())?;
    if observed.iter().all(|o| o.signal.data().iter().all(|x| *x == T::ZERO)) {
        return Err(Fault::value("there is no detail in the images to learn from; give others, or try base=\"none\""));
    }
    let checkpoint = options.resume.as_deref().map(LearnCheckpoint::read).transpose()?;
    let file = options.checkpoint.clone();
    file.as_deref().map(LearnCheckpoint::check_place).transpose()?;
    let place = run.place()?;
    let learnt = supervise(py, run.callback.as_ref(), move |watcher| {
        let engine = place.engine::<T>()?;
        let mut keeper = Keeper::<LearnCheckpoint, _>::new(watcher, file.as_deref());
        let learnt = match &checkpoint {
            Some(checkpoint) => learner.resume_on(&*engine, checkpoint, &observed, &dictionary, &mut keeper)?,
            None => learner.run_on(&*engine, &observed, &dictionary, &mut keeper)?,
        };
        keeper.finish(learnt.report.status)?;
        Ok(learnt)
    })?;
    let fields = report(py, &learnt.report.pursuit)?;
    fields.set_item("pursuit_status", learnt.report.pursuit.status.to_string())?;
    fields.set_item("status", learnt.report.status.to_string())?;
    fields.set_item("seconds", learnt.report.seconds)?;
    fields.set_item("passes", learnt.report.passes)?;
    fields.set_item("replaced_atoms", learnt.report.replaced_atoms)?;
    fields.set_item("merged_atoms", learnt.report.merged_atoms)?;
    fields.set_item("history", list(py, &learnt.report.history, learn_point)?)?;
    let result = PyDict::new(py);
    result.set_item("dictionary", atoms_array(py, &learnt.dictionary)?)?;
    result.set_item("report", fields)?;
    Ok(result)
}
