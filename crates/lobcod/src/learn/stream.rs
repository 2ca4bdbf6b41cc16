//! Learning from a stream: signals come one after the other, and memory holds one of them and the model.

use super::params::LearnParams;
use super::replace::worst_patch;
use super::statistics::{Coded, Statistics};
use super::{LearnPoint, absolute};
use crate::border::Border;
use crate::checkpoint::{LearnCheckpoint, check_fingerprint, learning_fingerprint};
use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Discovery, Engine, Measure, Session, Support, Visit};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::memory;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::pursuit::{EXPECTED_DENSITY, Observed, Penalty, check_memory, check_objective, problem};
use crate::real::Real;
use crate::signal::Signal;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::Instant;

/// Penalties of the sweeps over a signal, in shares of the one asked for.
const STAGES: [f64; 4] = [4.0, 2.0, 1.0, 1.0];
/// Codes whose correlation exceeds the threshold by less than this share are left alone.
const LOCAL_TOLERANCE: f64 = 0.02;
/// After each sweep at the penalty asked for: how often support sweeps and the atoms follow in turn.
const ROUNDS: usize = 2;
const SUPPORT_ROUNDS: usize = 3;
const SUPPORT_TOLERANCE: f64 = 0.01;
/// What was seen before the last `1 / RECENT` of the stream, when the dictionary was worse, is as good as forgotten.
const RECENT: f64 = 3.0;
/// So many signals are remembered from the beginning, as far as the memory of the stream allows.
const SHORTEST: f64 = 1.02;
/// Copies of the statistics that live at once: the model, what it remembers of the past, and that with the present signals.
const COPIES: u64 = 3;
/// An atom with less than this share of the mean energy is not used.
const IDLE: f64 = 1e-6;

/// A dictionary that learns from one signal after the other.
///
/// Every signal is coded, and the correlations of its codes with each other and with the signal join those of the signals before, which
/// fade: the dictionary is the best for what was seen lately, not for the last signal alone, and follows when the signals change.
/// Memory: the session of one signal, and three times `m^2 (2h-1)(2w-1)` numbers.
#[derive(Clone, Debug)]
pub struct Stream<T> {
    params: LearnParams,
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
        Ok(Self {
            params: params.clone(),
            first: first.clone(),
            dictionary: first.clone(),
            statistics: Statistics::new(first),
            penalty: None,
            seconds: 0.0,
            history: Vec::new(),
        })
    }

    /// The dictionary as it stands.
    pub fn dictionary(&self) -> &Dictionary<T> {
        &self.dictionary
    }

    /// One point for every call so far: what the signals given then cost when they had been learnt from.
    pub fn history(&self) -> &[LearnPoint] {
        &self.history
    }

    /// The penalty in units of the signal; `None` before the first signal if it is relative.
    pub fn penalty(&self) -> Option<f64> {
        self.penalty
    }

    /// Bytes that learning from these signals at once is expected to need on the CPU beside them and the stream.
    pub fn estimate_memory(&self, signals: &[Observed<T>]) -> Result<u64> {
        let problem = problem(&self.params.pursuit(self.params.penalty), signals, &self.dictionary)?;
        let session = CpuEngine::new(self.params.threads)?.estimate_memory(&problem, EXPECTED_DENSITY)?;
        Ok(session + (COPIES - 1) * Statistics::bytes(&self.dictionary))
    }

    /// Learns from more signals, on the threads of this machine. Stopped by its observer, or by an error, it leaves the model as it was.
    pub fn partial_fit(&mut self, signals: &[Observed<T>], observer: &mut dyn Observer) -> Result<Control> {
        self.partial_fit_on(&CpuEngine::new(self.params.threads)?, signals, observer)
    }

    /// Learns from more signals on a given engine.
    pub fn partial_fit_on(
        &mut self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        observer: &mut dyn Observer,
    ) -> Result<Control> {
        let clock = Instant::now();
        let problem = problem(&self.params.pursuit(self.params.penalty), signals, &self.dictionary)?;
        let room = self.params.max_memory.map(|limit| limit.saturating_sub((COPIES - 1) * Statistics::bytes(&self.dictionary)));
        check_memory(engine, &problem, room)?;
        let extents: Vec<Extent> = problem.planes.iter().map(|p| p.extent).collect();
        let mut session = engine.open(problem)?;
        let stop = if engine.ranks() == 1 { observer.stop() } else { Stop::default() };
        session.heed(stop.clone());
        let penalty = match absolute(self.penalty.map_or(self.params.penalty, Penalty::Absolute), &mut *session, &stop) {
            Err(Error::Stopped) => return Ok(Control::Stop),
            penalty => penalty?,
        };
        let seen = (self.history.len() + 1) as f64;
        let mut past = self.statistics.clone();
        past.fade(1.0 - 1.0 / (seen / RECENT).max(SHORTEST).min(self.params.stream_memory as f64));
        let mut all = past.clone();
        for stage in STAGES {
            let penalty = stage * penalty;
            session.discover(&Discovery { penalty, visit: Visit::All, local_tolerance: LOCAL_TOLERANCE, layer_seed: None });
            for _ in 0..if stage > 1.0 { 1 } else { ROUNDS } {
                session.support(&Support { penalty, sweeps: 1, rounds: SUPPORT_ROUNDS, tolerance: SUPPORT_TOLERANCE });
                if stop.is_due() {
                    return Ok(Control::Stop);
                }
                all.copy(&past);
                gather(&*session, &extents, self.params.border, &mut all);
                session.set_dictionary(all.improve(session.dictionary()));
                session.refresh();
                if observer.progress(&self.progress(penalty, clock)) == Control::Stop {
                    return Ok(Control::Stop);
                }
            }
        }
        let mut point = LearnPoint { pass: self.history.len() + 1, ..LearnPoint::default() };
        for plane in session.measure(Measure::Objective) {
            point.data_term += 0.5 * plane.residual_energy;
            point.objective += 0.5 * plane.residual_energy + penalty * plane.weighted_l1;
            point.nonzeros += plane.nonzeros;
        }
        check_objective::<T>(point.objective)?;
        self.dictionary = session.dictionary().clone();
        point.replaced_atoms = self.replace_idle(&*session, &extents, &mut all);
        self.statistics = all;
        self.penalty = Some(penalty);
        self.seconds += clock.elapsed().as_secs_f64();
        point.seconds = self.seconds;
        self.history.push(point);
        Ok(Control::Continue)
    }

    /// Replaces atoms that nothing used for long by patches of the residual that are represented worst.
    fn replace_idle(&mut self, session: &dyn Session<T>, extents: &[Extent], statistics: &mut Statistics) -> usize {
        let energies = statistics.energies();
        let mean = energies.iter().sum::<f64>() / energies.len() as f64;
        let mut rng = ChaCha8Rng::seed_from_u64(self.params.seed.wrapping_add(self.history.len() as u64));
        let (n, mut data) = (self.dictionary.atom_len(), self.dictionary.data().to_vec());
        let mut replaced = 0;
        for (i, k) in (0..energies.len()).filter(|&k| energies[k] <= IDLE * mean).enumerate() {
            let plane = i % extents.len();
            let residual = Signal::from_planar(extents[plane], self.dictionary.channels(), session.residual(plane));
            let residual = residual.expect("of the shape of the plane");
            if let Some(patch) = worst_patch(&residual, self.dictionary.extent(), &mut rng) {
                data[k * n..(k + 1) * n].copy_from_slice(&patch);
                statistics.forget(k);
                replaced += 1;
            }
        }
        if let Ok(dictionary) = Dictionary::new(self.dictionary.extent(), self.dictionary.channels(), data) {
            self.dictionary = dictionary;
        }
        replaced
    }

    fn progress(&self, stage_penalty: f64, clock: Instant) -> Progress {
        let last = self.history.last().copied().unwrap_or_default();
        Progress {
            seconds: self.seconds + clock.elapsed().as_secs_f64(),
            objective: last.objective,
            relative_gap: None,
            tolerance: self.params.tolerance,
            nonzeros: last.nonzeros,
            discovery_sweeps: self.history.len(),
            support_sweeps: 0,
            stage_penalty,
            pass: Some(self.history.len() + 1),
        }
    }

    /// The stream as it stands between two calls.
    pub fn checkpoint(&self) -> LearnCheckpoint {
        let mut memory = Default::default();
        self.statistics.remember(&mut memory);
        LearnCheckpoint {
            fingerprint: learning_fingerprint(&self.params, &[], &self.first),
            seconds: self.seconds,
            penalty: self.penalty.unwrap_or(0.0),
            dictionary: self.dictionary.data().iter().map(|x| x.to_f64()).collect(),
            codes: Vec::new(),
            history: self.history.clone(),
            memory,
        }
    }

    /// Takes up a checkpoint of a stream with the same parameters and first dictionary; what follows is the same, bit for bit.
    pub fn take_up(&mut self, checkpoint: &LearnCheckpoint) -> Result<()> {
        check_fingerprint(checkpoint.fingerprint, learning_fingerprint(&self.params, &[], &self.first))?;
        let damaged = || Error::Data("the checkpoint does not fit together; it is damaged".into());
        let data = checkpoint.dictionary.iter().map(|&x| T::from_f64(x)).collect();
        let dictionary = self.first.with_data(data).ok_or_else(damaged)?;
        self.statistics.recall(&checkpoint.memory).ok_or_else(damaged)?;
        self.dictionary = dictionary;
        self.penalty = (checkpoint.penalty > 0.0).then_some(checkpoint.penalty);
        self.seconds = checkpoint.seconds;
        self.history.clone_from(&checkpoint.history);
        Ok(())
    }
}

/// Adds the statistics of a session's codes.
fn gather<T: Real>(session: &dyn Session<T>, extents: &[Extent], border: Border, into: &mut Statistics) {
    let state = session.fetch();
    for (plane, (&extent, codes)) in extents.iter().zip(&state.codes).enumerate() {
        let residual = session.residual(plane);
        into.gather(&Coded { extent, border, residual: &residual, codes }, session.dictionary());
    }
}
