//! State of a running pursuit: how it starts and how it resumes.

use super::Answer;
use super::joint::Joint;
use super::params::{
    Observed, Penalty, PursuitParams, Schedule, Start, largest_correlation, measured_penalty,
};
use super::passes::{GAP_FRACTION, STAGE_TOLERANCE, first_stage, smallest_tolerance};
use super::setup::{check_codes, given_needles};
use super::smooth_layer::SmoothLayers;
use super::unpenalised::Unpenalised;
use crate::checkpoint::{
    Checkpoint, ScheduleState, check_fingerprint, damaged, fingerprint, hash_numbers,
};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Measure, Measurement, Problem, Session, Share, State, Visit};
use crate::error::{Error, Result};
use crate::observe::{Observer, Progress};
use crate::real::Real;
use crate::report::{HistoryPoint, Status};
use crate::run::{Limits, Run};
use std::cell::OnceCell;

pub struct Solver<'a, T> {
    pub params: &'a PursuitParams,
    pub signals: &'a [Observed<T>],
    pub dictionary: &'a Dictionary<T>,
    pub engine: &'a dyn Engine<T>,
    pub session: Box<dyn Session<T>>,
    pub run: Run<'a>,
    /// Penalty of the problem, and the largest correlation of every plane with zero codes.
    pub penalty: f64,
    pub penalty_max: Vec<f64>,
    pub schedule: ScheduleState,
    pub proof: Proof,
    pub history: Vec<HistoryPoint>,
    pub unpenalised: Unpenalised,
    /// Layers that are estimated with the codes.
    pub layers: SmoothLayers,
    /// What a report needs to know of joint sparsity.
    pub joint: Option<Joint>,
    /// Whether optimal codes overlap so much that sweeps converge slowly.
    pub overlapping: bool,
    fingerprint: Fingerprint,
}

/// Bounds proved by measurements, per plane.
pub struct Proof {
    /// The last measurement.
    pub planes: Vec<Measurement>,
    /// Dual values at better points than the scaled residual of the last measurement.
    pub duals: Vec<f64>,
    /// The best dual values so far, at the penalty of the problem.
    pub best_duals: Vec<f64>,
}

impl Proof {
    fn of(planes: usize) -> Self {
        let none = vec![f64::NEG_INFINITY; planes];
        Self { planes: Vec::new(), duals: none.clone(), best_duals: none }
    }
}

/// Hash of the problem, computed on first use because it reads every sample.
#[derive(Default)]
struct Fingerprint {
    /// Measurements with zero codes, for signals distributed over several ranks.
    measured: u64,
    hash: OnceCell<u64>,
}

impl Fingerprint {
    fn get<T: Real>(
        &self,
        params: &PursuitParams,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
    ) -> u64 {
        *self.hash.get_or_init(|| {
            let whole = fingerprint(params, signals, dictionary);
            if signals.iter().any(|signal| signal.part.is_some()) {
                whole ^ self.measured
            } else {
                whole
            }
        })
    }
}

impl<'a, T: Real> Solver<'a, T> {
    pub fn open(
        params: &'a PursuitParams,
        engine: &'a dyn Engine<T>,
        problem: Problem<T>,
        signals: &'a [Observed<T>],
        dictionary: &'a Dictionary<T>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let limits = Limits { time: params.time_limit, memory: None };
        let run = Run::begin(limits, engine.agreement(), observer);
        let mut session = engine.open(problem, None)?;
        let unpenalised = Unpenalised::of(params, signals, dictionary);
        // penalty_max belongs to the penalised codes, and to the layers without codes.
        unpenalised.fit(params, signals, dictionary, &mut *session)?;
        let mut layers = SmoothLayers::of(params, signals, dictionary, engine.threads());
        layers.place(signals, &mut *session)?;
        let mut zero = layers.measure(&mut *session, Measure::Largest, &run.untimed_context())?;
        let mut joint = None;
        if params.joint > 0.0 {
            let found = joint.insert(Joint::measured::<T>(params, &zero, &run)?);
            session.set_joint_norm(found.norm())?;
            zero = layers.measure(&mut *session, Measure::Largest, &run.untimed_context())?;
        }
        let penalty_max: Vec<f64> = zero.iter().map(|m| m.largest_correlation).collect();
        let penalty = measured_penalty::<T>(
            joint.as_ref().map_or(params.penalty, |joint| Penalty::Absolute(joint.total())),
            &zero,
            Some(largest_correlation(&zero)),
            run.interrupt(),
        )?;
        let objective = zero.iter().map(|m| m.objective(0.0)).sum::<f64>();
        let measured = hash_numbers([objective].iter().chain(&penalty_max));
        let mut solver =
            Self::new(params, engine, signals, dictionary, session, run, (penalty, penalty_max));
        solver.fingerprint.measured = measured;
        solver.unpenalised = unpenalised;
        solver.joint = joint;
        solver.layers = layers;
        solver.run.progress.objective = objective;
        solver.proof.planes = zero;
        if signals.iter().all(|s| matches!(s.start, Start::Zero)) {
            // Cheap: nothing has changed since the measurement.
            solver.begin_continuation()?;
        }
        Ok(solver)
    }

    /// Creates a solver on a session whose codes are zero or will be set.
    pub fn new(
        params: &'a PursuitParams,
        engine: &'a dyn Engine<T>,
        signals: &'a [Observed<T>],
        dictionary: &'a Dictionary<T>,
        session: Box<dyn Session<T>>,
        mut run: Run<'a>,
        (penalty, penalty_max): (f64, Vec<f64>),
    ) -> Self {
        let schedule = first_schedule(penalty);
        run.progress =
            Progress { tolerance: params.tolerance, stage_penalty: penalty, ..Progress::default() };
        Self {
            params,
            signals,
            dictionary,
            engine,
            session,
            run,
            penalty,
            schedule,
            proof: Proof::of(penalty_max.len()),
            penalty_max,
            history: Vec::new(),
            unpenalised: Unpenalised::default(),
            layers: SmoothLayers::default(),
            joint: None,
            overlapping: false,
            fingerprint: Fingerprint::default(),
        }
    }

    /// Starts the continuation from zero codes with the needles above its first penalty.
    fn begin_continuation(&mut self) -> Result<()> {
        if self.params.schedule == Schedule::Tiles {
            let penalty = first_stage(self.penalty, &self.penalty_max);
            self.session
                .measure(Measure::Certificate { penalty, slack: 0.0 }, self.run.context())?;
            (self.schedule.stage_penalty, self.run.progress.stage_penalty) = (penalty, penalty);
            self.schedule.candidate_slack = Some(0.0);
        }
        Ok(())
    }

    /// Solves a part of a larger problem; keeps given codes whose gap is at most `accepted`. The
    /// last measurement is a certificate.
    pub fn run_part(&mut self, start: Option<State<T>>, accepted: f64) -> Result<Status> {
        if let Some(state) = start {
            self.session.restore(&state)?;
            drop(state);
            let slack = self.candidate_slack();
            if let Some(status) = self.certify(slack, accepted)? {
                return Ok(status);
            }
            if self.params.schedule == Schedule::Tiles {
                let gap = self.run.progress.relative_gap.unwrap_or(1.0);
                self.schedule.candidate_slack = Some(slack);
                self.schedule.tolerance =
                    (GAP_FRACTION * gap).clamp(smallest_tolerance::<T>(), STAGE_TOLERANCE);
            }
        } else {
            self.begin_continuation()?;
        }
        let status = self.passes()?;
        // A part is always measured completely, even after a stop.
        self.run.ignore_stop();
        if self.history.last().is_none_or(|point| point.relative_gap.is_none())
            || is_stopped_early(status)
        {
            self.record(Measure::Certificate { penalty: self.penalty, slack: 0.0 })?;
        }
        Ok(status)
    }

    pub fn run(mut self) -> Result<Answer<T>> {
        // A signal of zeros has relative penalty 0 and zero codes, whatever the start.
        let cold =
            self.penalty == 0.0 || self.signals.iter().all(|s| matches!(s.start, Start::Zero));
        let certified = if cold {
            // The gap of zero codes was measured together with penalty_max.
            self.add_to_history(true);
            self.status_of_gap(self.params.tolerance)
        } else {
            match self.place_first_needles() {
                // All codes are zero again, on another engine.
                Err(Error::DeviceLost(_)) => self.place_first_needles()?,
                placed => placed?,
            }
            // Start needles may violate a constraint the gap does not measure; a sweep restores it.
            let status = self.certify(self.candidate_slack(), self.params.tolerance)?;
            let capped = self.params.max_nonzeros.is_some()
                || self.signals.iter().any(|s| s.max_nonzeros_map.is_some());
            status.filter(|_| !self.params.nonnegative && !capped)
        };
        let status = match certified {
            Some(status) => status,
            None => self.work()?,
        };
        self.finish(status)
    }

    /// Runs all passes. If a device is lost, they continue from older codes on another engine.
    pub fn work(&mut self) -> Result<Status> {
        match self.passes() {
            Err(Error::DeviceLost(_)) => self.work_again(),
            ended => ended,
        }
    }

    /// Continues after the session went back to older codes.
    pub fn work_again(&mut self) -> Result<Status> {
        self.schedule = first_schedule(self.penalty);
        self.record(Measure::Objective)?;
        if self.run.progress.nonzeros == 0 {
            self.begin_continuation()?;
        }
        self.passes()
    }

    pub fn resume(mut self, checkpoint: &Checkpoint) -> Result<Answer<T>> {
        let expected = self.fingerprint.get(self.params, self.signals, self.dictionary);
        check_fingerprint(checkpoint.fingerprint, expected)?;
        let state: State<T> = checkpoint.state.cast();
        check_codes(self.params, self.signals, self.dictionary, &state.codes)?;
        self.run.resume_after(checkpoint.seconds);
        self.run.progress.discovery_sweeps = checkpoint.discovery_sweeps;
        self.run.progress.support_sweeps = checkpoint.support_sweeps;
        self.run.progress.relative_gap =
            checkpoint.history.iter().rev().find_map(|h| h.relative_gap);
        self.schedule = checkpoint.schedule;
        self.layers.recall(&checkpoint.layers).ok_or_else(damaged)?;
        self.layers.place(self.signals, &mut *self.session)?;
        self.session.restore(&state)?;
        // Finds the same candidates as the certificate before the interruption.
        let newest = checkpoint.history.last();
        let what = match newest.and_then(|h| h.relative_gap) {
            Some(_) => Measure::Certificate {
                penalty: self.penalty,
                slack: self.schedule.candidate_slack.unwrap_or(0.0),
            },
            None => Measure::Objective,
        };
        self.proof.planes = self.layers.measure(&mut *self.session, what, self.run.context())?;
        self.history = checkpoint.history.clone();
        if let Some(point) = newest {
            (self.run.progress.objective, self.run.progress.nonzeros) =
                (point.objective, point.nonzeros);
        }
        let status = self.work()?;
        self.finish(status)
    }

    /// Sets initial needles that are not all zero.
    fn place_first_needles(&mut self) -> Result<()> {
        let channels = self.dictionary.channels();
        let planes = |s: &Observed<T>| self.params.planes_of(s.signal.channels(), channels);
        let spread = self
            .signals
            .iter()
            .flat_map(|s| std::iter::repeat_n(matches!(s.start, Start::Spread), planes(s)));
        let spread: Vec<bool> = spread.collect();
        let mut codes = given_needles(self.params, self.signals, channels);
        if spread.contains(&true) {
            let sweep = self.discovery(self.penalty, Visit::Spread, 1e-6);
            self.session.discover(&sweep, self.run.context())?;
            let made = self.session.state(Share::All)?.codes;
            for ((codes, made), _) in
                codes.iter_mut().zip(made).zip(&spread).filter(|(_, spread)| **spread)
            {
                *codes = made;
            }
        }
        self.session.restore(&State::of_codes(codes))
    }

    /// Offers the observer a checkpoint of the current state.
    pub fn offer_checkpoint(&mut self) -> Result<()> {
        let Self {
            params,
            signals,
            dictionary,
            fingerprint,
            session,
            schedule,
            layers,
            history,
            run,
            ..
        } = self;
        let (clock, progress) = (run.clock(), run.progress);
        let mut fault = Ok(());
        run.observer().between_passes(&mut || {
            let state = session.state(Share::Own).inspect_err(|e| fault = Err(e.clone()))?;
            Ok(Checkpoint {
                fingerprint: fingerprint.get(params, signals, dictionary),
                seconds: clock.seconds(),
                discovery_sweeps: progress.discovery_sweeps,
                support_sweeps: progress.support_sweeps,
                schedule: *schedule,
                state: state.cast(),
                layers: layers.numbers(),
                history: history.clone(),
            })
        });
        fault
    }
}

/// The schedule at the start, without continuation.
fn first_schedule(penalty: f64) -> ScheduleState {
    ScheduleState {
        stage_penalty: penalty,
        tolerance: STAGE_TOLERANCE,
        candidate_slack: None,
        best_gap: f64::INFINITY,
        best_objective: f64::INFINITY,
        idle_passes: 0,
    }
}

/// Whether the run ended between two measurements.
pub fn is_stopped_early(status: Status) -> bool {
    matches!(status, Status::Interrupted | Status::TimeLimit)
}
