//! Passes: sweeps, measurements and stopping criteria.

use super::params::Schedule;
use super::solver::Solver;
use crate::checkpoint::ScheduleState;
use crate::engine::{Discovery, Measure, Support, SupportFit, Visit};
use crate::error::Result;
use crate::real::Real;
use crate::report::Status;

/// Penalty at the start of the continuation, as a multiple, and its largest step.
const FIRST_STAGE: f64 = 8.0;
const STAGE_FACTOR: f64 = 0.6;
/// Maximum number of support sweeps after a discovery sweep: at a stage of the continuation, in the
/// first pass at the final penalty, in later passes, and once changes below `FINE` matter.
const STAGE_SUPPORT: usize = 6;
const FIRST_SUPPORT: usize = 8;
const COARSE_SUPPORT: usize = 12;
const FINE_SUPPORT: usize = 24;
const FINE: f64 = 8e-3;
/// Steps of a fit of all codes together, and the fraction of the squared gradient that ends it.
const FIT_STEPS: usize = 20;
const FIT_ENOUGH: f64 = 0.01;
/// Consecutive support rounds inside a tile, and sweeps of that many rounds per call.
const ROUNDS: usize = 2;
const SWEEPS: usize = 6;
/// Changes that end the support sweeps: as a fraction of the threshold at a stage, and of the last
/// gap at the end.
pub const STAGE_TOLERANCE: f64 = 0.05;
pub const GAP_FRACTION: f64 = 0.05;
/// Fraction of the time that the continuation takes, about.
pub const CONTINUATION: f64 = 0.4;
/// Passes without a better gap or objective before the run has stalled.
const PATIENCE: usize = 12;

impl<T: Real> Solver<'_, T> {
    /// Runs passes until the run ends.
    pub fn passes(&mut self) -> Result<Status> {
        while self.run.progress.discovery_sweeps < self.params.max_sweeps {
            let ended = match self.params.schedule {
                Schedule::Tiles => self.pass_on_tiles()?,
                Schedule::Layers | Schedule::Needles => self.plain_pass()?,
            };
            if let Some(status) = ended {
                return Ok(status);
            }
            self.offer_checkpoint()?;
        }
        Ok(Status::MaxSweeps)
    }

    /// A discovery sweep, support sweeps and a measurement; then lowers the penalty.
    fn pass_on_tiles(&mut self) -> Result<Option<Status>> {
        let ScheduleState { stage_penalty: penalty, tolerance, candidate_slack, .. } =
            self.schedule;
        let last_stage = penalty <= self.penalty;
        self.run.advance(self.continuation_done(penalty));
        self.run.progress.stage_penalty = penalty;
        let limit = match (last_stage, candidate_slack) {
            (false, _) => STAGE_SUPPORT,
            (true, None) => FIRST_SUPPORT,
            (true, Some(_)) if tolerance > FINE => COARSE_SUPPORT,
            (true, Some(_)) => FINE_SUPPORT,
        };
        let mut slow = self.overlapping && last_stage && tolerance <= FINE;
        let limit = if slow { limit.min(COARSE_SUPPORT) } else { limit };
        let visit = if candidate_slack.is_some() { Visit::Candidates } else { Visit::All };
        let sweep = self.discovery(penalty, visit, tolerance);
        let mut moved = self.session.discover(&sweep, self.run.context())?.largest_change;
        self.run.progress.discovery_sweeps += 1;
        if let Some(status) = self.run.pause() {
            return Ok(Some(status));
        }
        let mut left = limit / ROUNDS;
        while left > 0 {
            // The layers follow the codes closely.
            let sweeps = left.min(if self.layers.is_empty() { SWEEPS } else { 1 });
            left -= sweeps;
            let sweep = Support { penalty, sweeps, rounds: ROUNDS, tolerance };
            let change = self.session.support(&sweep, self.run.context())?.largest_change;
            self.run.progress.support_sweeps += sweeps * ROUNDS;
            moved = moved.max(change);
            if let Some(status) = self.run.pause() {
                return Ok(Some(status));
            }
            if change < tolerance {
                slow = false;
                break;
            }
            self.fit_layers(true)?;
        }
        if slow {
            let fit = SupportFit { penalty, steps: FIT_STEPS, enough: FIT_ENOUGH };
            self.session.fit_support(&fit, self.run.context())?;
        }
        if !last_stage {
            self.fit_layers(false)?;
            self.record(Measure::Objective)?;
            self.schedule.stage_penalty = self.next_stage(penalty);
            self.schedule.candidate_slack = None;
            return Ok(None);
        }
        let slack = self.candidate_slack();
        let status = self.certify(slack, self.params.tolerance)?;
        if self.run.context().stop.is_due() {
            return Ok(self.run.pause());
        }
        self.schedule.candidate_slack = Some(slack);
        let (gap, least) =
            (self.run.progress.relative_gap.unwrap_or(1.0), smallest_tolerance::<T>());
        self.schedule.tolerance = (0.5 * tolerance).min(GAP_FRACTION * gap).max(least);
        // If nothing moved, a finer tolerance may still find something to do.
        let moved = moved > 0.0 || tolerance > least;
        Ok(status.or_else(|| self.is_stuck(moved).then_some(Status::Stalled)))
    }

    /// Fraction of a pursuit that is done when its continuation is at this penalty.
    fn continuation_done(&self, penalty: f64) -> f64 {
        let first = first_stage(self.penalty, &self.penalty_max);
        let whole = (first / self.penalty).ln();
        CONTINUATION * if whole > 0.0 { (first / penalty).ln() / whole } else { 1.0 }
    }

    /// The penalty of the next stage; all steps have one ratio.
    fn next_stage(&self, penalty: f64) -> f64 {
        let whole = first_stage(self.penalty, &self.penalty_max) / self.penalty;
        let steps = (whole.ln() / -STAGE_FACTOR.ln()).ceil().max(1.0);
        let next = penalty * whole.powf(-1.0 / steps);
        if next < 1.01 * self.penalty { self.penalty } else { next }
    }

    /// One sweep of the paper's schedules.
    fn plain_pass(&mut self) -> Result<Option<Status>> {
        let sweep = self.discovery(self.penalty, Visit::All, smallest_tolerance::<T>());
        let moved = self.session.discover(&sweep, self.run.context())?.largest_change;
        self.run.progress.discovery_sweeps += 1;
        let sweeps = self.run.progress.discovery_sweeps;
        if let Some(status) = self.run.pause() {
            return Ok(Some(status));
        }
        // A certificate costs as much as a sweep, so only every fifth sweep is certified.
        if sweeps.is_multiple_of(5) || moved == 0.0 {
            let status = self.certify(0.0, self.params.tolerance)?;
            if self.run.context().stop.is_due() {
                return Ok(self.run.pause());
            }
            return Ok(status.or_else(|| self.is_stuck(moved > 0.0).then_some(Status::Stalled)));
        }
        self.record(Measure::Objective)?;
        Ok(None)
    }

    /// Whether nothing moved, or neither gap nor objective improved for a while.
    fn is_stuck(&mut self, moved: bool) -> bool {
        let (gap, objective) =
            (self.run.progress.relative_gap.unwrap_or(f64::INFINITY), self.run.progress.objective);
        let s = &mut self.schedule;
        let better = gap < 0.99 * s.best_gap || objective < s.best_objective;
        s.best_gap = s.best_gap.min(gap);
        s.best_objective = s.best_objective.min(objective);
        s.idle_passes = if better { 0 } else { s.idle_passes + 1 };
        !moved || s.idle_passes >= PATIENCE
    }

    /// Excess that makes a needle a candidate: small compared with the target gap.
    pub fn candidate_slack(&self) -> f64 {
        (0.2 * self.params.tolerance).max(smallest_tolerance::<T>())
    }

    pub fn discovery(&self, penalty: f64, visit: Visit, local_tolerance: f64) -> Discovery {
        let random = self.params.schedule == Schedule::Layers && visit == Visit::All;
        let seed = self.params.seed.wrapping_add(self.run.progress.discovery_sweeps as u64);
        Discovery { penalty, visit, local_tolerance, layer_seed: random.then_some(seed) }
    }
}

/// Penalty at which the continuation begins, below the one that gives zero codes.
pub fn first_stage(penalty: f64, penalty_max: &[f64]) -> f64 {
    let most = penalty_max.iter().copied().fold(0.0, f64::max);
    (FIRST_STAGE * penalty).min(0.5 * most).max(penalty)
}

/// Changes below this fraction of a threshold are rounding errors.
pub fn smallest_tolerance<T: Real>() -> f64 {
    4.0 * T::EPSILON.to_f64()
}
