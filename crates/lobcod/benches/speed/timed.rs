//! An engine that records the cost of every session call.

use lobcod::Result;
use lobcod::engine::{Measure, Visit};
use lobcod_conformance::hooked::{Call as Made, Hook};
use std::cell::{Cell, RefCell};
use std::time::Instant;

/// A session call used by the pursuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Open,
    DiscoverAll,
    DiscoverCandidates,
    Support,
    Certificate,
    Dual,
    Objective,
}

impl Command {
    /// Abbreviation for compact output.
    pub fn short(self) -> &'static str {
        match self {
            Command::Open => "open",
            Command::DiscoverAll => "all",
            Command::DiscoverCandidates => "candidates",
            Command::Support => "support",
            Command::Certificate => "certificate",
            Command::Dual => "dual",
            Command::Objective => "objective",
        }
    }
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub command: Command,
    pub seconds: f64,
    /// Needles correlated, or codes updated.
    pub visited: usize,
}

/// Records the cost of calls.
#[derive(Default)]
pub struct Timer {
    began: Cell<f64>,
    pub log: RefCell<Vec<Call>>,
}

impl Hook for Timer {
    fn before(&self, _: &Made<'_>) -> Result<()> {
        self.began.set(thread_seconds());
        Ok(())
    }

    fn after(&self, call: &Made<'_>, visited: usize) {
        let command = match call {
            Made::Open(_) => Command::Open,
            Made::Discover(sweep, _) if sweep.visit == Visit::Candidates => {
                Command::DiscoverCandidates
            }
            Made::Discover(..) => Command::DiscoverAll,
            Made::Support(_) => Command::Support,
            Made::Measure(Measure::Progress | Measure::Objective) => Command::Objective,
            Made::Measure(_) => Command::Certificate,
            Made::Scale => Command::Dual,
            Made::Estimate | Made::Fetch | Made::Restore | Made::Learn => return,
        };
        self.log.borrow_mut().push(Call {
            command,
            seconds: thread_seconds() - self.began.get(),
            visited,
        });
    }
}

/// CPU seconds of this thread, without those of other programs.
pub fn thread_seconds() -> f64 {
    #[cfg(target_os = "linux")]
    {
        const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
        unsafe extern "C" {
            fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
        }
        let mut time = [0i64; 2];
        // SAFETY: `time` has the layout of `timespec` on 64-bit Linux.
        if unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) } == 0 {
            return time[0] as f64 + 1e-9 * time[1] as f64;
        }
    }
    thread_local!(static START: Instant = Instant::now());
    START.with(|start| start.elapsed().as_secs_f64())
}
