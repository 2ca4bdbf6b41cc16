//! Watching and stopping long work.

use crate::checkpoint::{Checkpoint, LearnCheckpoint};

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

/// Someone who watches: a progress bar, a Ctrl-C handler, a callback.
pub trait Observer {
    /// Called after every sweep, always from the calling thread.
    fn progress(&mut self, progress: &Progress) -> Control;

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
