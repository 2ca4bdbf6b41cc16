//! Watching and stopping long work.

use crate::checkpoint::{Checkpoint, LearnCheckpoint};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the work stands; handed to the observer after every sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Seconds since the solver began.
    pub seconds: f64,
    /// Objective at the asked penalty, exact when it was last measured.
    pub objective: f64,
    /// Relative duality gap when it was last measured.
    pub relative_gap: Option<f64>,
    /// Relative duality gap at which the work ends.
    pub tolerance: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Sweeps over all needles so far.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes so far.
    pub support_sweeps: usize,
    /// Penalty of the present stage; above the asked one during continuation.
    pub stage_penalty: f64,
    /// The pass of learning this belongs to; `None` in a pursuit.
    pub pass: Option<usize>,
}

/// The observer's word after looking at the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop at once; the answer so far is kept and reported as interrupted.
    Stop,
}

/// How long interrupted work may take to find out how good its answer is.
const LAST_LOOK: Duration = Duration::from_millis(200);

/// A question that long work asks between two small steps, from any of its threads: is it to stop? By default it is not.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Stops once `asked` says so, which it must go on saying.
    pub fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(asked)))
    }

    /// Stops when so much time has passed since `began`.
    pub fn after(began: Instant, limit: Duration) -> Self {
        Self::when(move || began.elapsed() >= limit)
    }

    /// Stops when either does.
    pub fn or(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(one), Some(other)) => Self::when(move || one() || other()),
            (one, other) => Self(one.or(other)),
        }
    }

    /// What ends the measurement that comes after the work: where it is already time to stop, little is left for it.
    pub(crate) fn last_look(&self) -> Self {
        if self.is_due() { Self::after(Instant::now(), LAST_LOOK) } else { self.clone() }
    }

    /// Is it time to stop?
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked())
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Stop(when asked)" } else { "Stop(never)" })
    }
}

/// Someone who watches: a progress bar, a Ctrl-C handler, a callback.
pub trait Observer {
    /// Called after every sweep, always from the calling thread.
    fn progress(&mut self, progress: &Progress) -> Control;

    /// Called once, when the work begins: what stops it in the middle of a sweep, as [`Control::Stop`] does at its end. A sweep that
    /// is broken off leaves codes and residual that belong together.
    fn stop(&self) -> Stop {
        Stop::default()
    }

    /// Called between two passes of a pursuit; `take` makes a checkpoint of the run as it stands. Most observers take none.
    fn between_passes(&mut self, take: &mut dyn FnMut() -> Checkpoint) {
        let _ = take;
    }

    /// Called between two passes of learning; `take` makes a checkpoint of the learning as it stands.
    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> LearnCheckpoint) {
        let _ = take;
    }
}

/// Watches nothing and never stops.
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
