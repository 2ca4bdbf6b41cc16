//! Builds the problem an engine solves from signals and parameters.

use super::params::{Local, Observed, Penalty, PursuitParams, Start};
use super::smooth_layer::SmoothLayers;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{CoefficientWeights, Engine, Plane, Problem};
use crate::error::{Error, Result, refuse_together};
use crate::extent::Extent;
use crate::geometry::{InSignal, Point, Raster, Region};
use crate::memory;
use crate::needles::{Code, Needles};
use crate::real::Real;
use crate::signal::Signal;

/// Non-zeros per position assumed by memory estimates; the paper's settings have about 0.3.
pub(crate) const EXPECTED_DENSITY: f64 = 0.5;

/// Estimates the working memory of a problem on an engine, in bytes.
pub(crate) fn estimate_memory<T: Real>(
    params: &PursuitParams,
    engine: &dyn Engine<T>,
    problem: &Problem<T>,
    signals: &[Observed<T>],
) -> Result<u64> {
    let session = engine.estimate_memory(problem, EXPECTED_DENSITY)?;
    Ok(session + SmoothLayers::memory(params, signals))
}

/// Bytes of a fit of all codes together: one more field, and five numbers a code.
pub(crate) fn memory_of_fit<T: Real>(problem: &Problem<T>) -> u64 {
    let atom = problem.dictionary.extent().padded();
    let of = |plane: &Plane<T>| {
        let positions = problem.border.positions(plane.extent, problem.dictionary.extent());
        let field =
            Region::<InSignal>::of(|a| positions.start[a]..positions.end(a) + atom[a] as i64 - 1);
        let codes = 5.0 * EXPECTED_DENSITY * positions.volume() as f64;
        field.volume() * problem.channels(plane) + codes as usize
    };
    problem.planes.iter().map(|plane| (of(plane) * size_of::<T>()) as u64).sum()
}

/// Returns an error if a problem is expected to exceed the memory limit.
pub(crate) fn check_memory<T: Real>(
    params: &PursuitParams,
    engine: &dyn Engine<T>,
    problem: &Problem<T>,
    signals: &[Observed<T>],
    limit: Option<u64>,
) -> Result<()> {
    memory::check(estimate_memory(params, engine, problem, signals)?, limit)
}

/// Number of planes of a signal: one, or one per channel with a one-channel dictionary.
pub fn planes_of(channels: usize, dictionary_channels: usize) -> usize {
    if dictionary_channels == 1 { channels } else { 1 }
}

pub(crate) fn problem<T: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
) -> Result<Problem<T>> {
    if signals.is_empty() {
        return Err(Error::Data("there is no signal to code".into()));
    }
    let weights = match &params.atom_weights {
        None => vec![T::ONE; dictionary.len()],
        Some(w) if w.len() == dictionary.len() => w.iter().map(|&w| T::from_f64(w)).collect(),
        Some(w) => {
            return Err(Error::Shape(format!(
                "there are {} atom weights for {} atoms",
                w.len(),
                dictionary.len()
            )));
        }
    };
    // A weight above 0 as f64 may round to 0 in the precision of the signal.
    if let Some(w) = weights.iter().find(|w| !(w.is_finite() && **w > T::ZERO)) {
        return Err(Error::parameter(
            "an atom weight",
            w,
            "a number above 0 in the precision of the signal",
        ));
    }
    if let Penalty::Absolute(x) = params.penalty
        && params.joint == 0.0
        && !(T::from_f64(x).is_finite() && T::from_f64(x) > T::ZERO)
    {
        return Err(Error::parameter(
            "the penalty",
            x,
            "a number above 0 in the precision of the signal",
        ));
    }
    if params.debias && signals.iter().any(|observed| observed.part.is_some()) {
        return Err(Error::Data(
            "codes of a signal of which every rank holds a part cannot be debiased; drop debiasing"
                .into(),
        ));
    }
    let mut planes = Vec::new();
    for observed in signals {
        observed_planes(params, observed, dictionary, &weights, &mut planes)?;
    }
    Ok(Problem {
        planes,
        dictionary: dictionary.clone(),
        border: params.border,
        grouping: params.grouping(dictionary.extent().rank()),
        atom_weights: weights,
        elastic: params.elastic,
        // Its weights are set once the penalty is known.
        joint: (params.joint > 0.0).then_some(super::joint::L1),
        nonnegative: params.nonnegative,
        local: params.local,
        cap: params.max_nonzeros,
        learning: false,
    })
}

fn observed_planes<T: Real>(
    params: &PursuitParams,
    observed: &Observed<T>,
    dictionary: &Dictionary<T>,
    atom_weights: &[T],
    planes: &mut Vec<Plane<T>>,
) -> Result<()> {
    let signal = &observed.signal;
    dictionary.check_channels(signal.channels())?;
    super::joint::check_signal(params, observed, dictionary)?;
    super::smooth_layer::check_signal(params, observed)?;
    if let Some(mask) = &observed.mask {
        mask.check_fits(signal)?;
    }
    params.border.check_fits(observed.extent(), dictionary.extent())?;
    if let Start::Needles(needles) = &observed.start {
        if needles.extent() != observed.extent()
            || needles.channels() != signal.channels()
            || needles.border() != params.border
        {
            return Err(Error::Shape(format!(
                "the start needles belong to a {} signal with {} channels and the {} border, not \
                 to this one",
                needles.extent(),
                needles.channels(),
                needles.border()
            )));
        }
        needles.check_fits(dictionary)?;
        let place = |c: &Code<T>| (c.position, c.atom, c.channel);
        if needles.codes().windows(2).any(|pair| place(&pair[0]) == place(&pair[1])) {
            return Err(Error::Data(
                "the start needles have two codes of one atom at one position; add them up".into(),
            ));
        }
    }
    let positions = Needles::<T>::new(observed.extent(), 1, params.border, Vec::new())
        .position_extent(dictionary);
    let on_positions = |map: &Option<Signal<T>>, name| -> Result<Option<Vec<T>>> {
        map.as_ref()
            .map(|map| {
                position_map(
                    map,
                    name,
                    observed.extent(),
                    positions,
                    params.border,
                    dictionary.extent(),
                )
            })
            .transpose()
    };
    let position_weights = on_positions(&observed.penalty_map, "the penalty map")?;
    if let Some(w) = position_weights.iter().flatten().find(|w| !(w.is_finite() && **w > T::ZERO)) {
        return Err(Error::parameter("a weight of the penalty map", w, "a number above 0"));
    }
    let coefficient_weights = observed
        .coefficient_weights
        .as_ref()
        .map(|weights| {
            coefficient_weights(params, observed, weights, dictionary.extent(), atom_weights)
        })
        .transpose()?;
    let caps = on_positions(&observed.max_nonzeros_map, "the map of caps on non-zeros")?;
    if let Some(cap) = caps
        .iter()
        .flatten()
        .find(|c| !(c.is_finite() && **c >= T::ZERO && c.to_f64().fract() == 0.0))
    {
        return Err(Error::parameter("a cap on non-zeros", cap, "a whole number of at least 0"));
    }
    let position_caps: Option<Vec<u32>> =
        caps.map(|caps| caps.iter().map(|c| c.to_f64() as u32).collect());
    let count = params.planes_of(signal.channels(), dictionary.channels());
    for plane in 0..count {
        let channels = if count > 1 { plane..plane + 1 } else { 0..signal.channels() };
        let mut target = Vec::with_capacity(channels.len() * signal.extent().volume());
        let mut weights = observed.mask.as_ref().map(|_| Vec::with_capacity(target.capacity()));
        for c in channels {
            match (&observed.mask, &mut weights) {
                (Some(mask), Some(weights)) => {
                    let known = signal.channel(c).iter().zip(mask.channel(c));
                    target.extend(known.map(|(&x, &w)| if w == T::ZERO { T::ZERO } else { x }));
                    weights.extend_from_slice(mask.channel(c));
                }
                _ => target.extend_from_slice(signal.channel(c)),
            }
        }
        if target.iter().any(|x| !x.is_finite()) {
            return Err(Error::Data(
                "the signal holds NaN or infinite samples; mark them as missing with a mask".into(),
            ));
        }
        // Unit weights of a part are kept: other parts may have other weights.
        let weights = weights.filter(|w| observed.part.is_some() || w.iter().any(|&w| w != T::ONE));
        let position_weights = position_weights.clone();
        let position_caps = position_caps.clone();
        let coefficient_weights = coefficient_weights.clone();
        let held = observed.part.map(|part| Region::new(part.start, signal.extent().padded()));
        planes.push(Plane {
            extent: observed.extent(),
            target,
            weights,
            position_weights,
            coefficient_weights,
            position_caps,
            held,
        });
    }
    Ok(())
}

/// Checks the weights of the coefficients and multiplies them by those of the atoms.
fn coefficient_weights<T: Real>(
    params: &PursuitParams,
    observed: &Observed<T>,
    weights: &Signal<T>,
    atom: Extent,
    atom_weights: &[T],
) -> Result<CoefficientWeights<T>> {
    let extent = observed.extent();
    let positions = extent.with_padded(params.border.positions(extent, atom).size);
    if weights.channels() != atom_weights.len() || weights.extent() != positions {
        return Err(Error::Shape(format!(
            "the weights of the coefficients are {}x{}, but must be {}x{positions}: atoms, then \
             positions",
            weights.channels(),
            weights.extent(),
            atom_weights.len()
        )));
    }
    if let Some(w) = weights.data().iter().find(|w| w.to_f64().is_nan() || **w < T::ZERO) {
        return Err(Error::parameter("the weight of a coefficient", w, "a number of at least 0"));
    }
    let refused = [
        (params.nonnegative, "non-negative codes"),
        (params.local == Local::Lars, "the solver lars"),
        (
            params.max_nonzeros.is_some() || observed.max_nonzeros_map.is_some(),
            "a maximum number of non-zeros",
        ),
        (observed.part.is_some(), "a signal of which every rank holds a part"),
    ];
    if weights.data().contains(&T::ZERO) {
        refuse_together("a weight of 0 (unpenalised codes)", &refused, "use weights above 0")?;
    }
    if let Start::Needles(needles) = &observed.start {
        let at = Raster::new(params.border.positions(observed.extent(), atom), 1);
        let forbidden = |c: &&Code<T>| {
            weights.channel(c.atom as usize)[at.index(0, Point::from(c.position))] == T::INFINITY
        };
        if let Some(code) = needles.codes().iter().find(forbidden) {
            return Err(Error::Data(format!(
                "the start has a code of atom {} at {:?}, where the weight is infinite; remove it",
                code.atom, code.position
            )));
        }
    }
    Ok(CoefficientWeights::new(weights.data(), atom_weights))
}

/// Returns a map on positions unchanged; samples a map on the signal at the centre of each patch.
fn position_map<T: Real>(
    map: &Signal<T>,
    name: &str,
    signal: Extent,
    positions: Extent,
    border: Border,
    atom: Extent,
) -> Result<Vec<T>> {
    if map.channels() == 1 && map.extent() == positions {
        return Ok(map.data().to_vec());
    }
    if map.channels() != 1 || map.extent() != signal {
        return Err(Error::Shape(format!(
            "{name} is {} with {} channels, but must be {positions} (one value per position) or \
             {signal} (one per sample)",
            map.extent(),
            map.channels()
        )));
    }
    let (all, samples) = (signal.region(), Raster::new(signal.region(), 1));
    let centre = |at: Point<InSignal>, axis: usize| {
        let at = at.at[axis] + (atom.padded()[axis] / 2) as i64;
        if border == Border::Periodic {
            at.rem_euclid(all.end(axis))
        } else {
            at.clamp(0, all.end(axis) - 1)
        }
    };
    Ok(border
        .positions(signal, atom)
        .points()
        .map(|at| map.data()[samples.index(0, Point::new(std::array::from_fn(|a| centre(at, a))))])
        .collect())
}

/// The start needles of every plane; none where none are given.
pub fn given_needles<T: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary_channels: usize,
) -> Vec<Vec<Code<T>>> {
    let mut planes = Vec::new();
    for observed in signals {
        let count = params.planes_of(observed.signal.channels(), dictionary_channels);
        for plane in 0..count {
            planes.push(match &observed.start {
                Start::Needles(needles) => needles
                    .codes()
                    .iter()
                    .filter(|c| count == 1 || c.channel as usize == plane)
                    .copied()
                    .collect(),
                _ => Vec::new(),
            });
        }
    }
    planes
}

/// Returns an error unless the codes of a checkpoint fit the planes of these signals.
pub(crate) fn check_codes<T: Real, U: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
    planes: &[Vec<Code<U>>],
) -> Result<()> {
    let extents = signals.iter().flat_map(|s| {
        let channels = if params.joint > 0.0 { s.signal.channels() } else { 1 };
        let count = params.planes_of(s.signal.channels(), dictionary.channels());
        std::iter::repeat_n((s.extent(), channels), count)
    });
    let extents: Vec<(Extent, usize)> = extents.collect();
    if extents.len() != planes.len() {
        return Err(Error::Data(
            "the checkpoint is damaged: its codes belong to another number of signals".into(),
        ));
    }
    for (&(extent, channels), codes) in extents.iter().zip(planes) {
        Needles::new(extent, channels, params.border, codes.clone())
            .check_fits(&dictionary.cast())?;
    }
    Ok(())
}

/// Merges the codes of the planes of every signal into needles.
pub(crate) fn gather_needles<T: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary_channels: usize,
    planes: Vec<Vec<Code<T>>>,
) -> Vec<Needles<T>> {
    let mut planes = planes.into_iter();
    let gather = |observed: &Observed<T>| {
        let mut codes = planes.next().expect("one entry per plane");
        for channel in 1..params.planes_of(observed.signal.channels(), dictionary_channels) {
            let plane = planes.next().expect("one entry per plane");
            codes.reserve_exact(plane.len());
            codes.extend(plane.into_iter().map(|c| Code { channel: channel as u32, ..c }));
        }
        Needles::new(observed.extent(), observed.signal.channels(), params.border, codes)
    };
    signals.iter().map(gather).collect()
}
