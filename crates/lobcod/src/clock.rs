//! The clock: the only place that reads the time.

use std::time::Duration;

/// A running clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: source::Moment,
    /// Seconds spent before a resumed run began.
    earlier: f64,
}

impl Clock {
    /// Starts a clock.
    pub fn start() -> Self {
        Self { began: source::now(), earlier: 0.0 }
    }

    /// Time since the clock started.
    pub fn elapsed(&self) -> Duration {
        source::since(self.began)
    }

    /// Seconds spent in total, including those before a resumed run began.
    pub fn seconds(&self) -> f64 {
        self.earlier + self.elapsed().as_secs_f64()
    }

    /// Adds the seconds of the run that this one resumes.
    pub(crate) fn resume_after(&mut self, seconds: f64) {
        self.earlier = seconds;
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod source {
    use std::time::Duration;
    pub use std::time::Instant as Moment;

    pub fn now() -> Moment {
        Moment::now()
    }

    pub fn since(began: Moment) -> Duration {
        began.elapsed()
    }
}

/// WebAssembly has no clock of its own: the host gives one.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod source {
    use std::sync::OnceLock;
    use std::time::Duration;

    pub type Moment = Duration;

    static SOURCE: OnceLock<fn() -> Duration> = OnceLock::new();

    /// Sets the function that returns the time since some fixed moment; only the first call has an
    /// effect. Without it the time stands still: runs take 0 seconds, and time limits above 0 never
    /// end one.
    pub fn set_time_source(now: fn() -> Duration) {
        SOURCE.get_or_init(|| now);
    }

    pub fn now() -> Moment {
        SOURCE.get().map_or(Duration::ZERO, |now| now())
    }

    pub fn since(began: Moment) -> Duration {
        now().saturating_sub(began)
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use source::set_time_source;
