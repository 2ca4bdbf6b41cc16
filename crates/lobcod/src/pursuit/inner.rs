//! Observation of one of several pursuits that solve a problem together.

use crate::observe::{Control, Observer, Progress, Stop};

/// Passes progress on as a part of the whole. Checkpoints of it would not resume the whole.
pub struct Inner<'a> {
    pub observer: &'a mut dyn Observer,
    /// Fraction of the whole that is done at the start of this pursuit, and its own fraction.
    pub start: f64,
    pub length: f64,
}

impl Observer for Inner<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let fraction = self.start + self.length * progress.fraction;
        self.observer.progress(&Progress { fraction, ..*progress })
    }

    fn stop(&self) -> Stop {
        self.observer.stop()
    }
}
