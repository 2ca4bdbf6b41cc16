//! The course of a learning: pass after pass, whatever the method.

use super::params::LearnParams;
use super::{LearnPoint, absolute, way};
use crate::border::Border;
use crate::checkpoint::{LearnCheckpoint, Memory};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Measure, Problem, Session, State};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::pursuit::check_objective;
use crate::real::Real;
use crate::report::Status;
use std::time::{Duration, Instant};

/// What a method does in a pass, and what it remembers from one pass to the next.
pub(super) trait Way<T> {
    /// One pass over all signals. Residual, codes and dictionary of the session belong together at its beginning.
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<Passed, Stopped>;
    /// What must be known to go on after a pass, besides dictionary and codes.
    fn remember(&self) -> Memory;
    /// Takes up what was remembered; `None` where that is not what this method remembers.
    fn recall(&mut self, memory: &Memory) -> Option<()>;
}

/// The work was stopped in the middle of a pass, which then counts for nothing.
pub(super) struct Stopped(Status);

/// How a pass went.
#[derive(Clone, Copy, Default)]
pub(super) struct Passed {
    pub(super) standing: Standing,
    pub(super) replaced_atoms: usize,
    pub(super) merged_atoms: usize,
}

/// Objective from a residual synthesised anew, and what it is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Standing {
    pub(super) objective: f64,
    pub(super) data_term: f64,
    pub(super) nonzeros: usize,
}

/// What a pass has at hand.
pub(super) struct Pass<'c, 'o, T> {
    pub(super) session: &'c mut dyn Session<T>,
    pub(super) params: &'c LearnParams,
    pub(super) penalty: f64,
    /// Size of every plane.
    pub(super) extents: &'c [Extent],
    /// Number of the pass, from 1.
    pub(super) number: usize,
    /// The dictionary at its beginning; the session remembers the codes.
    pub(super) before: Dictionary<T>,
    progress: Progress,
    clock: &'c dyn Fn() -> f64,
    asked: &'c Stop,
    observer: &'o mut dyn Observer,
}

impl<T: Real> Pass<'_, '_, T> {
    pub(super) fn border(&self) -> Border {
        self.params.border
    }

    /// Tells the observer where the work stands; `Err` when it is to be stopped.
    pub(super) fn go_on(&mut self) -> Result<(), Stopped> {
        self.progress.seconds = (self.clock)();
        let stop = self.observer.progress(&self.progress) == Control::Stop || self.asked.is_due();
        let over = self.params.time_limit.is_some_and(|limit| self.progress.seconds >= limit.as_secs_f64());
        let end = if stop { Some(Status::Interrupted) } else { over.then_some(Status::TimeLimit) };
        self.session.agree(end).map_or(Ok(()), |status| Err(Stopped(status)))
    }

    /// Synthesises the residual anew and measures.
    pub(super) fn measure(&mut self) -> Standing {
        self.session.refresh();
        let mut sum = Standing::default();
        for plane in self.session.measure(Measure::Objective) {
            sum.data_term += 0.5 * plane.residual_energy;
            sum.objective += 0.5 * plane.residual_energy + self.penalty * plane.weighted_l1;
            sum.nonzeros += plane.nonzeros;
        }
        sum
    }

    /// Goes back to where the pass began.
    pub(super) fn take_back(&mut self) {
        self.session.set_dictionary(self.before.clone());
        self.session.take_codes_back();
        self.session.refresh();
    }
}

/// A learning on its way.
pub(super) struct Course<'a, T> {
    params: &'a LearnParams,
    session: Box<dyn Session<T>>,
    extents: Vec<Extent>,
    way: Box<dyn Way<T>>,
    fingerprint: u64,
    clock: Instant,
    /// Seconds worked before a resumed learning began.
    earlier: f64,
    /// The observer's way to end the learning in the middle of a sweep.
    asked: Stop,
    pub(super) penalty: f64,
    pub(super) history: Vec<LearnPoint>,
}

impl<'a, T: Real> Course<'a, T> {
    pub(super) fn open(
        params: &'a LearnParams,
        engine: &dyn Engine<T>,
        problem: Problem<T>,
        fingerprint: u64,
        asked: Stop,
    ) -> Result<Self> {
        let clock = Instant::now();
        let extents = problem.planes.iter().map(|p| p.extent).collect();
        let way = way(params, &problem.dictionary);
        let mut session = engine.open(problem)?;
        session.heed(asked.clone());
        let penalty = absolute(params.penalty, &mut *session, &asked)?;
        Ok(Self { params, session, extents, way, fingerprint, clock, earlier: 0.0, asked, penalty, history: Vec::new() })
    }

    /// Takes up a checkpoint of the same learning.
    pub(super) fn take_up(&mut self, checkpoint: &LearnCheckpoint) -> Result<()> {
        let damaged = || Error::Data("the checkpoint does not fit together; it is damaged".into());
        let now = self.session.dictionary();
        let data = checkpoint.dictionary.iter().map(|&x| T::from_f64(x)).collect();
        let dictionary = now.with_data(data).ok_or_else(damaged)?;
        self.way.recall(&checkpoint.memory).ok_or_else(damaged)?;
        self.session.set_dictionary(dictionary);
        self.session.restore(&State { codes: checkpoint.codes.clone(), pending: Vec::new() }.cast());
        self.session.refresh();
        self.earlier = checkpoint.seconds;
        self.penalty = checkpoint.penalty;
        self.history.clone_from(&checkpoint.history);
        Ok(())
    }

    /// Pass after pass until one of the ends.
    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<Status> {
        let left = self.params.time_limit.map(|limit| limit.saturating_sub(Duration::from_secs_f64(self.earlier)));
        let limit = left.map_or(Stop::default(), |left| Stop::after(self.clock, left));
        self.session.heed(self.asked.clone().or(limit));
        while self.history.len() < self.params.passes {
            let objective = match self.one_pass(observer) {
                Err(Stopped(status)) => return Ok(status),
                Ok(objective) => objective,
            };
            check_objective::<T>(objective)?;
            if self.params.target_objective.is_some_and(|target| objective <= target) {
                return Ok(Status::Converged);
            }
            observer.between_learning_passes(&mut || self.checkpoint());
        }
        Ok(Status::MaxSweeps)
    }

    /// Gives the objective that the pass came to.
    fn one_pass(&mut self, observer: &mut dyn Observer) -> Result<f64, Stopped> {
        let (began, earlier) = (self.clock, self.earlier);
        let clock = move || earlier + began.elapsed().as_secs_f64();
        let number = self.history.len() + 1;
        let last = self.history.last();
        let progress = Progress {
            seconds: clock(),
            objective: last.map_or(f64::INFINITY, |point| point.objective),
            relative_gap: None,
            tolerance: self.params.tolerance,
            nonzeros: last.map_or(0, |point| point.nonzeros),
            discovery_sweeps: number - 1,
            support_sweeps: 0,
            stage_penalty: self.penalty,
            pass: Some(number),
        };
        self.session.remember_codes();
        let before = self.session.dictionary().clone();
        let mut pass = Pass {
            session: &mut *self.session,
            params: self.params,
            penalty: self.penalty,
            extents: &self.extents,
            number,
            before,
            progress,
            clock: &clock,
            asked: &self.asked,
            observer,
        };
        match self.way.pass(&mut pass) {
            Err(stopped) => {
                pass.take_back();
                Err(stopped)
            }
            Ok(Passed { standing: Standing { objective, data_term, nonzeros }, replaced_atoms, merged_atoms }) => {
                let seconds = clock();
                let point = LearnPoint { seconds, pass: number, objective, data_term, nonzeros, replaced_atoms, merged_atoms };
                self.history.push(point);
                Ok(objective)
            }
        }
    }

    /// Seconds worked so far.
    pub(super) fn seconds(&self) -> f64 {
        self.earlier + self.clock.elapsed().as_secs_f64()
    }

    /// The learning as it stands between two passes.
    fn checkpoint(&self) -> LearnCheckpoint {
        LearnCheckpoint {
            fingerprint: self.fingerprint,
            seconds: self.seconds(),
            penalty: self.penalty,
            dictionary: self.session.dictionary().data().iter().map(|x| x.to_f64()).collect(),
            codes: self.session.fetch_for_keeping().cast::<f64>().codes,
            history: self.history.clone(),
            memory: self.way.remember(),
        }
    }

    /// Dictionary and codes as they stand.
    pub(super) fn finish(self) -> (Dictionary<T>, State<T>, Vec<LearnPoint>) {
        let dictionary = self.session.dictionary();
        let learnt = dictionary.with_data(dictionary.data().to_vec()).expect("the atoms have unit norm");
        (learnt, self.session.fetch(), self.history)
    }
}
