//! An engine that records the duration of every session call.

use lobcod::dictionary::Constraints;
use lobcod::engine::{
    Context, Discovery, Engine, Exceeding, Learning, Measure, Measurement, PlaneLayer, Problem,
    ScaledResidual, ScaledSums, Scaling, Session, Share, State, Support, Sweep, Visit,
};
use lobcod::geometry::{InSignal, Region};
use lobcod::{Dictionary, Error, Result};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// One call: its name, its seconds, needles correlated or codes updated.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub name: &'static str,
    pub seconds: f64,
    pub visited: usize,
}

pub type Log = Rc<RefCell<Vec<Call>>>;

/// The engine inside, and the log its sessions write.
pub struct Timed<'a> {
    pub engine: &'a dyn Engine<f32>,
    pub log: Log,
}

fn timed<R>(
    log: &Log,
    name: &'static str,
    work: impl FnOnce() -> Result<R>,
    visited: impl FnOnce(&R) -> usize,
) -> Result<R> {
    let start = Instant::now();
    let result = work()?;
    log.borrow_mut().push(Call {
        name,
        seconds: start.elapsed().as_secs_f64(),
        visited: visited(&result),
    });
    Ok(result)
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
    fn open(
        &self,
        problem: Problem<f32>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<f32>>> {
        let session = timed(&self.log, "open", || self.engine.open(problem, positions), |_| 0)?;
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
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep> {
        let name = match sweep.visit {
            Visit::Candidates => "candidates",
            Visit::Spread => "spread",
            _ => "discover",
        };
        timed(&self.log, name, || self.session.discover(sweep, context), |s| s.visited)
    }
    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep> {
        timed(&self.log, "support", || self.session.support(sweep, context), |s| s.visited)
    }
    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>> {
        let name = match what {
            Measure::Progress => "progress",
            Measure::Objective => "objective",
            Measure::Largest | Measure::Certificate { .. } => "certificate",
        };
        timed(
            &self.log,
            name,
            || self.session.measure(what, context),
            |m| m.iter().map(|m| m.visited).sum(),
        )
    }
    fn state(&mut self, share: Share) -> Result<State<f32>> {
        timed(&self.log, "state", || self.session.state(share), |_| 0)
    }
    fn restore(&mut self, state: &State<f32>) -> Result<()> {
        timed(&self.log, "restore", || self.session.restore(state), |()| 0)
    }
    fn residual(&mut self, plane: usize) -> Result<Vec<f32>> {
        timed(&self.log, "residual", || self.session.residual(plane), |_| 0)
    }
    fn dictionary(&self) -> &Dictionary<f32> {
        self.session.dictionary()
    }
    fn memory(&self) -> u64 {
        self.session.memory()
    }
    fn learning(&mut self) -> &mut dyn Learning<f32> {
        self
    }
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<f32>> {
        if self.session.scaled().is_some() { Some(self) } else { None }
    }
}

impl Learning<f32> for TimedSession {
    fn set_dictionary(&mut self, dictionary: Dictionary<f32>) -> Result<()> {
        timed(
            &self.log,
            "set dictionary",
            || self.session.learning().set_dictionary(dictionary),
            |()| 0,
        )
    }
    fn step_dictionary(&mut self, dictionary: Dictionary<f32>) -> Result<()> {
        timed(
            &self.log,
            "step dictionary",
            || self.session.learning().step_dictionary(dictionary),
            |()| 0,
        )
    }
    fn remember(&mut self) -> Result<()> {
        timed(&self.log, "remember", || self.session.learning().remember(), |()| 0)
    }
    fn take_back(&mut self) -> Result<()> {
        timed(&self.log, "take back", || self.session.learning().take_back(), |()| 0)
    }
    fn improve_atoms(&mut self, constraints: &Constraints, context: &Context) -> Result<f64> {
        let improve = || self.session.learning().improve_atoms(constraints, context);
        timed(&self.log, "atoms", improve, |_| 0)
    }
    fn layers(&mut self, plane: usize) -> usize {
        self.session.learning().layers(plane)
    }
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Result<Vec<f64>> {
        timed(&self.log, "gradient", || self.session.learning().gradient(of), |_| 0)
    }
    fn energy_along(&mut self, direction: &[f64]) -> Result<f64> {
        timed(&self.log, "energy", || self.session.learning().energy_along(direction), |_| 0)
    }
}

impl TimedSession {
    fn scaled<R>(
        &mut self,
        call: impl FnOnce(&mut dyn ScaledResidual<f32>) -> Result<R>,
    ) -> Result<R> {
        let none = || Error::Unavailable("the session does not support scaled residuals".into());
        timed(&self.log, "scaled", || call(self.session.scaled().ok_or_else(none)?), |_| 0)
    }
}

impl ScaledResidual<f32> for TimedSession {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) -> Result<()> {
        self.scaled(|session| session.exceeding(penalty, each))
    }
    fn scaled_sums(
        &mut self,
        plane: usize,
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> Result<ScaledSums> {
        self.scaled(|session| session.scaled_sums(plane, scaling, part))
    }
    fn scaled_correlation(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> Result<f64> {
        self.scaled(|session| session.scaled_correlation(plane, scaling, penalty))
    }
    fn residual_part(&mut self, plane: usize, part: &Region<InSignal>) -> Result<Vec<f32>> {
        self.scaled(|session| session.residual_part(plane, part))
    }
}

/// Prints calls, milliseconds and visits by name, one line each.
pub fn print(calls: &[Call], all: f64) {
    let mut names: Vec<&str> = Vec::new();
    for call in calls {
        if !names.contains(&call.name) {
            names.push(call.name);
        }
    }
    for name in names {
        let of: Vec<&Call> = calls.iter().filter(|c| c.name == name).collect();
        let seconds: f64 = of.iter().map(|c| c.seconds).sum();
        let visited: usize = of.iter().map(|c| c.visited).sum();
        println!(
            "    {name:<15} {:>5} calls {:>9.3} ms {:>4.0} %  visited {visited}",
            of.len(),
            1e3 * seconds,
            100.0 * seconds / all
        );
    }
    println!("    together             {:>15.3} ms", 1e3 * all);
}
