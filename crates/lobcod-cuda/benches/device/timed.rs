//! An engine that notes how long the verbs of its sessions took.

use lobcod::engine::{
    Discovery, Engine, Exceeding, Measure, Measurement, Part, PlaneLayer, Problem, ScaledResidual, ScaledSums, Scaling, Session,
    State, Support, Sweep, Visit,
};
use lobcod::{Dictionary, Result, Stop};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// One call: the verb, its seconds, needles correlated or codes updated.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub verb: &'static str,
    pub seconds: f64,
    pub visited: usize,
}

pub type Log = Rc<RefCell<Vec<Call>>>;

/// The engine inside, and the log its sessions write.
pub struct Timed<'a> {
    pub engine: &'a dyn Engine<f32>,
    pub log: Log,
}

fn timed<R>(log: &Log, verb: &'static str, work: impl FnOnce() -> R, visited: impl FnOnce(&R) -> usize) -> R {
    let start = Instant::now();
    let result = work();
    log.borrow_mut().push(Call { verb, seconds: start.elapsed().as_secs_f64(), visited: visited(&result) });
    result
}

impl Engine<f32> for Timed<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
    fn threads(&self) -> usize {
        self.engine.threads()
    }
    fn estimate_memory(&self, problem: &Problem<f32>, density: f64) -> Result<u64> {
        self.engine.estimate_memory(problem, density)
    }
    fn open(&self, problem: Problem<f32>) -> Result<Box<dyn Session<f32>>> {
        let session = timed(&self.log, "open", || self.engine.open(problem), |_| 0)?;
        Ok(Box::new(TimedSession { session, log: Rc::clone(&self.log) }))
    }
    fn open_part(&self, problem: Problem<f32>, positions: &[Range<i64>; 3]) -> Result<Box<dyn Session<f32>>> {
        let session = timed(&self.log, "open", || self.engine.open_part(problem, positions), |_| 0)?;
        Ok(Box::new(TimedSession { session, log: Rc::clone(&self.log) }))
    }
    fn own_memory(&self) -> Option<u64> {
        self.engine.own_memory()
    }
}

struct TimedSession {
    session: Box<dyn Session<f32>>,
    log: Log,
}

impl Session<f32> for TimedSession {
    fn refresh(&mut self) {
        timed(&self.log, "refresh", || self.session.refresh(), |_| 0);
    }
    fn discover(&mut self, sweep: &Discovery) -> Sweep {
        let verb = match sweep.visit {
            Visit::Candidates => "candidates",
            Visit::Spread => "spread",
            _ => "discover",
        };
        timed(&self.log, verb, || self.session.discover(sweep), |s| s.visited)
    }
    fn support(&mut self, sweep: &Support) -> Sweep {
        timed(&self.log, "support", || self.session.support(sweep), |s| s.visited)
    }
    fn measure(&mut self, what: Measure) -> Vec<Measurement> {
        let verb = if what == Measure::Objective { "objective" } else { "certificate" };
        timed(&self.log, verb, || self.session.measure(what), |m| m.iter().map(|m| m.visited).sum())
    }
    fn heed(&mut self, stop: Stop) {
        self.session.heed(stop);
    }
    fn keep_within(&mut self, bytes: u64, wanted: Arc<AtomicU64>) {
        self.session.keep_within(bytes, wanted);
    }
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<f32>> {
        if self.session.scaled().is_some() { Some(self) } else { None }
    }
    fn fetch(&self) -> State<f32> {
        timed(&self.log, "fetch", || self.session.fetch(), |_| 0)
    }
    fn restore(&mut self, state: &State<f32>) {
        timed(&self.log, "restore", || self.session.restore(state), |_| 0);
    }
    fn remember_codes(&mut self) {
        timed(&self.log, "remember codes", || self.session.remember_codes(), |_| 0);
    }
    fn take_codes_back(&mut self) {
        timed(&self.log, "take codes back", || self.session.take_codes_back(), |_| 0);
    }
    fn improve_atoms(&mut self) -> f64 {
        timed(&self.log, "atoms", || self.session.improve_atoms(), |_| 0)
    }
    fn layers(&self, plane: usize) -> usize {
        self.session.layers(plane)
    }
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        timed(&self.log, "gradient", || self.session.gradient(of), |_| 0)
    }
    fn energy_along(&mut self, direction: &[f64]) -> f64 {
        self.session.energy_along(direction)
    }
    fn residual(&self, plane: usize) -> Vec<f32> {
        timed(&self.log, "residual", || self.session.residual(plane), |_| 0)
    }
    fn dictionary(&self) -> &Dictionary<f32> {
        self.session.dictionary()
    }
    fn set_dictionary(&mut self, dictionary: Dictionary<f32>) {
        timed(&self.log, "set_dictionary", || self.session.set_dictionary(dictionary), |_| 0);
    }
    fn memory(&self) -> u64 {
        self.session.memory()
    }
}

impl TimedSession {
    fn scaled<R>(&mut self, ask: impl FnOnce(&mut dyn ScaledResidual<f32>) -> R) -> R {
        timed(&self.log, "scaled", || ask(self.session.scaled().expect("the device scales residuals")), |_| 0)
    }
}

impl ScaledResidual<f32> for TimedSession {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) {
        self.scaled(|session| session.exceeding(penalty, each));
    }
    fn scaled_sums(&mut self, plane: usize, scaling: Scaling, part: Option<&Part>) -> ScaledSums {
        self.scaled(|session| session.scaled_sums(plane, scaling, part))
    }
    fn scaled_reach(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> f64 {
        self.scaled(|session| session.scaled_reach(plane, scaling, penalty))
    }
    fn residual_part(&mut self, plane: usize, part: &Part) -> Vec<f32> {
        self.scaled(|session| session.residual_part(plane, part))
    }
}

/// Calls, milliseconds and visits of every verb, in one line each.
pub fn print(calls: &[Call], all: f64) {
    let mut verbs: Vec<&str> = Vec::new();
    calls.iter().filter(|c| !verbs.contains(&c.verb)).collect::<Vec<_>>().iter().for_each(|c| {
        if !verbs.contains(&c.verb) {
            verbs.push(c.verb);
        }
    });
    for verb in verbs {
        let of: Vec<&Call> = calls.iter().filter(|c| c.verb == verb).collect();
        let seconds: f64 = of.iter().map(|c| c.seconds).sum();
        let visited: usize = of.iter().map(|c| c.visited).sum();
        println!(
            "    {verb:<14} {:>5} calls {:>9.3} ms {:>4.0} %  visited {visited}",
            of.len(),
            1e3 * seconds,
            100.0 * seconds / all
        );
    }
    println!("    together            {:>15.3} ms", 1e3 * all);
}
