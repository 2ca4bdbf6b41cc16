//! Runs the passes of a learning method.

use super::params::LearnParams;
use super::{LearnPoint, absolute, pass_method};
use crate::checkpoint::{LearnCheckpoint, LearnerState, damaged};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Learning, Measure, Measurement, Problem, Session, Share, State};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::observe::{Observer, Progress};
use crate::pursuit::check_objective;
use crate::real::Real;
use crate::report::Status;
use crate::run::{Limits, Run};
use std::time::Duration;

/// Fraction of the time that passes take, about; the rest is the pursuit that ends the learning.
pub const LEARNING: f64 = 0.95;

/// What a method does in a pass, and what it remembers from one pass to the next.
pub trait PassMethod<T> {
    /// Runs one pass over all signals; returns its result, except for pass and seconds.
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint, Stopped>;
    /// State needed to resume after a pass, besides dictionary and codes.
    fn remember(&self) -> LearnerState;
    /// Restores saved state; `None` if it does not belong to this method.
    fn recall(&mut self, memory: &LearnerState) -> Option<()>;
}

/// Reason for stopping in the middle of a pass, which is then discarded.
pub enum Stopped {
    /// By the observer or the clock.
    With(Status),
    /// By an error.
    Fault(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Fault(error)
    }
}

impl LearnPoint {
    /// Objective of all planes from their measurements.
    pub(super) fn of(planes: &[Measurement], penalty: f64) -> Self {
        planes.iter().fold(Self::default(), |sum, plane| Self {
            objective: sum.objective + plane.objective(penalty),
            data_term: sum.data_term + plane.data_term(),
            nonzeros: sum.nonzeros + plane.nonzeros,
            ..sum
        })
    }
}

/// Everything a pass works with.
pub struct Pass<'c, 'o, T> {
    pub session: &'c mut dyn Session<T>,
    pub params: &'c LearnParams,
    pub penalty: f64,
    /// Size of every plane.
    pub extents: &'c [Extent],
    /// Number of the pass, from 1.
    pub number: usize,
    /// The dictionary at the start of the pass; the session remembers the codes.
    pub before: Dictionary<T>,
    pub run: &'c mut Run<'o>,
}

impl<T: Real> Pass<'_, '_, T> {
    /// Reports progress to the observer; `Err` if the run should stop.
    pub fn pause(&mut self) -> Result<(), Stopped> {
        self.run.pause().map_or(Ok(()), |status| Err(Stopped::With(status)))
    }

    /// Measures the current objective.
    pub fn measure(&mut self) -> Result<LearnPoint> {
        Ok(LearnPoint::of(
            &self.session.measure(Measure::Objective, self.run.context())?,
            self.penalty,
        ))
    }

    /// Access to the operations that change the atoms.
    pub fn atoms(&mut self) -> &mut dyn Learning<T> {
        self.session.learning()
    }
}

/// State of a learning run.
pub struct LearnSolver<'a, T> {
    params: &'a LearnParams,
    session: Box<dyn Session<T>>,
    extents: Vec<Extent>,
    method: Box<dyn PassMethod<T>>,
    fingerprint: u64,
    run: Run<'a>,
    pub penalty: f64,
    pub history: Vec<LearnPoint>,
}

impl<'a, T: Real> LearnSolver<'a, T> {
    pub fn open(
        params: &'a LearnParams,
        engine: &dyn Engine<T>,
        problem: Problem<T>,
        fingerprint: u64,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let limits = Limits { time: params.time_limit, memory: None };
        let run = Run::begin(limits, engine.agreement(), observer);
        let extents = problem.planes.iter().map(|p| p.extent).collect();
        let method = pass_method(params, &problem.dictionary);
        let mut session = engine.open(problem, None)?;
        let penalty = absolute(params.penalty, &mut *session, &run.untimed_context())?;
        Ok(Self {
            params,
            session,
            extents,
            method,
            fingerprint,
            run,
            penalty,
            history: Vec::new(),
        })
    }

    /// Resumes from a checkpoint of the same run.
    pub fn resume_from(&mut self, checkpoint: &LearnCheckpoint) -> Result<()> {
        let now = self.session.dictionary();
        let data = checkpoint.dictionary.iter().map(|&x| T::from_f64(x)).collect();
        let dictionary = now.with_data(data).ok_or_else(damaged)?;
        self.method.recall(&checkpoint.memory).ok_or_else(damaged)?;
        self.session.learning().set_dictionary(dictionary)?;
        self.session.restore(&State::of_codes(checkpoint.codes.clone()).cast())?;
        self.run.resume_after(checkpoint.seconds);
        self.penalty = checkpoint.penalty;
        self.history.clone_from(&checkpoint.history);
        Ok(())
    }

    /// Runs passes until a stopping criterion is met.
    pub fn run(&mut self) -> Result<Status> {
        while self.history.len() < self.params.passes {
            let objective = match self.one_pass() {
                Err(Stopped::With(status)) => return Ok(status),
                Err(Stopped::Fault(error)) => {
                    // If a device failed, the observer may save the state before this pass.
                    if matches!(error, Error::Device(_)) && self.session.state(Share::Own).is_ok() {
                        self.offer_checkpoint();
                    }
                    return Err(error);
                }
                Ok(objective) => objective,
            };
            check_objective::<T>(objective)?;
            if self.params.target_objective.is_some_and(|target| objective <= target) {
                return Ok(Status::Converged);
            }
            self.offer_checkpoint();
        }
        Ok(Status::Completed)
    }

    /// Runs a pass and returns its objective.
    fn one_pass(&mut self) -> Result<f64, Stopped> {
        let number = self.history.len() + 1;
        let last = self.history.last();
        self.run.progress = Progress {
            objective: last.map_or(f64::INFINITY, |point| point.objective),
            tolerance: self.params.tolerance,
            nonzeros: last.map_or(0, |point| point.nonzeros),
            discovery_sweeps: number - 1,
            stage_penalty: self.penalty,
            pass: Some(number),
            fraction: self.run.progress.fraction,
            ..Progress::default()
        };
        self.run.advance(LEARNING * (number - 1) as f64 / self.params.passes as f64);
        self.session.learning().remember()?;
        let before = self.session.dictionary().clone();
        let mut pass = Pass {
            session: &mut *self.session,
            params: self.params,
            penalty: self.penalty,
            extents: &self.extents,
            number,
            before,
            run: &mut self.run,
        };
        match self.method.pass(&mut pass) {
            Err(stopped) => {
                let back = pass.atoms().take_back();
                // A device that failed in the pass may fail here too.
                if matches!(stopped, Stopped::With(_)) {
                    back?;
                }
                Err(stopped)
            }
            Ok(point) => {
                self.history.push(LearnPoint {
                    seconds: self.run.seconds(),
                    pass: number,
                    ..point
                });
                Ok(point.objective)
            }
        }
    }

    /// Seconds elapsed, and the remaining time limit.
    pub fn time(&self) -> (f64, Option<Duration>) {
        (self.run.seconds(), self.run.time_left())
    }

    /// Offers the observer a checkpoint between two passes.
    fn offer_checkpoint(&mut self) {
        let Self { fingerprint, penalty, session, history, method, run, .. } = self;
        let clock = run.clock();
        run.observer().between_learning_passes(&mut || {
            Ok(LearnCheckpoint {
                fingerprint: *fingerprint,
                seconds: clock.seconds(),
                penalty: *penalty,
                dictionary: session.dictionary().data().iter().map(|x| x.to_f64()).collect(),
                codes: session.state(Share::Own)?.cast::<f64>().codes,
                history: history.clone(),
                memory: method.remember(),
            })
        });
    }

    /// Returns the current dictionary and codes.
    pub fn finish(mut self) -> Result<(Dictionary<T>, State<T>, Vec<LearnPoint>)> {
        let dictionary = self.session.dictionary();
        let learnt =
            dictionary.with_data(dictionary.data().to_vec()).expect("the atoms have unit norm");
        Ok((learnt, self.session.state(self.run.agreement().answers())?, self.history))
    }
}
