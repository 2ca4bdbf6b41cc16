//! The context of a run: clock, limits, observer, progress and memory in one value.
//!
//! Every solver of this crate and every task of `lobcod-tasks` begins a [`Run`] and asks it what
//! time it is, whether to stop and how much memory is allowed:
//!
//! ```
//! use lobcod::engine::Agreement;
//! use lobcod::run::{Limits, Run};
//! use std::time::Duration;
//!
//! let limits = Limits { time: Some(Duration::ZERO), memory: None };
//! let mut observer = ();
//! let mut run = Run::begin(limits, Agreement::default(), &mut observer);
//! run.progress.discovery_sweeps += 1;
//! assert_eq!(run.pause(), Some(lobcod::Status::TimeLimit));
//! ```

pub use crate::clock::Clock;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use crate::clock::set_time_source;
use crate::engine::{Agreement, Context, Engine};
pub use crate::observe::Stop;
use crate::observe::{Control, Observer, Progress};
use crate::real::Real;
use crate::report::{Certificate, Report, Status};
use std::ops::Range;
use std::time::Duration;

/// Time allowed for the final measurement of an interrupted run.
const LAST_MEASUREMENT: Duration = Duration::from_millis(200);

/// Time and memory limits of a run; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall time from the start of this run, even if it resumes another.
    pub time: Option<Duration>,
    /// Bytes of an engine's own memory.
    pub memory: Option<u64>,
}

/// State of a running pursuit, learning or task.
///
/// It keeps the time, reports progress to the observer, decides jointly with all ranks when the run
/// ends, and records the peak memory. Sessions run under its [`Run::context`].
pub struct Run<'o> {
    clock: Clock,
    time_limit: Option<Duration>,
    /// Stops the run: the observer or the clock.
    interrupt: Stop,
    timeout: Stop,
    context: Context,
    agreement: Agreement,
    observer: &'o mut dyn Observer,
    /// The next progress report; the run fills in the seconds.
    pub progress: Progress,
    /// The part of the whole that is being worked on.
    range: Range<f64>,
    ended: Option<Status>,
    peak_memory: u64,
}

impl<'o> Run<'o> {
    /// Starts the clock. The observer or the time limit ends the run: in the middle of a sweep or,
    /// on several ranks, after it.
    pub fn begin(limits: Limits, agreement: Agreement, observer: &'o mut dyn Observer) -> Self {
        let clock = Clock::start();
        let interrupt = observer.stop();
        let over = |limit| Stop::when(move || clock.elapsed() >= limit);
        let timeout = limits.time.map_or(Stop::default(), over);
        let stop = agreement.stop(interrupt.clone().or(timeout.clone()));
        Self {
            clock,
            time_limit: limits.time,
            interrupt,
            timeout,
            context: Context { stop, max_memory: limits.memory },
            agreement,
            observer,
            progress: Progress::default(),
            range: 0.0..1.0,
            ended: None,
            peak_memory: 0,
        }
    }

    /// Adds the seconds of the run that this one resumes.
    pub fn resume_after(&mut self, seconds: f64) {
        self.clock.resume_after(seconds);
    }

    /// The clock of the run.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Seconds spent so far.
    pub fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    /// Remaining time limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.time_limit.map(|limit| limit.saturating_sub(self.clock.elapsed()))
    }

    /// The context for sessions of this run.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// A context for measurements that the time limit does not cover.
    pub fn untimed_context(&self) -> Context {
        Context::stopping(self.agreement.stop(self.interrupt.clone()))
    }

    /// A context for the final measurement: short if the run was interrupted.
    pub fn last_measurement(&self) -> Context {
        let stop = if self.interrupt.is_due() {
            let clock = Clock::start();
            Stop::when(move || clock.elapsed() >= LAST_MEASUREMENT)
        } else {
            self.interrupt.clone()
        };
        Context::stopping(self.agreement.stop(stop))
    }

    /// From now on, nothing stops the sessions of the run.
    pub fn ignore_stop(&mut self) {
        self.context.stop = Stop::default();
    }

    /// The stop condition of the run, without the time limit.
    pub fn interrupt(&self) -> &Stop {
        &self.interrupt
    }

    /// Joint decisions of the ranks of this run.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// The observer itself.
    pub fn observer(&mut self) -> &mut dyn Observer {
        self.observer
    }

    /// Begins a part of the run: what [`Run::advance`] and [`Run::part`] report next covers this
    /// range of the whole.
    pub fn begin_part(&mut self, range: Range<f64>) {
        self.range = range;
        self.advance(0.0);
    }

    /// Records the fraction of the current part that is done.
    pub fn advance(&mut self, fraction: f64) {
        self.progress.fraction = self.progress.fraction.max(self.within(fraction));
    }

    fn within(&self, fraction: f64) -> f64 {
        self.range.start + (self.range.end - self.range.start) * fraction.clamp(0.0, 1.0)
    }

    /// An observer for a part of the run that has a run of its own.
    pub fn part(&mut self) -> SubRun<'_, 'o> {
        SubRun(self)
    }

    /// Shows the progress; `Some` once the observer or the clock ends the run.
    pub fn pause(&mut self) -> Option<Status> {
        self.progress.seconds = self.seconds();
        let interrupted =
            self.observer.progress(&self.progress) == Control::Stop || self.interrupt.is_due();
        self.ended = self.ended.or(self.agreement.end(interrupted, self.timeout.is_due()));
        self.ended
    }

    /// Whether the observer or the clock ended the run.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.agreement.stop(self.interrupt.clone()).is_due()
    }

    /// How the observer or the clock ended the run.
    pub fn ending(&self) -> Option<Status> {
        let interrupted = self.agreement.stop(self.interrupt.clone()).is_due();
        self.ended.or(interrupted.then_some(Status::Interrupted))
    }

    /// A report of sweeps, time, memory and engine; the results are left to the caller.
    pub fn report<T: Real>(&self, engine: &dyn Engine<T>) -> Report {
        Report {
            status: self.ending().unwrap_or(Status::Converged),
            total: Certificate::default(),
            signals: Vec::new(),
            penalty: 0.0,
            debiased_data_term: None,
            constrained: None,
            reweighted: None,
            discovery_sweeps: self.progress.discovery_sweeps,
            support_sweeps: self.progress.support_sweeps,
            seconds: self.seconds(),
            working_memory_bytes: self.peak_memory,
            threads: engine.threads(),
            engine: engine.name(),
            precision: T::NAME,
            history: Vec::new(),
        }
    }

    /// Records current memory use.
    pub fn note_memory(&mut self, bytes: u64) {
        self.peak_memory = self.peak_memory.max(bytes);
    }

    /// The peak of the recorded memory use.
    pub fn peak_memory(&self) -> u64 {
        self.peak_memory
    }
}

/// Passes the progress of a part of a run on as progress of the whole.
pub struct SubRun<'a, 'o>(&'a mut Run<'o>);

impl Observer for SubRun<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let run = &mut *self.0;
        run.advance(progress.fraction);
        let (seconds, fraction) = (run.seconds(), run.progress.fraction);
        run.observer.progress(&Progress { seconds, fraction, ..*progress })
    }

    fn stop(&self) -> Stop {
        self.0.interrupt.clone()
    }
}
