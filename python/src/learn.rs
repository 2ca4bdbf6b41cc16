//! Batch learning from a set of arrays.

use crate::arrays::{Numbers, atoms_array, optional_weights};
use crate::errors::{Fault, Result};
use crate::options::{PenaltyOptions, RunOptions, word};
use crate::pursuit::subtract_base;
use crate::reports::{learn_point, list, report};
use crate::supervise::supervise;
use lobcod::base::Base;
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::learn::{Decay, Method, Step};
use lobcod::{Dictionary, Extent, LearnParams, Mask, Observed, Real, Signal};
use lobcod_io::{Keeper, Kept};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Learning methods by name; the stochastic one with its defaults.
pub const METHODS: &[(&str, Method)] = &[
    ("atomwise", Method::Atomwise),
    ("stochastic", Method::Stochastic { step: Step::PAPER, decay: Decay::None }),
    ("batch", Method::Batch),
];

/// Options of learning.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LearnOptions {
    base: String,
    checkpoint: Option<PathBuf>,
    resume: Option<PathBuf>,
}

/// Parameters of learning.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SetOptions {
    border: String,
    method: String,
    step: Option<String>,
    step_size: Option<f64>,
    decay: Option<String>,
    passes: usize,
    rounds: usize,
    target_objective: Option<f64>,
    tolerance: f64,
    seed: u64,
    grow: bool,
    sort: Option<String>,
}

/// Constraints on codes and atoms.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ModelOptions {
    nonnegative: bool,
    zero_mean: bool,
    window: Option<String>,
    rank: Option<usize>,
    frozen: usize,
    sizes: Vec<Vec<usize>>,
}

impl ModelOptions {
    /// Adds the constraints to parameters.
    pub fn set(&self, params: &mut LearnParams) -> Result<()> {
        params.nonnegative = self.nonnegative;
        params.zero_mean = self.zero_mean;
        params.window = self.window.as_deref().map(str::parse).transpose()?;
        params.rank_one = match self.rank {
            None => false,
            Some(1) => true,
            Some(rank) => {
                return Err(Fault::value(format!(
                    "the rank is {rank}, but must be 1, or None for atoms of any rank"
                )));
            }
        };
        params.frozen = self.frozen;
        let sizes = self.sizes.iter().map(|size| Extent::new(size));
        params.sizes = sizes.collect::<lobcod::Result<_>>()?;
        Ok(())
    }
}

/// Orders of the learnt atoms by name.
pub const ORDERS: &[(&str, bool)] = &[("variance", true)];

impl SetOptions {
    fn method(&self, rank_one: bool) -> Result<Method> {
        let steps = self.step.is_some() || self.step_size.is_some() || self.decay.is_some();
        match word("the method", &self.method, METHODS)? {
            Method::Stochastic { decay, .. } => {
                let step = self.step.as_deref().map_or(Ok(Step::suited(rank_one)), str::parse)?;
                let step = self.step_size.map_or(step, |size| step.with_size(size));
                Ok(Method::Stochastic {
                    step,
                    decay: self.decay.as_deref().map_or(Ok(decay), str::parse)?,
                })
            }
            _ if steps => Err(Fault::value(
                "step, step_size and decay require method=\"stochastic\"; remove them",
            )),
            method => Ok(method),
        }
    }
}

fn params(options: &Bound<'_, PyDict>, run: &RunOptions<'_>) -> Result<LearnParams> {
    let (penalty, set): (PenaltyOptions, SetOptions) = (options.extract()?, options.extract()?);
    let mut params = LearnParams::new(penalty.penalty());
    params.border = set.border.parse()?;
    params.passes = set.passes;
    params.rounds = set.rounds;
    params.target_objective = set.target_objective;
    params.time_limit = run.time_limit()?;
    params.tolerance = set.tolerance;
    params.seed = set.seed;
    params.max_memory = run.max_memory;
    params.grow = set.grow;
    params.sort = set.sort.as_deref().map_or(Ok(false), |sort| word("sort", sort, ORDERS))?;
    params.smooth_layer = options.extract::<LearnOptions>()?.base.parse::<Base>()?.joint_weight();
    options.extract::<ModelOptions>()?.set(&mut params)?;
    params.method = set.method(params.rank_one)?;
    Ok(params)
}

/// A training array.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GivenImage<'py> {
    image: Numbers<'py>,
    has_channels: bool,
    mask: Option<Numbers<'py>>,
}

impl GivenImage<'_> {
    /// The samples, and the mask of known ones.
    pub fn read<T: Real>(&self) -> Result<(Signal<T>, Option<Mask<T>>)> {
        let signal = self.image.signal::<T>(self.has_channels)?;
        let mask = optional_weights(self.mask.as_ref(), signal.extent().rank())?;
        Ok((signal, mask))
    }
}

/// The arrays minus their base layers, for atoms of this size.
pub fn details<T: Real>(
    py: Python<'_>,
    images: &[GivenImage<'_>],
    base: &str,
    atom: Extent,
) -> Result<Vec<Observed<T>>> {
    let base: Base = base.parse()?;
    let images = images.iter().map(GivenImage::read::<T>).collect::<Result<Vec<_>>>()?;
    let kind = |s: &Signal<T>| (s.extent().rank(), s.channels());
    let Some((first, _)) = images.first() else {
        return Err(Fault::value("there are no images to learn from"));
    };
    if images.iter().any(|(signal, _)| kind(signal) != kind(first)) {
        return Err(Fault::value(
            "the images have different axes or channels; learn from them separately",
        ));
    }
    let less_base = |(mut signal, mask): (Signal<T>, Option<Mask<T>>)| {
        subtract_base(&mut signal, mask.as_ref(), base, atom)?;
        Ok(Observed { mask, ..signal.into() })
    };
    Ok(py.detach(move || images.into_iter().map(less_base).collect::<lobcod::Result<Vec<_>>>())?)
}

/// The atoms learnt from arrays, and the report.
#[pyfunction]
pub fn learn<'py>(
    py: Python<'py>,
    images: Vec<GivenImage<'py>>,
    first: Numbers<'py>,
    rank: usize,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyDict>> {
    let run: RunOptions<'py> = options.extract()?;
    let params = params(options, &run)?;
    let options: LearnOptions = options.extract()?;
    match run.precision.as_str() {
        "f64" => learn_in::<f64>(py, &images, first.dictionary(rank)?, params, &options, &run),
        _ => learn_in::<f32>(py, &images, first.dictionary(rank)?, params, &options, &run),
    }
}

fn learn_in<'py, T: Real + Element>(
    py: Python<'py>,
    images: &[GivenImage<'py>],
    dictionary: Dictionary<T>,
    params: LearnParams,
    options: &LearnOptions,
    run: &RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let learner = params.check()?;
    let observed = details::<T>(py, images, &options.base, dictionary.extent())?;
    if observed.iter().all(|o| o.signal.data().iter().all(|x| *x == T::ZERO)) {
        return Err(Fault::value(
            "the images contain no detail to learn from; use other images, or try base=\"none\"",
        ));
    }
    let checkpoint = options.resume.as_deref().map(LearnCheckpoint::read).transpose()?;
    let file = options.checkpoint.clone();
    file.as_deref().map(LearnCheckpoint::check_place).transpose()?;
    let choice = run.engine_choice()?;
    let learnt = supervise(py, run.callback.as_ref(), move |watcher| {
        let engine = choice.engine::<T>()?;
        let mut keeper = Keeper::<LearnCheckpoint, _>::new(watcher, file.as_deref(), None);
        let learnt = match &checkpoint {
            Some(checkpoint) => {
                learner.resume(&*engine, checkpoint, &observed, &dictionary, &mut keeper)
            }
            None => learner.run(&*engine, &observed, &dictionary, &mut keeper),
        };
        let learnt = match learnt {
            Ok(learnt) => learnt,
            Err(error) => {
                keeper.rescue();
                return Err(error.into());
            }
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
