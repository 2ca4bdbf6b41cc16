//! A pursuit under way: how it begins, and how it is taken up again.

use super::Answer;
use super::params::{Observed, PursuitParams, Schedule, Start, measured_penalty};
use super::passes::{GAP_SHARE, STAGE_TOLERANCE, first_stage, smallest_tolerance};
use super::setup::{check_codes, given_needles, planes_of};
use crate::checkpoint::{Checkpoint, ScheduleState, check_fingerprint, fingerprint};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Measure, Measurement, Problem, Session, State, Visit};
use crate::error::Result;
use crate::observe::{Observer, Progress, Stop};
use crate::real::Real;
use crate::report::{HistoryPoint, Status};
use std::cell::OnceCell;
use std::time::Instant;

pub(super) struct Solver<'a, T> {
    pub(super) params: &'a PursuitParams,
    /// Relative gap to reach.
    pub(super) tolerance: f64,
    pub(super) signals: &'a [Observed<T>],
    pub(super) dictionary: &'a Dictionary<T>,
    pub(super) session: Box<dyn Session<T>>,
    pub(super) clock: Instant,
    /// What ends the run in the middle of a sweep: the observer, the clock, either of them.
    pub(super) asked: Stop,
    pub(super) limit: Stop,
    pub(super) stop: Stop,
    /// Seconds worked before a resumed run began.
    pub(super) earlier: f64,
    pub(super) threads: usize,
    pub(super) engine: &'static str,
    /// Penalty asked for, and the largest correlation of every plane at zero codes.
    pub(super) penalty: f64,
    pub(super) penalty_max: Vec<f64>,
    pub(super) progress: Progress,
    pub(super) schedule: ScheduleState,
    /// Processes that must agree on when to stop.
    pub(super) ranks: usize,
    /// Objective of zero codes, where it was measured.
    zero_objective: f64,
    /// Made when first asked for: it reads every sample.
    fingerprint: OnceCell<u64>,
    pub(super) history: Vec<HistoryPoint>,
    pub(super) last: Vec<Measurement>,
    /// Values of the dual that were found besides, for the last certificate.
    pub(super) duals: Vec<f64>,
    /// The best values of the dual so far, at the asked penalty.
    pub(super) proved: Vec<f64>,
    pub(super) peak_memory: u64,
}

impl<'a, T: Real> Solver<'a, T> {
    pub(super) fn open(
        params: &'a PursuitParams,
        engine: &dyn Engine<T>,
        problem: Problem<T>,
        signals: &'a [Observed<T>],
        dictionary: &'a Dictionary<T>,
        asked: Stop,
    ) -> Result<Self> {
        let clock = Instant::now();
        let mut session = engine.open(problem)?;
        session.heed(asked.clone());
        let zero = session.measure(Measure::Largest);
        let penalty_max: Vec<f64> = zero.iter().map(|m| m.largest_correlation).collect();
        let penalty = measured_penalty::<T>(params.penalty, &zero, &asked)?;
        let means = (engine.name(), engine.threads());
        let mut solver = Self::new(Setting { params, signals, dictionary, session, penalty, penalty_max, means });
        solver.begin(clock, asked, engine.ranks());
        solver.zero_objective = 0.5 * zero.iter().map(|m| m.residual_energy).sum::<f64>();
        solver.progress.objective = solver.zero_objective;
        solver.last = zero;
        if signals.iter().all(|s| matches!(s.start, Start::Zero)) {
            // Nothing has changed since the measurement: finding the needles of the first stage costs next to nothing.
            solver.begin_continuation();
        }
        Ok(solver)
    }

    /// A solver of a session whose codes are zero, or will be given.
    pub(super) fn new(setting: Setting<'a, T>) -> Self {
        let Setting { params, signals, dictionary, session, penalty, penalty_max, means: (engine, threads) } = setting;
        let schedule = ScheduleState {
            stage_penalty: penalty,
            tolerance: STAGE_TOLERANCE,
            candidate_slack: None,
            best_gap: f64::INFINITY,
            best_objective: f64::INFINITY,
            idle_passes: 0,
        };
        let progress = Progress {
            seconds: 0.0,
            objective: 0.0,
            relative_gap: None,
            tolerance: params.tolerance,
            nonzeros: 0,
            discovery_sweeps: 0,
            support_sweeps: 0,
            stage_penalty: penalty,
            pass: None,
        };
        Self {
            params,
            tolerance: params.tolerance,
            signals,
            dictionary,
            session,
            clock: Instant::now(),
            asked: Stop::default(),
            limit: Stop::default(),
            stop: Stop::default(),
            earlier: 0.0,
            threads,
            engine,
            penalty,
            progress,
            schedule,
            ranks: 1,
            zero_objective: 0.0,
            fingerprint: OnceCell::new(),
            history: Vec::new(),
            duals: vec![f64::NEG_INFINITY; penalty_max.len()],
            proved: vec![f64::NEG_INFINITY; penalty_max.len()],
            last: Vec::new(),
            penalty_max,
            peak_memory: 0,
        }
    }

    /// From now on the run ends when the observer asks for it, or a time after `clock`, also in the middle of a sweep; where several
    /// ranks must agree on it, after one.
    pub(super) fn begin(&mut self, clock: Instant, asked: Stop, ranks: usize) {
        self.limit = self.params.time_limit.map_or(Stop::default(), |limit| Stop::after(clock, limit));
        self.stop = if ranks == 1 { asked.clone().or(self.limit.clone()) } else { Stop::default() };
        (self.clock, self.asked, self.ranks) = (clock, asked, ranks);
        self.session.heed(self.stop.clone());
    }

    /// Lets the penalty fall to the asked one from above, beginning with the needles that exceed the first stage. Codes are zero.
    fn begin_continuation(&mut self) {
        if self.params.schedule == Schedule::Tiles {
            let penalty = first_stage(self.penalty, &self.penalty_max);
            self.session.measure(Measure::Certificate { penalty, slack: 0.0 });
            (self.schedule.stage_penalty, self.progress.stage_penalty) = (penalty, penalty);
            self.schedule.candidate_slack = Some(0.0);
        }
    }

    /// Solves a part of a larger problem, from the given codes or from zero; given ones with a gap of at most `accepted` are left as
    /// they are. The last measurement is a certificate.
    pub(super) fn run_part(&mut self, start: Option<State<T>>, accepted: f64, observer: &mut dyn Observer) -> Status {
        if let Some(state) = start {
            self.session.restore(&state);
            drop(state);
            let slack = self.candidate_slack();
            self.tolerance = accepted;
            let settled = self.certify(slack);
            self.tolerance = self.params.tolerance;
            if let Some(status) = settled {
                return status;
            }
            if self.params.schedule == Schedule::Tiles {
                let gap = self.progress.relative_gap.unwrap_or(1.0);
                self.schedule.candidate_slack = Some(slack);
                self.schedule.tolerance = (GAP_SHARE * gap).clamp(smallest_tolerance::<T>(), STAGE_TOLERANCE);
            }
        } else {
            self.begin_continuation();
        }
        let status = self.passes(observer);
        // Whatever ended the work, a part is measured as a whole.
        self.session.heed(Stop::default());
        if self.history.last().is_none_or(|point| point.relative_gap.is_none()) || is_broken_off(status) {
            self.record(Measure::Certificate { penalty: self.penalty, slack: 0.0 });
        }
        status
    }

    pub(super) fn run(mut self, observer: &mut dyn Observer) -> Result<Answer<T>> {
        // A signal of zeros has a relative penalty of 0 and the answer zero, whatever the start.
        let cold = self.penalty == 0.0 || self.signals.iter().all(|s| matches!(s.start, Start::Zero));
        let certified = if cold {
            // The gap of zero codes was measured with penalty_max.
            self.note(true);
            self.status_of_gap()
        } else {
            self.place_first_needles();
            // Given needles may break a constraint that the gap does not see; a sweep mends it.
            let status = self.certify(self.candidate_slack());
            let capped = self.params.max_nonzeros.is_some() || self.signals.iter().any(|s| s.max_nonzeros_map.is_some());
            status.filter(|_| !self.params.nonnegative && !capped)
        };
        let status = certified.unwrap_or_else(|| self.passes(observer));
        self.finish(status)
    }

    pub(super) fn resume(mut self, checkpoint: &Checkpoint, observer: &mut dyn Observer) -> Result<Answer<T>> {
        check_fingerprint(checkpoint.fingerprint, self.fingerprint())?;
        let state: State<T> = checkpoint.state.cast();
        check_codes(self.params, self.signals, self.dictionary, &state.codes)?;
        self.earlier = checkpoint.seconds;
        self.progress.discovery_sweeps = checkpoint.discovery_sweeps;
        self.progress.support_sweeps = checkpoint.support_sweeps;
        self.progress.relative_gap = checkpoint.history.iter().rev().find_map(|h| h.relative_gap);
        self.schedule = checkpoint.schedule;
        self.session.restore(&state);
        self.session.refresh();
        // Finds the same candidates as the certificate the run was broken off after.
        let newest = checkpoint.history.last();
        let what = match newest.and_then(|h| h.relative_gap) {
            Some(_) => Measure::Certificate { penalty: self.penalty, slack: self.schedule.candidate_slack.unwrap_or(0.0) },
            None => Measure::Objective,
        };
        self.last = self.session.measure(what);
        self.history = checkpoint.history.clone();
        if let Some(point) = newest {
            (self.progress.objective, self.progress.nonzeros) = (point.objective, point.nonzeros);
        }
        let status = self.passes(observer);
        self.finish(status)
    }

    /// First needles that are not all zero. A spread start is made for all signals and kept for those that ask for it.
    fn place_first_needles(&mut self) {
        let planes = |s: &Observed<T>| planes_of(s.signal.channels(), self.dictionary.channels());
        let spread = self.signals.iter().flat_map(|s| std::iter::repeat_n(matches!(s.start, Start::Spread), planes(s)));
        let spread: Vec<bool> = spread.collect();
        let mut codes = given_needles(self.signals, self.dictionary.channels());
        if spread.contains(&true) {
            let sweep = self.discovery(self.penalty, Visit::Spread, 1e-6);
            self.session.discover(&sweep);
            let made = self.session.fetch().codes;
            for ((codes, made), _) in codes.iter_mut().zip(made).zip(&spread).filter(|(_, spread)| **spread) {
                *codes = made;
            }
        }
        self.session.restore(&State { codes, pending: Vec::new() });
    }

    /// Hash of the problem. Of signals that lie on several ranks it takes what was measured of them with all codes zero.
    fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let whole = fingerprint(self.params, self.signals, self.dictionary);
            let measured =
                self.zero_objective.to_bits().rotate_left(1) ^ self.penalty_max.iter().fold(0, |all, x| all ^ x.to_bits());
            if self.signals.iter().any(|signal| signal.part.is_some()) { whole ^ measured } else { whole }
        })
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            fingerprint: self.fingerprint(),
            seconds: self.seconds(),
            discovery_sweeps: self.progress.discovery_sweeps,
            support_sweeps: self.progress.support_sweeps,
            schedule: self.schedule,
            state: self.session.fetch_for_keeping().cast(),
            history: self.history.clone(),
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.earlier + self.clock.elapsed().as_secs_f64()
    }
}

/// What a solver works on.
pub(super) struct Setting<'a, T> {
    pub(super) params: &'a PursuitParams,
    pub(super) signals: &'a [Observed<T>],
    pub(super) dictionary: &'a Dictionary<T>,
    pub(super) session: Box<dyn Session<T>>,
    pub(super) penalty: f64,
    pub(super) penalty_max: Vec<f64>,
    /// Name and threads of the engine.
    pub(super) means: (&'static str, usize),
}

/// Was a run ended between two measurements?
pub(super) fn is_broken_off(status: Status) -> bool {
    matches!(status, Status::Interrupted | Status::TimeLimit)
}
