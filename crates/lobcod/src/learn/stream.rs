//! Learning from a stream: only one signal and the model are in memory.

use super::params::LearnParams;
use super::replace::worst_patch;
use super::statistics::{Coded, Statistics};
use super::{LearnPoint, absolute};
use crate::border::Border;
use crate::checkpoint::{LearnCheckpoint, check_fingerprint, damaged, learning_fingerprint};
use crate::dictionary::{Constraints, Dictionary};
use crate::engine::{Discovery, Engine, Measure, Session, Share, Support, Visit};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::memory;
use crate::observe::{Control, Observer, Progress};
use crate::pursuit::{EXPECTED_DENSITY, Normalised, Observed, Penalty, check_objective, problem};
use crate::real::Real;
use crate::run::{Limits, Run};
use crate::signal::Signal;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Penalties of the sweeps over a signal, as multiples of the final one.
const STAGES: [f64; 4] = [4.0, 2.0, 1.0, 1.0];
/// Codes that exceed their threshold by a smaller fraction are not updated.
const LOCAL_TOLERANCE: f64 = 0.02;
/// Alternations of support sweeps and atoms after each sweep at the final penalty.
const ROUNDS: usize = 2;
const SUPPORT_ROUNDS: usize = 3;
const SUPPORT_TOLERANCE: f64 = 0.01;
/// Signals before the last `1 / RECENT` of the stream have decayed.
const RECENT: f64 = 3.0;
/// Initial number of remembered signals, within the memory of the stream.
const SHORTEST: f64 = 1.02;
/// Simultaneous copies of the statistics: model, its past, and the one with the current signals.
const COPIES: u64 = 3;
/// An atom with less than this fraction of the mean energy is unused.
const IDLE: f64 = 1e-6;

/// A dictionary that learns from one signal after another.
///
/// The statistics of every coded signal are added to those of earlier signals, which decay, so the
/// dictionary adapts when the signals change. Memory: the session of one signal, and three times
/// `m^2 (2h-1)(2w-1)` numbers.
#[derive(Clone, Debug)]
pub struct Stream<T> {
    params: LearnParams,
    constraints: Constraints,
    first: Dictionary<T>,
    dictionary: Dictionary<T>,
    statistics: Statistics,
    /// Penalty in units of the signal, once it is known.
    penalty: Option<f64>,
    seconds: f64,
    history: Vec<LearnPoint>,
}

impl<T: Real> Stream<T> {
    pub(super) fn new(params: &LearnParams, first: &Dictionary<T>) -> Result<Self> {
        memory::check(COPIES * Statistics::bytes(first), params.max_memory)?;
        for (given, what) in [
            (params.grow, "adds atoms"),
            (params.sort, "orders atoms"),
            (params.smooth_layer > 0.0, "estimates smooth layers"),
        ] {
            if given {
                return Err(Error::Unavailable(format!(
                    "a stream never {what}, because it keeps no signals; learn from all signals \
                     at once"
                )));
            }
        }
        let constraints = params.constraints(first)?;
        Ok(Self {
            params: params.clone(),
            first: first.clone(),
            dictionary: constraints.first(first)?,
            constraints,
            statistics: Statistics::new(first),
            penalty: None,
            seconds: 0.0,
            history: Vec::new(),
        })
    }

    /// The current dictionary.
    pub fn dictionary(&self) -> &Dictionary<T> {
        &self.dictionary
    }

    /// One point per call: the objective of its signals after learning.
    pub fn history(&self) -> &[LearnPoint] {
        &self.history
    }

    /// The penalty in units of the signal; `None` before the first signal if it is relative.
    pub fn penalty(&self) -> Option<f64> {
        self.penalty
    }

    /// Estimates the memory of learning from these signals, in bytes, excluding signals and stream.
    pub fn estimate_memory(&self, engine: &dyn Engine<T>, signals: &[Observed<T>]) -> Result<u64> {
        let problem =
            problem(&self.params.pursuit(self.params.penalty), signals, &self.dictionary)?;
        let session = engine.estimate_memory(&problem, EXPECTED_DENSITY)?;
        Ok(session + (COPIES - 1) * Statistics::bytes(&self.dictionary))
    }

    /// Learns from more signals. If stopped or on an error, the model is unchanged.
    pub fn partial_fit(
        &mut self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        observer: &mut dyn Observer,
    ) -> Result<Control> {
        if Normalised::of(signals, self.params.border)?.is_some() {
            return Err(Error::Data(
                "a stream does not compare signals of different weights, so mask weights must be \
                 at most 1; divide them by their maximum"
                    .into(),
            ));
        }
        match self.fit(engine, signals, observer) {
            // Another engine continues.
            Err(Error::DeviceLost(_)) => self.fit(engine, signals, observer),
            control => control,
        }
    }

    fn fit(
        &mut self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        observer: &mut dyn Observer,
    ) -> Result<Control> {
        let mut run = Run::begin(Limits::default(), engine.agreement(), observer);
        run.resume_after(self.seconds);
        run.progress = self.progress();
        let problem =
            problem(&self.params.pursuit(self.params.penalty), signals, &self.dictionary)?;
        let room = self
            .params
            .max_memory
            .map(|limit| limit.saturating_sub((COPIES - 1) * Statistics::bytes(&self.dictionary)));
        memory::check(engine.estimate_memory(&problem, EXPECTED_DENSITY)?, room)?;
        let extents: Vec<Extent> = problem.planes.iter().map(|p| p.extent).collect();
        let mut session = engine.open(problem, None)?;
        let context = run.context().clone();
        let penalty = match absolute(
            self.penalty.map_or(self.params.penalty, Penalty::Absolute),
            &mut *session,
            &context,
        ) {
            Err(Error::Stopped) => return Ok(Control::Stop),
            penalty => penalty?,
        };
        let seen = (self.history.len() + 1) as f64;
        let mut past = self.statistics.clone();
        past.fade(1.0 - 1.0 / (seen / RECENT).max(SHORTEST).min(self.params.stream_memory as f64));
        let mut all = past.clone();
        for stage in STAGES {
            let penalty = stage * penalty;
            let sweep = Discovery {
                penalty,
                visit: Visit::All,
                local_tolerance: LOCAL_TOLERANCE,
                layer_seed: None,
            };
            session.discover(&sweep, &context)?;
            let sweep = Support {
                penalty,
                sweeps: 1,
                rounds: SUPPORT_ROUNDS,
                tolerance: SUPPORT_TOLERANCE,
            };
            for _ in 0..if stage > 1.0 { 1 } else { ROUNDS } {
                session.support(&sweep, &context)?;
                if context.stop.is_due() {
                    return Ok(Control::Stop);
                }
                all.copy(&past);
                gather(&mut *session, &extents, self.params.border, &mut all)?;
                let improved = all.improve(session.dictionary(), &self.constraints);
                session.learning().set_dictionary(improved)?;
                run.progress.stage_penalty = penalty;
                if run.pause().is_some() {
                    return Ok(Control::Stop);
                }
            }
        }
        let mut point = LearnPoint::of(&session.measure(Measure::Objective, &context)?, penalty);
        point.pass = self.history.len() + 1;
        check_objective::<T>(point.objective)?;
        let dictionary;
        (dictionary, point.replaced_atoms) =
            self.replace_idle(&mut *session, &extents, &mut all)?;
        self.dictionary = dictionary;
        self.statistics = all;
        self.penalty = Some(penalty);
        self.seconds = run.seconds();
        point.seconds = self.seconds;
        self.history.push(point);
        Ok(Control::Continue)
    }

    /// The dictionary of the session with unused atoms replaced by the worst represented patches,
    /// and their number.
    fn replace_idle(
        &self,
        session: &mut dyn Session<T>,
        extents: &[Extent],
        statistics: &mut Statistics,
    ) -> Result<(Dictionary<T>, usize)> {
        let dictionary = session.dictionary().clone();
        let energies = statistics.energies();
        let mean = energies.iter().sum::<f64>() / energies.len() as f64;
        let mut rng =
            ChaCha8Rng::seed_from_u64(self.params.seed.wrapping_add(self.history.len() as u64));
        let (n, mut data) = (dictionary.atom_len(), dictionary.data().to_vec());
        let mut replaced = 0;
        let idle = |k: &usize| energies[*k] <= IDLE * mean;
        for (i, k) in (self.params.frozen..energies.len()).filter(idle).enumerate() {
            let plane = i % extents.len();
            let residual = Signal::from_planar(
                extents[plane],
                dictionary.channels(),
                session.residual(plane)?,
            )?;
            let patch = worst_patch(&residual, dictionary.extent(), &mut rng);
            if let Some(patch) = patch.and_then(|patch| self.constraints.new_atom(k, &patch)) {
                data[k * n..(k + 1) * n].copy_from_slice(&patch);
                statistics.forget(k);
                replaced += 1;
            }
        }
        let renewed = Dictionary::new(dictionary.extent(), dictionary.channels(), data);
        Ok((renewed.unwrap_or(dictionary), replaced))
    }

    /// Initial progress for the next signals.
    fn progress(&self) -> Progress {
        let last = self.history.last().copied().unwrap_or_default();
        Progress {
            objective: last.objective,
            tolerance: self.params.tolerance,
            nonzeros: last.nonzeros,
            discovery_sweeps: self.history.len(),
            pass: Some(self.history.len() + 1),
            ..Progress::default()
        }
    }

    /// Checkpoint of the stream between two calls.
    pub fn checkpoint(&self) -> LearnCheckpoint {
        let mut learner = Default::default();
        self.statistics.remember(&mut learner);
        LearnCheckpoint {
            fingerprint: learning_fingerprint(&self.params, &[], &self.first),
            seconds: self.seconds,
            penalty: self.penalty.unwrap_or(0.0),
            dictionary: self.dictionary.data().iter().map(|x| x.to_f64()).collect(),
            codes: Vec::new(),
            history: self.history.clone(),
            learner,
        }
    }

    /// Resumes a checkpoint of a stream with the same parameters and initial dictionary.
    pub fn restore(&mut self, checkpoint: &LearnCheckpoint) -> Result<()> {
        check_fingerprint(
            checkpoint.fingerprint,
            learning_fingerprint(&self.params, &[], &self.first),
        )?;
        let data = checkpoint.dictionary.iter().map(|&x| T::from_f64(x)).collect();
        let dictionary = self.first.with_data(data).ok_or_else(damaged)?;
        self.statistics.recall(&checkpoint.learner).ok_or_else(damaged)?;
        self.dictionary = dictionary;
        self.penalty = (checkpoint.penalty > 0.0).then_some(checkpoint.penalty);
        self.seconds = checkpoint.seconds;
        self.history.clone_from(&checkpoint.history);
        Ok(())
    }
}

/// Adds the statistics of a session's codes.
fn gather<T: Real>(
    session: &mut dyn Session<T>,
    extents: &[Extent],
    border: Border,
    into: &mut Statistics,
) -> Result<()> {
    let state = session.state(Share::All)?;
    for (plane, (&extent, codes)) in extents.iter().zip(&state.codes).enumerate() {
        let residual = session.residual(plane)?;
        into.gather(&Coded { extent, border, residual: &residual, codes }, session.dictionary());
    }
    Ok(())
}
