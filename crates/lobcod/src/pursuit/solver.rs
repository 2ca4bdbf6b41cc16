//! The main loop.

use super::Answer;
use super::params::{Observed, Penalty, PursuitParams, Schedule, Start};
use super::setup::{given_needles, planes_of};
use crate::engine::{Discovery, Engine, Measure, Measurement, Problem, Session, Support, Visit};
use crate::error::Result;
use crate::needles::{Code, Needles};
use crate::observe::{Control, Observer, Progress};
use crate::real::Real;
use crate::report::{Certificate, HistoryPoint, Report, Status};
use std::time::Instant;

/// The continuation begins at this many times the penalty and falls by this factor from stage to stage (four steps).
const FIRST_STAGE: f64 = 8.0;
const STAGE_FACTOR: f64 = 0.5946;
/// Most support sweeps after a discovery sweep at a stage of the continuation, and at the asked penalty.
const STAGE_SUPPORT: usize = 6;
const FINAL_SUPPORT: usize = 24;
/// Support rounds inside a tile before its neighbours follow.
const ROUNDS: usize = 2;
/// Changes that end the support sweeps, in shares of the threshold: at a stage, and relative to the last gap at the end.
const STAGE_TOLERANCE: f64 = 0.05;
const GAP_SHARE: f64 = 0.05;
/// Passes without a better gap or objective after which nothing more is to be expected.
const PATIENCE: usize = 12;

pub(super) struct Solver<'a, T> {
    params: &'a PursuitParams,
    signals: &'a [Observed<T>],
    session: Box<dyn Session<T>>,
    observer: &'a mut dyn Observer,
    clock: Instant,
    dictionary_channels: usize,
    threads: usize,
    engine: &'static str,
    /// Penalty asked for, and the largest correlation of every plane at zero codes.
    penalty: f64,
    penalty_max: Vec<f64>,
    progress: Progress,
    history: Vec<HistoryPoint>,
    last: Vec<Measurement>,
    peak_memory: u64,
}

impl<'a, T: Real> Solver<'a, T> {
    pub(super) fn open(
        params: &'a PursuitParams,
        engine: &dyn Engine<T>,
        problem: Problem<T>,
        signals: &'a [Observed<T>],
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let clock = Instant::now();
        let dictionary_channels = problem.dictionary.channels();
        let mut session = engine.open(problem)?;
        // An absolute penalty is known now, so this measurement also finds the needles of the first stage.
        let bound = if let Penalty::Absolute(penalty) = params.penalty { FIRST_STAGE * penalty } else { f64::INFINITY };
        let zero = session.measure(Measure::Certificate { penalty: bound, slack: 0.0 });
        let penalty_max: Vec<f64> = zero.iter().map(|m| m.largest_correlation).collect();
        let penalty = match params.penalty {
            Penalty::Absolute(penalty) => penalty,
            Penalty::Relative(share) => share * penalty_max.iter().copied().fold(0.0, f64::max),
        };
        let progress = Progress {
            seconds: 0.0,
            objective: 0.5 * zero.iter().map(|m| m.residual_energy).sum::<f64>(),
            relative_gap: None,
            tolerance: params.tolerance,
            nonzeros: 0,
            discovery_sweeps: 0,
            support_sweeps: 0,
            stage_penalty: penalty,
        };
        Ok(Self {
            params,
            signals,
            session,
            observer,
            clock,
            dictionary_channels,
            threads: engine.threads(),
            engine: engine.name(),
            penalty,
            penalty_max,
            progress,
            history: Vec::new(),
            last: zero,
            peak_memory: 0,
        })
    }

    pub(super) fn run(mut self) -> Result<Answer<T>> {
        self.start();
        let status = match self.params.schedule {
            Schedule::Tiles => self.run_tiles(),
            Schedule::Layers | Schedule::Needles => self.run_plain(),
        };
        Ok(self.finish(status))
    }

    /// First needles. A spread start is shared by all signals that ask for it.
    fn start(&mut self) {
        let spread = self.signals.iter().any(|s| matches!(s.start, Start::Spread));
        if spread {
            let sweep = self.discovery(self.penalty, Visit::Spread, 1e-6);
            self.session.discover(&sweep);
        }
        if let Some(mut given) = given_needles(self.signals, self.dictionary_channels) {
            if spread {
                let made = self.session.fetch();
                let spread_planes = self.signals.iter().flat_map(|s| {
                    let planes = planes_of(s.signal.channels(), self.dictionary_channels);
                    std::iter::repeat_n(matches!(s.start, Start::Spread), planes)
                });
                for ((given, made), spread) in given.iter_mut().zip(made).zip(spread_planes) {
                    if spread {
                        *given = made;
                    }
                }
            }
            self.session.restore(&given);
        }
    }

    /// Colours > tiles > layers > needles, support sweeps between, penalty falling to the asked one.
    fn run_tiles(&mut self) -> Status {
        let cold = self.is_cold();
        let most = self.penalty_max.iter().copied().fold(0.0, f64::max);
        let mut stage = if cold { (FIRST_STAGE * self.penalty).min(0.5 * most).max(self.penalty) } else { self.penalty };
        let mut tolerance = (0.2 * self.params.tolerance).max(4.0 * T::EPSILON.to_f64());
        let known = cold && stage == FIRST_STAGE * self.penalty && matches!(self.params.penalty, Penalty::Absolute(_));
        let mut visit = if known { Visit::Candidates } else { Visit::All };
        let mut watch = Watch::default();
        if let Some(status) = self.certify_start(cold, tolerance) {
            return status;
        }
        loop {
            let last_stage = stage <= self.penalty;
            self.progress.stage_penalty = stage;
            let gap = self.progress.relative_gap.unwrap_or(1.0).min(1.0);
            let (limit, close) =
                if last_stage { (FINAL_SUPPORT, tolerance.max(GAP_SHARE * gap)) } else { (STAGE_SUPPORT, STAGE_TOLERANCE) };
            let sweep = self.discovery(stage, visit, close);
            let mut moved = self.session.discover(&sweep).largest_change;
            self.progress.discovery_sweeps += 1;
            if let Some(status) = self.pause() {
                return status;
            }
            let mut sweeps = 0;
            while sweeps < limit {
                let support = Support { penalty: stage, rounds: ROUNDS, tolerance: close };
                let change = self.session.support(&support).largest_change;
                sweeps += ROUNDS;
                self.progress.support_sweeps += ROUNDS;
                moved = moved.max(change);
                if let Some(status) = self.pause() {
                    return status;
                }
                if change < close {
                    break;
                }
            }
            if last_stage {
                let status = self.certify(tolerance);
                if status.is_some() {
                    return status.expect("checked");
                }
                visit = Visit::Candidates;
                if moved == 0.0 || watch.is_stuck(self.progress.objective, self.progress.relative_gap) {
                    return Status::Stalled;
                }
                tolerance = (0.7 * tolerance).max(4.0 * T::EPSILON.to_f64());
            } else {
                self.record(Measure::Objective);
                stage = STAGE_FACTOR * stage;
                // A last step that would hardly differ from the asked penalty goes there at once.
                if stage < 1.1 * self.penalty {
                    stage = self.penalty;
                }
                visit = Visit::All;
            }
            if self.progress.discovery_sweeps >= self.params.max_sweeps {
                return Status::MaxSweeps;
            }
        }
    }

    /// The paper's schedules: one discovery sweep after another at the asked penalty.
    fn run_plain(&mut self) -> Status {
        let local_tolerance = 4.0 * T::EPSILON.to_f64();
        let mut watch = Watch::default();
        let cold = self.is_cold();
        if let Some(status) = self.certify_start(cold, 0.0) {
            return status;
        }
        loop {
            let sweep = self.discovery(self.penalty, Visit::All, local_tolerance);
            let moved = self.session.discover(&sweep).largest_change;
            self.progress.discovery_sweeps += 1;
            let sweeps = self.progress.discovery_sweeps;
            // A certificate costs as much as a sweep: every fifth sweep gets one.
            if sweeps % 5 == 0 || moved == 0.0 || sweeps >= self.params.max_sweeps {
                if let Some(status) = self.certify(0.0) {
                    return status;
                }
                if moved == 0.0 || watch.is_stuck(self.progress.objective, self.progress.relative_gap) {
                    return Status::Stalled;
                }
            } else {
                self.record(Measure::Objective);
            }
            if let Some(status) = self.pause() {
                return status;
            }
            if sweeps >= self.params.max_sweeps {
                return Status::MaxSweeps;
            }
        }
    }

    fn discovery(&self, penalty: f64, visit: Visit, local_tolerance: f64) -> Discovery {
        let random = self.params.schedule == Schedule::Layers && visit == Visit::All;
        let seed = self.params.seed.wrapping_add(self.progress.discovery_sweeps as u64);
        Discovery { penalty, visit, local_tolerance, layer_seed: random.then_some(seed) }
    }

    /// Do all codes start at zero?
    fn is_cold(&self) -> bool {
        self.signals.iter().all(|s| matches!(s.start, Start::Zero))
    }

    /// The gap of the first needles; that of zero codes was measured with penalty_max.
    fn certify_start(&mut self, cold: bool, slack: f64) -> Option<Status> {
        if cold {
            self.note(true);
            self.status_of_gap()
        } else {
            self.certify(slack)
        }
    }

    /// Residual anew, measurement, a point of the history.
    fn record(&mut self, what: Measure) {
        self.session.refresh();
        self.last = self.session.measure(what);
        self.note(matches!(what, Measure::Certificate { .. }));
    }

    /// A point of the history from the last measurement.
    fn note(&mut self, certified: bool) {
        let total = self.certificates().1;
        self.progress.seconds = self.clock.elapsed().as_secs_f64();
        self.progress.objective = total.objective;
        self.progress.nonzeros = total.nonzeros;
        let relative_gap = certified.then(|| total.relative_gap());
        if certified {
            self.progress.relative_gap = relative_gap;
        }
        self.peak_memory = self.peak_memory.max(self.session.memory());
        let (seconds, objective, nonzeros) = (self.progress.seconds, total.objective, total.nonzeros);
        self.history.push(HistoryPoint { seconds, objective, nonzeros, relative_gap });
    }

    /// Measures the gap; `Some` when it is small enough.
    fn certify(&mut self, slack: f64) -> Option<Status> {
        self.record(Measure::Certificate { penalty: self.penalty, slack });
        self.status_of_gap()
    }

    fn status_of_gap(&self) -> Option<Status> {
        let gap = self.progress.relative_gap.expect("just measured");
        (gap <= self.params.tolerance).then_some(Status::Converged)
    }

    /// Shows the progress; `Some` when the observer or the clock ends the run.
    fn pause(&mut self) -> Option<Status> {
        self.progress.seconds = self.clock.elapsed().as_secs_f64();
        if self.observer.progress(&self.progress) == Control::Stop {
            return Some(Status::Interrupted);
        }
        let over = self.params.time_limit.is_some_and(|limit| self.clock.elapsed() >= limit);
        over.then_some(Status::TimeLimit)
    }

    /// Certificate of every signal and their sum, from the last measurement.
    fn certificates(&self) -> (Vec<Certificate>, Certificate) {
        let mut planes = self.last.iter().zip(&self.penalty_max);
        let mut total = Certificate::default();
        let mut signals = Vec::with_capacity(self.signals.len());
        for observed in self.signals {
            let mut sum = Certificate::default();
            for (m, &penalty_max) in planes.by_ref().take(planes_of(observed.signal.channels(), self.dictionary_channels)) {
                sum.add(&certificate(m, self.penalty, penalty_max));
            }
            sum.pixels = observed.signal.extent().volume();
            total.add(&sum);
            signals.push(sum);
        }
        (signals, total)
    }

    fn finish(mut self, status: Status) -> Answer<T> {
        // A run ended between two measurements is certified as it stands.
        if matches!(status, Status::Interrupted | Status::TimeLimit | Status::MaxSweeps)
            && self.history.last().is_none_or(|h| h.relative_gap.is_none())
            || matches!(status, Status::Interrupted | Status::TimeLimit)
        {
            let _ = self.certify(0.0);
        }
        let (signals, total) = self.certificates();
        let mut planes = self.session.fetch().into_iter();
        let needles = self
            .signals
            .iter()
            .map(|observed| {
                let mut codes: Vec<Code<T>> = Vec::new();
                for channel in 0..planes_of(observed.signal.channels(), self.dictionary_channels) {
                    let plane = planes.next().expect("every signal has its planes");
                    codes.extend(plane.into_iter().map(|c| Code { channel: channel as u32, ..c }));
                }
                Needles::new(observed.signal.extent(), observed.signal.channels(), self.params.border, codes)
            })
            .collect();
        let report = Report {
            status,
            total,
            signals,
            penalty: self.penalty,
            discovery_sweeps: self.progress.discovery_sweeps,
            support_sweeps: self.progress.support_sweeps,
            seconds: self.clock.elapsed().as_secs_f64(),
            working_memory_bytes: self.peak_memory.max(self.session.memory()),
            threads: self.threads,
            engine: self.engine,
            precision: T::NAME,
            history: self.history,
        };
        Answer { needles, report }
    }
}

/// Primal, and the dual at `theta = s r` with the largest feasible `s <= 1`.
fn certificate(m: &Measurement, penalty: f64, penalty_max: f64) -> Certificate {
    let data_term = 0.5 * m.residual_energy;
    let objective = data_term + penalty * m.weighted_l1;
    let s = if m.largest_correlation > penalty { penalty / m.largest_correlation } else { 1.0 };
    let dual = s * m.target_dot_residual - 0.5 * s * s * m.residual_energy;
    Certificate { objective, data_term, gap: (objective - dual).max(0.0), nonzeros: m.nonzeros, pixels: 0, penalty_max }
}

/// Notices when neither the gap nor the objective gets better any more.
struct Watch {
    gap: f64,
    objective: f64,
    idle: usize,
}

impl Default for Watch {
    fn default() -> Self {
        Self { gap: f64::INFINITY, objective: f64::INFINITY, idle: 0 }
    }
}

impl Watch {
    fn is_stuck(&mut self, objective: f64, gap: Option<f64>) -> bool {
        let gap = gap.unwrap_or(f64::INFINITY);
        let better = gap < 0.99 * self.gap || objective < self.objective * (1.0 - 1e-12);
        self.gap = self.gap.min(gap);
        self.objective = self.objective.min(objective);
        self.idle = if better { 0 } else { self.idle + 1 };
        self.idle >= PATIENCE
    }
}
