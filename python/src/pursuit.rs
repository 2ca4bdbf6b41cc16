//! Pursuit and reconstruction.

use crate::arrays::{GivenCodes, Numbers, array, code_arrays, optional_weights, signal_array};
use crate::errors::Result;
use crate::options::{PenaltyOptions, RunOptions, in_precision, word};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::base::Base;
use lobcod::checkpoint::Checkpoint;
use lobcod::pursuit::{Local, Schedule, Start};
use lobcod::{Extent, Mask, Observed, Penalty, Pursuit, PursuitParams, Real, Signal};
use lobcod_io::{Keeper, Kept};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Schedules by name.
pub const SCHEDULES: &[(&str, Schedule)] =
    &[("tiles", Schedule::Tiles), ("layers", Schedule::Layers), ("needles", Schedule::Needles)];
/// Local solvers by name.
pub const LOCAL_SOLVERS: &[(&str, Local)] =
    &[("coordinate", Local::Coordinate), ("lars", Local::Lars)];

/// Options of a pursuit.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PursuitOptions {
    border: String,
    tolerance: f64,
    /// The base layer.
    pub base: String,
    schedule: String,
    local: String,
    nonnegative: bool,
    atom_weights: Option<Vec<f64>>,
    elastic: f64,
    joint: f64,
    max_error: Option<f64>,
    debias: bool,
    loss: String,
    max_nonzeros: Option<usize>,
    tile: Option<usize>,
    max_sweeps: usize,
    seed: u64,
    checkpoint: Option<PathBuf>,
    resume: Option<PathBuf>,
}

/// The signal to code, with its mask, maps and initial codes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GivenSignal<'py> {
    image: Numbers<'py>,
    has_channels: bool,
    mask: Option<Numbers<'py>>,
    penalty_map: Option<Numbers<'py>>,
    weights: Option<Numbers<'py>>,
    max_nonzeros_map: Option<Numbers<'py>>,
    start: Option<GivenCodes<'py>>,
    spread: bool,
}

/// The codes of an array, its base layer (if any) and the report.
#[pyfunction]
pub fn encode<'py>(
    py: Python<'py>,
    signal: GivenSignal<'py>,
    dictionary: Numbers<'py>,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyDict>> {
    let (penalty, run): (PenaltyOptions, RunOptions<'py>) =
        (options.extract()?, options.extract()?);
    let options: PursuitOptions = options.extract()?;
    let precision = run.precision.clone();
    in_precision!(precision.as_str(), encode_in(py, &signal, &dictionary, &penalty, options, &run))
}

fn encode_in<'py, T: Real + Element>(
    py: Python<'py>,
    given: &GivenSignal<'py>,
    dictionary: &Numbers<'py>,
    penalty: &PenaltyOptions,
    options: PursuitOptions,
    run: &RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let pursuit = pursuit_of(penalty, &options, run)?;
    let kind: Base = options.base.parse()?;
    let mut signal: Signal<T> = given.image.signal(given.has_channels)?;
    let rank = signal.extent().rank();
    let dictionary = dictionary.dictionary::<T>(rank)?;
    let mask = optional_weights::<T>(given.mask.as_ref(), rank)?;
    let map =
        |map: &Option<Numbers<'py>>| map.as_ref().map(|map| map.signal::<T>(false)).transpose();
    let (penalty_map, max_nonzeros_map) = (map(&given.penalty_map)?, map(&given.max_nonzeros_map)?);
    // Atoms are the channels of this array.
    let coefficient_weights =
        given.weights.as_ref().map(|weights| weights.signal::<T>(true)).transpose()?;
    let start = match &given.start {
        Some(codes) => Start::Needles(codes.needles()?),
        None if given.spread => Start::Spread,
        None => Start::Zero,
    };
    let checkpoint = options.resume.as_deref().map(Checkpoint::read).transpose()?;
    options.checkpoint.as_deref().map(Checkpoint::check_place).transpose()?;

    let choice = run.engine_choice()?;
    let (answer, base) = supervise(py, run.callback.as_ref(), move |watcher| {
        let base = subtract_base(&mut signal, mask.as_ref(), kind, dictionary.extent())?;
        let observed = [Observed {
            mask,
            penalty_map,
            coefficient_weights,
            max_nonzeros_map,
            start,
            ..signal.into()
        }];
        let engine = choice.engine::<T>()?;
        let mut keeper = Keeper::<Checkpoint, _>::new(watcher, options.checkpoint.as_deref(), None);
        let answer = match &checkpoint {
            Some(checkpoint) => {
                pursuit.resume(&*engine, checkpoint, &observed, &dictionary, &mut keeper)
            }
            None => pursuit.run(&*engine, &observed, &dictionary, &mut keeper),
        };
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                keeper.rescue();
                return Err(error.into());
            }
        };
        keeper.finish(answer.report.status)?;
        let base = base.or_else(|| answer.layers.pop());
        Ok((answer, base))
    })?;
    let fields = PyDict::new(py);
    fields.set_item("codes", code_arrays(py, &answer.needles[0])?)?;
    fields.set_item(
        "base",
        base.map(|base| signal_array(py, base, given.has_channels)).transpose()?,
    )?;
    fields.set_item("report", report(py, &answer.report)?)?;
    Ok(fields)
}

/// The pursuit of the options.
pub fn pursuit_of(
    penalty: &PenaltyOptions,
    options: &PursuitOptions,
    run: &RunOptions<'_>,
) -> Result<Pursuit> {
    let mut params =
        PursuitParams::new(options.max_error.map_or(penalty.penalty(), Penalty::MaxError));
    params.border = options.border.parse()?;
    params.tolerance = options.tolerance;
    params.max_sweeps = options.max_sweeps;
    params.time_limit = run.time_limit()?;
    params.schedule = word("the schedule", &options.schedule, SCHEDULES)?;
    params.local = word("the local solver", &options.local, LOCAL_SOLVERS)?;
    params.nonnegative = options.nonnegative;
    params.atom_weights = options.atom_weights.clone();
    params.elastic = options.elastic;
    params.joint = options.joint;
    params.smooth_layer = options.base.parse::<Base>()?.joint_weight();
    params.debias = options.debias;
    params.loss = options.loss.parse()?;
    params.max_nonzeros = options.max_nonzeros;
    params.tile = options.tile;
    params.seed = options.seed;
    params.max_memory = run.max_memory;
    Ok(params.check()?)
}

/// Subtracts the base layer from a signal and returns it, if there is one; missing samples become
/// 0.
pub fn subtract_base<T: Real>(
    signal: &mut Signal<T>,
    mask: Option<&Mask<T>>,
    kind: Base,
    atom: Extent,
) -> lobcod::Result<Option<Signal<T>>> {
    let base = kind.is_subtracted().then(|| kind.layer(signal, mask, atom)).transpose()?;
    if let Some(base) = &base {
        signal.data_mut().iter_mut().zip(base.data()).for_each(|(y, b)| *y -= *b);
    }
    if let Some(mask) = mask {
        mask.check_fits(signal)?;
        let volume = signal.extent().volume();
        for (c, plane) in signal.data_mut().chunks_exact_mut(volume).enumerate() {
            plane
                .iter_mut()
                .zip(mask.channel(c))
                .filter(|(_, w)| **w == T::ZERO)
                .for_each(|(y, _)| *y = T::ZERO);
        }
    }
    Ok(base)
}

/// The reconstruction from codes: the sum of their atoms, channels first.
#[pyfunction]
pub fn synthesise<'py>(
    py: Python<'py>,
    codes: GivenCodes<'py>,
    dictionary: Numbers<'py>,
    precision: &str,
) -> Result<Bound<'py, PyAny>> {
    in_precision!(precision, synthesise_in(py, &codes, &dictionary))
}

fn synthesise_in<'py, T: Real + Element>(
    py: Python<'py>,
    codes: &GivenCodes<'py>,
    dictionary: &Numbers<'py>,
) -> Result<Bound<'py, PyAny>> {
    let (needles, dictionary) = (codes.needles::<T>()?, dictionary.dictionary::<T>(codes.rank())?);
    let signal = py.detach(|| needles.synthesise(&dictionary))?;
    Ok(signal_array(py, signal, true)?.into_any())
}

/// Dense maps of codes: separately coded channels, atoms, positions.
#[pyfunction]
pub fn maps<'py>(
    py: Python<'py>,
    codes: GivenCodes<'py>,
    dictionary: Numbers<'py>,
    precision: &str,
) -> Result<Bound<'py, PyAny>> {
    in_precision!(precision, maps_in(py, &codes, &dictionary))
}

fn maps_in<'py, T: Real + Element>(
    py: Python<'py>,
    codes: &GivenCodes<'py>,
    dictionary: &Numbers<'py>,
) -> Result<Bound<'py, PyAny>> {
    let (needles, dictionary) = (codes.needles::<T>()?, dictionary.dictionary::<T>(codes.rank())?);
    needles.check_fits(&dictionary)?;
    let positions = needles.position_extent(&dictionary);
    let maps = py.detach(|| needles.to_maps(&dictionary));
    let mut shape = vec![maps.len() / (dictionary.len() * positions.volume()), dictionary.len()];
    shape.extend(positions.axes());
    Ok(array(py, maps, &shape)?.into_any())
}
