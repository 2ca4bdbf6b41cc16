//! How far the work has come, and whether it goes on.

use crate::engine::{Measure, Session};
use crate::observe::{Control, Observer, Progress, Stop};
use crate::real::Real;
use crate::report::Status;
use std::time::{Duration, Instant};

/// Clock, counters and the observer of one run. Once it is over, every step is skipped and the answer so far is kept.
pub(super) struct Pace<'a> {
    clock: Instant,
    /// What ends the run in the middle of a sweep: the observer, the clock, either of them.
    pub(super) asked: Stop,
    limit: Stop,
    pub(super) stop: Stop,
    observer: &'a mut dyn Observer,
    progress: Progress,
    ended: Option<Status>,
    pub(super) peak_memory: u64,
}

impl<'a> Pace<'a> {
    pub(super) fn new(limit: Option<Duration>, ranks: usize, observer: &'a mut dyn Observer) -> Self {
        let progress = Progress {
            seconds: 0.0,
            objective: 0.0,
            relative_gap: None,
            tolerance: 0.0,
            nonzeros: 0,
            discovery_sweeps: 0,
            support_sweeps: 0,
            stage_penalty: 0.0,
            pass: None,
        };
        let clock = Instant::now();
        // Several ranks agree on it between two sweeps.
        let asked = if ranks == 1 { observer.stop() } else { Stop::default() };
        let limit = limit.map_or(Stop::default(), |limit| Stop::after(clock, limit));
        let stop = if ranks == 1 { asked.clone().or(limit.clone()) } else { Stop::default() };
        Self { clock, asked, limit, stop, observer, progress, ended: None, peak_memory: 0 }
    }

    /// Counts what a session just did (sweeps over the support, or one over all needles) and shows it.
    pub(super) fn note<T: Real>(&mut self, session: &mut dyn Session<T>, penalty: f64, support_sweeps: usize) {
        let sums = session.measure(Measure::Objective);
        self.progress.objective = sums.iter().map(|m| 0.5 * m.residual_energy + penalty * m.weighted_l1).sum();
        self.progress.nonzeros = sums.iter().map(|m| m.nonzeros).sum();
        self.progress.discovery_sweeps += usize::from(support_sweeps == 0);
        self.progress.support_sweeps += support_sweeps;
        self.progress.stage_penalty = penalty;
        self.progress.seconds = self.seconds();
        self.peak_memory = self.peak_memory.max(session.memory());
        let stop = self.observer.progress(&self.progress) == Control::Stop || self.asked.is_due();
        let end = session.agree(if stop { Some(Status::Interrupted) } else { self.limit.is_due().then_some(Status::TimeLimit) });
        self.ended = self.ended.or(end);
    }

    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some() || self.asked.is_due()
    }

    /// How the run ended, as far as the clock and the observer are concerned.
    pub(super) fn status(&self) -> Status {
        let asked = self.asked.is_due().then_some(Status::Interrupted);
        self.ended.or(asked).unwrap_or(Status::Converged)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    /// Sweeps over all needles, and over the non-zero codes.
    pub(super) fn sweeps(&self) -> (usize, usize) {
        (self.progress.discovery_sweeps, self.progress.support_sweeps)
    }
}
