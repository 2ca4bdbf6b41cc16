//! An engine that notes what every verb of its sessions cost.

use lobcod::engine::{
    Discovery, Engine, Exceeding, Measure, Measurement, Part, PlaneLayer, Problem, ScaledResidual, ScaledSums, Scaling, Session,
    State, Support, Sweep, Visit,
};
use lobcod::{Dictionary, Real, Result};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// A verb of a session, as far as the pursuit uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Open,
    Refresh,
    DiscoverAll,
    DiscoverCandidates,
    Support,
    Certificate,
    Dual,
    Objective,
}

impl Verb {
    /// For one line of many calls.
    pub fn short(self) -> &'static str {
        match self {
            Verb::Open => "open",
            Verb::Refresh => "refresh",
            Verb::DiscoverAll => "all",
            Verb::DiscoverCandidates => "candidates",
            Verb::Support => "support",
            Verb::Certificate => "certificate",
            Verb::Dual => "dual",
            Verb::Objective => "objective",
        }
    }
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub verb: Verb,
    pub seconds: f64,
    /// Needles correlated, or codes updated.
    pub visited: usize,
}

pub type Log = Rc<RefCell<Vec<Call>>>;

/// The engine inside, and the log its sessions write.
pub struct Timed<'a, T> {
    pub engine: &'a dyn Engine<T>,
    pub log: Log,
}

/// Seconds of processor time of this thread: what other programs take is not counted.
pub fn thread_seconds() -> f64 {
    #[cfg(target_os = "linux")]
    {
        const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
        unsafe extern "C" {
            fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
        }
        let mut time = [0i64; 2];
        // SAFETY: `time` is as large as a `timespec` of 64-bit Linux.
        if unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) } == 0 {
            return time[0] as f64 + 1e-9 * time[1] as f64;
        }
    }
    thread_local!(static START: Instant = Instant::now());
    START.with(|start| start.elapsed().as_secs_f64())
}

fn timed<R>(log: &Log, verb: Verb, work: impl FnOnce() -> R, visited: impl FnOnce(&R) -> usize) -> R {
    let start = thread_seconds();
    let result = work();
    log.borrow_mut().push(Call { verb, seconds: thread_seconds() - start, visited: visited(&result) });
    result
}

impl<T: Real> Engine<T> for Timed<'_, T> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
    fn threads(&self) -> usize {
        self.engine.threads()
    }
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        self.engine.estimate_memory(problem, density)
    }
    fn open(&self, problem: Problem<T>) -> Result<Box<dyn Session<T>>> {
        let session = timed(&self.log, Verb::Open, || self.engine.open(problem), |_| 0)?;
        Ok(Box::new(TimedSession { session, log: Rc::clone(&self.log) }))
    }
}

struct TimedSession<T> {
    session: Box<dyn Session<T>>,
    log: Log,
}

impl<T: Real> Session<T> for TimedSession<T> {
    fn refresh(&mut self) {
        timed(&self.log, Verb::Refresh, || self.session.refresh(), |_| 0);
    }
    fn discover(&mut self, sweep: &Discovery) -> Sweep {
        let verb = if sweep.visit == Visit::Candidates { Verb::DiscoverCandidates } else { Verb::DiscoverAll };
        timed(&self.log, verb, || self.session.discover(sweep), |s| s.visited)
    }
    fn support(&mut self, sweep: &Support) -> Sweep {
        timed(&self.log, Verb::Support, || self.session.support(sweep), |s| s.visited)
    }
    fn measure(&mut self, what: Measure) -> Vec<Measurement> {
        let verb = if what == Measure::Objective { Verb::Objective } else { Verb::Certificate };
        timed(&self.log, verb, || self.session.measure(what), |m| m.iter().map(|m| m.visited).sum())
    }
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        self.session.scaled().is_some().then_some(self as _)
    }
    fn fetch(&self) -> State<T> {
        self.session.fetch()
    }
    fn restore(&mut self, state: &State<T>) {
        self.session.restore(state);
    }
    fn remember_codes(&mut self) {
        self.session.remember_codes();
    }
    fn take_codes_back(&mut self) {
        self.session.take_codes_back();
    }
    fn improve_atoms(&mut self) -> f64 {
        self.session.improve_atoms()
    }
    fn layers(&self, plane: usize) -> usize {
        self.session.layers(plane)
    }
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        self.session.gradient(of)
    }
    fn energy_along(&mut self, direction: &[f64]) -> f64 {
        self.session.energy_along(direction)
    }
    fn residual(&self, plane: usize) -> Vec<T> {
        self.session.residual(plane)
    }
    fn dictionary(&self) -> &Dictionary<T> {
        self.session.dictionary()
    }
    fn set_dictionary(&mut self, dictionary: Dictionary<T>) {
        self.session.set_dictionary(dictionary);
    }
    fn memory(&self) -> u64 {
        self.session.memory()
    }
}

impl<T> TimedSession<T> {
    fn inner(&mut self) -> &mut dyn ScaledResidual<T> {
        self.session.scaled().expect("asked before")
    }
}

impl<T: Real> ScaledResidual<T> for TimedSession<T> {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) {
        timed(&self.log.clone(), Verb::Dual, || self.inner().exceeding(penalty, each), |_| 0)
    }
    fn scaled_sums(&mut self, plane: usize, scaling: Scaling, part: Option<&Part>) -> ScaledSums {
        timed(&self.log.clone(), Verb::Dual, || self.inner().scaled_sums(plane, scaling, part), |_| 0)
    }
    fn scaled_reach(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> f64 {
        timed(&self.log.clone(), Verb::Dual, || self.inner().scaled_reach(plane, scaling, penalty), |_| 0)
    }
    fn residual_part(&mut self, plane: usize, part: &Part) -> Vec<T> {
        self.inner().residual_part(plane, part)
    }
}
