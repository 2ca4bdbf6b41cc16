//! From signals and parameters to the problem an engine solves.

use super::params::{Observed, Penalty, PursuitParams, Schedule, Start};
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Plane, Problem};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::grid::Grouping;
use crate::memory;
use crate::needles::{Code, Needles};
use crate::real::Real;
use crate::signal::Signal;

/// Non-zeros a position that memory estimates count with; the paper's settings have about 0.3.
pub(crate) const EXPECTED_DENSITY: f64 = 0.5;

/// Error if the engine is expected to need more than the limit.
pub(crate) fn check_memory<T: Real>(engine: &dyn Engine<T>, problem: &Problem<T>, limit: Option<u64>) -> Result<()> {
    memory::check(engine.estimate_memory(problem, EXPECTED_DENSITY)?, limit)
}

/// Planes a signal is coded in: one, or one a channel where a one-channel dictionary codes each channel by itself.
pub(super) fn planes_of(channels: usize, dictionary_channels: usize) -> usize {
    if dictionary_channels == 1 { channels } else { 1 }
}

/// How positions of a signal of this rank are grouped.
pub(super) fn grouping(params: &PursuitParams, rank: usize) -> Grouping {
    match params.schedule {
        Schedule::Tiles => params.tile.map_or(Grouping::default_tiles(rank), Grouping::Tiles),
        Schedule::Layers => Grouping::WholeLayers,
        Schedule::Needles => Grouping::SingleNeedles,
    }
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
            return Err(Error::Shape(format!("there are {} atom weights for {} atoms", w.len(), dictionary.len())));
        }
    };
    // What is above 0 as f64 may not be in the precision of the signal.
    if let Some(w) = weights.iter().find(|w| !(w.is_finite() && **w > T::ZERO)) {
        return Err(Error::parameter("an atom weight", w, "a number above 0 in the precision of the signal"));
    }
    if let Penalty::Absolute(x) = params.penalty
        && !(T::from_f64(x).is_finite() && T::from_f64(x) > T::ZERO)
    {
        return Err(Error::parameter("the penalty", x, "a number above 0 in the precision of the signal"));
    }
    let mut planes = Vec::new();
    for observed in signals {
        observed_planes(params, observed, dictionary, &mut planes)?;
    }
    Ok(Problem {
        planes,
        dictionary: dictionary.clone(),
        border: params.border,
        grouping: grouping(params, dictionary.extent().rank()),
        atom_weights: weights,
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
    planes: &mut Vec<Plane<T>>,
) -> Result<()> {
    let signal = &observed.signal;
    if dictionary.channels() != 1 && dictionary.channels() != signal.channels() {
        return Err(Error::Shape(format!(
            "the atoms have {} channels but the signal has {}; use a dictionary of one channel or of as many as the signal",
            dictionary.channels(),
            signal.channels()
        )));
    }
    if let Some(mask) = &observed.mask {
        mask.check_fits(signal)?;
    }
    if let Start::Needles(needles) = &observed.start {
        if needles.extent() != observed.extent() || needles.channels() != signal.channels() || needles.border() != params.border {
            return Err(Error::Shape(format!(
                "the needles to start from belong to a {} signal with {} channels and the {} border, not to this one",
                needles.extent(),
                needles.channels(),
                needles.border()
            )));
        }
        needles.check_fits(dictionary)?;
        let place = |c: &Code<T>| (c.position, c.atom, c.channel);
        if needles.codes().windows(2).any(|pair| place(&pair[0]) == place(&pair[1])) {
            return Err(Error::Data("the needles to start from hold two codes of one atom at one position; add them up".into()));
        }
    }
    let positions = Needles::<T>::new(observed.extent(), 1, params.border, Vec::new()).position_extent(dictionary);
    let on_positions = |map: &Option<Signal<T>>, name| -> Result<Option<Vec<T>>> {
        map.as_ref()
            .map(|map| position_map(map, name, observed.extent(), positions, params.border, dictionary.extent()))
            .transpose()
    };
    let position_weights = on_positions(&observed.penalty_map, "the penalty map")?;
    if let Some(w) = position_weights.iter().flatten().find(|w| !(w.is_finite() && **w > T::ZERO)) {
        return Err(Error::parameter("a weight of the penalty map", w, "a number above 0"));
    }
    let caps = on_positions(&observed.max_nonzeros_map, "the map of caps on non-zeros")?;
    if let Some(cap) = caps.iter().flatten().find(|c| !(c.is_finite() && **c >= T::ZERO && c.to_f64().fract() == 0.0)) {
        return Err(Error::parameter("a cap on non-zeros", cap, "a whole number of at least 0"));
    }
    let position_caps: Option<Vec<u32>> = caps.map(|caps| caps.iter().map(|c| c.to_f64() as u32).collect());
    let count = planes_of(signal.channels(), dictionary.channels());
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
            return Err(Error::Data("the signal holds NaN or infinite samples; mark them as missing with a mask".into()));
        }
        // The weights of a part are kept as they are: other parts may have others.
        let weights = weights.filter(|w| observed.part.is_some() || w.iter().any(|&w| w != T::ONE));
        let position_weights = position_weights.clone();
        let position_caps = position_caps.clone();
        let size = signal.extent().padded();
        let held = observed.part.map(|part| std::array::from_fn(|a| part.start[a]..part.start[a] + size[a] as i64));
        planes.push(Plane { extent: observed.extent(), target, weights, position_weights, position_caps, held });
    }
    Ok(())
}

/// A map of the shape of the positions as it is; one of the shape of the signal is looked up at the centre of each patch.
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
            "{name} is {} with {} channels, but must be {positions} (one value a position) or {signal} (one a sample)",
            map.extent(),
            map.channels()
        )));
    }
    let (l, h, grid) = (signal.padded(), atom.padded(), positions.padded());
    let centre = |axis: usize, i: usize| {
        let first = if border == Border::Periodic { 0 } else { h[axis] as i64 - 1 };
        let at = i as i64 - first + (h[axis] / 2) as i64;
        if border == Border::Periodic { at as usize % l[axis] } else { at.clamp(0, l[axis] as i64 - 1) as usize }
    };
    let mut out = Vec::with_capacity(positions.volume());
    for z in 0..grid[0] {
        for y in 0..grid[1] {
            let line = (centre(0, z) * l[1] + centre(1, y)) * l[2];
            out.extend((0..grid[2]).map(|x| map.data()[line + centre(2, x)]));
        }
    }
    Ok(out)
}

/// The needles every plane starts from; none where they are not given.
pub(super) fn given_needles<T: Real>(signals: &[Observed<T>], dictionary_channels: usize) -> Vec<Vec<Code<T>>> {
    let mut planes = Vec::new();
    for observed in signals {
        for plane in 0..planes_of(observed.signal.channels(), dictionary_channels) {
            planes.push(match &observed.start {
                Start::Needles(needles) => needles.codes().iter().filter(|c| c.channel as usize == plane).copied().collect(),
                _ => Vec::new(),
            });
        }
    }
    planes
}

/// Error unless the codes of a checkpoint are those of these signals' planes.
pub(crate) fn check_codes<T: Real, U: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
    planes: &[Vec<Code<U>>],
) -> Result<()> {
    let extents =
        signals.iter().flat_map(|s| std::iter::repeat_n(s.extent(), planes_of(s.signal.channels(), dictionary.channels())));
    let extents: Vec<Extent> = extents.collect();
    if extents.len() != planes.len() {
        return Err(Error::Data("the checkpoint holds codes of another number of signals; it is damaged".into()));
    }
    for (&extent, codes) in extents.iter().zip(planes) {
        Needles::new(extent, 1, params.border, codes.clone()).check_fits(&dictionary.cast())?;
    }
    Ok(())
}

/// The needles of every signal from the codes of its planes.
pub(crate) fn gather_needles<T: Real>(
    signals: &[Observed<T>],
    dictionary_channels: usize,
    border: Border,
    planes: Vec<Vec<Code<T>>>,
) -> Vec<Needles<T>> {
    let mut planes = planes.into_iter();
    let gather = |observed: &Observed<T>| {
        let mut codes = planes.next().expect("every signal has its planes");
        for channel in 1..planes_of(observed.signal.channels(), dictionary_channels) {
            let plane = planes.next().expect("every signal has its planes");
            codes.reserve_exact(plane.len());
            codes.extend(plane.into_iter().map(|c| Code { channel: channel as u32, ..c }));
        }
        Needles::new(observed.extent(), observed.signal.channels(), border, codes)
    };
    signals.iter().map(gather).collect()
}
