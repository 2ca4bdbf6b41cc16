//! Monitoring and stopping of long runs.

use crate::checkpoint::{Checkpoint, LearnCheckpoint};
use crate::dictionary::Dictionary;
use crate::error::Result;
use crate::signal::Signal;
use std::fmt;
use std::sync::Arc;

/// Progress of a run; passed to the observer after every sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Seconds since the solver began.
    pub seconds: f64,
    /// Objective at the final penalty, exact at the last measurement.
    pub objective: f64,
    /// Relative duality gap at the last measurement.
    pub relative_gap: Option<f64>,
    /// Target for the relative duality gap.
    pub tolerance: f64,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// Sweeps over all needles so far.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes so far.
    pub support_sweeps: usize,
    /// Penalty of the current stage; above the final one during continuation.
    pub stage_penalty: f64,
    /// The current pass of learning; `None` in a pursuit.
    pub pass: Option<usize>,
    /// Estimated fraction of the work that is done, from 0 to 1. It never falls during a run.
    pub fraction: f64,
}

/// Reply of the observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue the run.
    Continue,
    /// Stop immediately; the answer so far is returned and reported as interrupted.
    Stop,
}

/// A stop condition that can be checked from any thread; by default never true.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Stops once `condition` returns true, which it must continue to do.
    pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(condition)))
    }

    /// Stops when either does.
    pub fn or(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(one), Some(other)) => Self::when(move || one() || other()),
            (one, other) => Self(one.or(other)),
        }
    }

    /// Whether the run should stop.
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|condition| condition())
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Stop(condition)" } else { "Stop(never)" })
    }
}

/// Observer of a run: a progress bar, a Ctrl-C handler, a callback.
pub trait Observer {
    /// Called after every sweep, always from the calling thread.
    fn progress(&mut self, progress: &Progress) -> Control;

    /// Called once, at the start: a condition that stops the run in the middle of a sweep. Codes
    /// and residual are still consistent then.
    fn stop(&self) -> Stop {
        Stop::default()
    }

    /// Called between two passes of a pursuit; `take` creates a checkpoint (of this rank). If it
    /// fails, the run ends.
    fn between_passes(&mut self, take: &mut dyn FnMut() -> Result<Checkpoint>) {
        let _ = take;
    }

    /// Called between two passes of learning; `take` creates a checkpoint. If it fails, the run
    /// ends.
    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        let _ = take;
    }

    /// Called several times in every pass of learning; `take` copies the atoms as they are now.
    fn atoms(&mut self, take: &mut dyn FnMut() -> Dictionary<f32>) {
        let _ = take;
    }

    /// Called now and then by tasks whose result is an image; `take` creates the image so far. If
    /// it fails, the run ends. The result does not depend on whether it is taken.
    fn preview(&mut self, take: &mut dyn FnMut() -> Result<Signal<f32>>) {
        let _ = take;
    }
}

/// Ignores progress and never stops.
impl Observer for () {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }
}

impl<F: FnMut(&Progress) -> Control> Observer for F {
    fn progress(&mut self, progress: &Progress) -> Control {
        self(progress)
    }
}
