//! Pass after pass: sweeps, measurements, and what decides on the next.

use super::params::Schedule;
use super::solver::Solver;
use crate::checkpoint::ScheduleState;
use crate::engine::{Discovery, Measure, Support, Visit};
use crate::observe::{Control, Observer};
use crate::real::Real;
use crate::report::Status;

/// The continuation begins at this many times the penalty, and no step from stage to stage is longer than this factor.
const FIRST_STAGE: f64 = 8.0;
const STAGE_FACTOR: f64 = 0.6;
/// Most support sweeps after a discovery sweep: at a stage of the continuation; in the first pass at the asked penalty, where many
/// codes are still missing; in the next ones; and once changes below `FINE` count.
const STAGE_SUPPORT: usize = 6;
const FIRST_SUPPORT: usize = 8;
const COARSE_SUPPORT: usize = 12;
const FINE_SUPPORT: usize = 24;
const FINE: f64 = 8e-3;
/// Support rounds inside a tile before its neighbours follow, and sweeps of so many rounds before anyone asks how far they came.
const ROUNDS: usize = 2;
const SWEEPS: usize = 6;
/// Changes that end the support sweeps, in shares of the threshold: at a stage, and relative to the last gap at the end (where they
/// are halved from pass to pass at least).
pub(super) const STAGE_TOLERANCE: f64 = 0.05;
pub(super) const GAP_SHARE: f64 = 0.05;
/// Passes without a better gap or objective after which nothing more is to be expected.
const PATIENCE: usize = 12;

impl<T: Real> Solver<'_, T> {
    /// Pass after pass until something ends the run.
    pub(super) fn passes(&mut self, observer: &mut dyn Observer) -> Status {
        while self.progress.discovery_sweeps < self.params.max_sweeps {
            let ended = match self.params.schedule {
                Schedule::Tiles => self.pass_on_tiles(observer),
                Schedule::Layers | Schedule::Needles => self.plain_pass(observer),
            };
            if let Some(status) = ended {
                return status;
            }
            observer.between_passes(&mut || self.checkpoint());
        }
        Status::MaxSweeps
    }

    /// A discovery sweep (colours > tiles > layers > needles), support sweeps, a measurement; the penalty falls to the asked one.
    fn pass_on_tiles(&mut self, observer: &mut dyn Observer) -> Option<Status> {
        let ScheduleState { stage_penalty: penalty, tolerance, candidate_slack, .. } = self.schedule;
        let last_stage = penalty <= self.penalty;
        self.progress.stage_penalty = penalty;
        let limit = match (last_stage, candidate_slack) {
            (false, _) => STAGE_SUPPORT,
            (true, None) => FIRST_SUPPORT,
            (true, Some(_)) if tolerance > FINE => COARSE_SUPPORT,
            (true, Some(_)) => FINE_SUPPORT,
        };
        let visit = if candidate_slack.is_some() { Visit::Candidates } else { Visit::All };
        let sweep = self.discovery(penalty, visit, tolerance);
        let mut moved = self.session.discover(&sweep).largest_change;
        self.progress.discovery_sweeps += 1;
        if let Some(status) = self.pause(observer) {
            return Some(status);
        }
        let mut left = limit / ROUNDS;
        while left > 0 {
            let sweeps = left.min(SWEEPS);
            left -= sweeps;
            let change = self.session.support(&Support { penalty, sweeps, rounds: ROUNDS, tolerance }).largest_change;
            self.progress.support_sweeps += sweeps * ROUNDS;
            moved = moved.max(change);
            if let Some(status) = self.pause(observer) {
                return Some(status);
            }
            if change < tolerance {
                break;
            }
        }
        if !last_stage {
            self.record(Measure::Objective);
            self.schedule.stage_penalty = self.next_stage(penalty);
            self.schedule.candidate_slack = None;
            return None;
        }
        let slack = self.candidate_slack();
        let status = self.certify(slack);
        if self.stop.is_due() {
            return self.pause(observer);
        }
        self.schedule.candidate_slack = Some(slack);
        let (gap, least) = (self.progress.relative_gap.unwrap_or(1.0), smallest_tolerance::<T>());
        self.schedule.tolerance = (0.5 * tolerance).min(GAP_SHARE * gap).max(least);
        // Where nothing moved, a closer look may still find something to do.
        let moved = moved > 0.0 || tolerance > least;
        status.or_else(|| self.is_stuck(moved).then_some(Status::Stalled))
    }

    /// The penalty of the stage after that of `penalty`. All steps from the first stage to the asked penalty are of one ratio.
    fn next_stage(&self, penalty: f64) -> f64 {
        let whole = first_stage(self.penalty, &self.penalty_max) / self.penalty;
        let steps = (whole.ln() / -STAGE_FACTOR.ln()).ceil().max(1.0);
        let next = penalty * whole.powf(-1.0 / steps);
        if next < 1.01 * self.penalty { self.penalty } else { next }
    }

    /// One sweep of the paper's schedules.
    fn plain_pass(&mut self, observer: &mut dyn Observer) -> Option<Status> {
        let sweep = self.discovery(self.penalty, Visit::All, smallest_tolerance::<T>());
        let moved = self.session.discover(&sweep).largest_change;
        self.progress.discovery_sweeps += 1;
        let sweeps = self.progress.discovery_sweeps;
        if let Some(status) = self.pause(observer) {
            return Some(status);
        }
        // A certificate costs as much as a sweep: every fifth sweep gets one.
        if sweeps.is_multiple_of(5) || moved == 0.0 {
            let status = self.certify(0.0);
            if self.stop.is_due() {
                return self.pause(observer);
            }
            return status.or_else(|| self.is_stuck(moved > 0.0).then_some(Status::Stalled));
        }
        self.record(Measure::Objective);
        None
    }

    /// Nothing moved, or neither the gap nor the objective got better for a while.
    fn is_stuck(&mut self, moved: bool) -> bool {
        let (gap, objective) = (self.progress.relative_gap.unwrap_or(f64::INFINITY), self.progress.objective);
        let s = &mut self.schedule;
        let better = gap < 0.99 * s.best_gap || objective < s.best_objective;
        s.best_gap = s.best_gap.min(gap);
        s.best_objective = s.best_objective.min(objective);
        s.idle_passes = if better { 0 } else { s.idle_passes + 1 };
        !moved || s.idle_passes >= PATIENCE
    }

    /// Excess over the threshold that makes a needle a candidate: small against the gap to be reached.
    pub(super) fn candidate_slack(&self) -> f64 {
        (0.2 * self.tolerance).max(smallest_tolerance::<T>())
    }

    pub(super) fn discovery(&self, penalty: f64, visit: Visit, local_tolerance: f64) -> Discovery {
        let random = self.params.schedule == Schedule::Layers && visit == Visit::All;
        let seed = self.params.seed.wrapping_add(self.progress.discovery_sweeps as u64);
        Discovery { penalty, visit, local_tolerance, layer_seed: random.then_some(seed) }
    }

    /// Shows the progress; `Some` when the observer or the clock ends the run.
    fn pause(&mut self, observer: &mut dyn Observer) -> Option<Status> {
        self.progress.seconds = self.seconds();
        let stop = observer.progress(&self.progress) == Control::Stop || self.asked.is_due();
        self.session.agree(if stop { Some(Status::Interrupted) } else { self.limit.is_due().then_some(Status::TimeLimit) })
    }
}

/// Where the continuation begins: below the penalty that gives nothing.
pub(super) fn first_stage(penalty: f64, penalty_max: &[f64]) -> f64 {
    let most = penalty_max.iter().copied().fold(0.0, f64::max);
    (FIRST_STAGE * penalty).min(0.5 * most).max(penalty)
}

/// Changes below this share of a threshold are rounding.
pub(super) fn smallest_tolerance<T: Real>() -> f64 {
    4.0 * T::EPSILON.to_f64()
}
