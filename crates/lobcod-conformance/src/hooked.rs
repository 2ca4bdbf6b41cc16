//! An engine around another one, with a hook at every call of its sessions: to inject faults,
//! limits or measurements.

use lobcod::dictionary::Constraints;
use lobcod::engine::{
    Agreement, Context, Discovery, Engine, Exceeding, JointNorm, Learning, Measure, Measurement,
    PlaneLayer, Problem, ScaledResidual, ScaledSums, Scaling, Session, Share, State, Support,
    Sweep,
};
use lobcod::geometry::{InSignal, Region};
use lobcod::{Dictionary, Real, Result};
use std::rc::Rc;

/// A call of an engine or a session.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// The memory of a session is estimated.
    Estimate,
    /// A session is opened, with this many positions if it is a band.
    Open(Option<usize>),
    /// A sweep over needles.
    Discover(&'a Discovery, &'a Limits),
    /// Sweeps over non-zero codes.
    Support(&'a Support),
    /// A measurement.
    Measure(Measure),
    /// Codes or residual are fetched.
    Fetch,
    /// Codes are restored.
    Restore,
    /// Atoms or their gradient are accessed.
    Learn,
    /// The residual is scaled.
    Scale,
}

/// Limits in the context of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of the engine's own memory.
    pub max_memory: Option<u64>,
}

/// Hook for calls.
pub trait Hook {
    /// Called before a call, which is skipped on an error.
    fn before(&self, call: &Call<'_>) -> Result<()>;
    /// Called after a successful call, with the needles correlated or codes updated.
    fn after(&self, call: &Call<'_>, visited: usize) {
        let _ = (call, visited);
    }
    /// Size reported as the engine's own memory.
    fn own_memory(&self) -> Option<u64> {
        None
    }
}

/// The engine inside, and the hook.
pub struct Hooked<E, H> {
    /// The engine inside.
    pub engine: E,
    /// The hook.
    pub hook: Rc<H>,
}

fn call<R>(
    hook: &dyn Hook,
    call: Call<'_>,
    work: impl FnOnce() -> Result<R>,
    visited: impl FnOnce(&R) -> usize,
) -> Result<R> {
    hook.before(&call)?;
    let result = work()?;
    hook.after(&call, visited(&result));
    Ok(result)
}

impl<T: Real, E: Engine<T>, H: Hook + 'static> Engine<T> for Hooked<E, H> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
    fn threads(&self) -> usize {
        self.engine.threads()
    }
    fn agreement(&self) -> Agreement {
        self.engine.agreement()
    }
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let estimate = || self.engine.estimate_memory(problem, density);
        call(&*self.hook, Call::Estimate, estimate, |_| 0)
    }
    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>> {
        let opened = Call::Open(positions.map(|positions| positions.volume()));
        let session = call(&*self.hook, opened, || self.engine.open(problem, positions), |_| 0)?;
        Ok(Box::new(HookedSession { session, hook: self.hook.clone() }))
    }
    fn own_memory(&self) -> Option<u64> {
        self.hook.own_memory().or(self.engine.own_memory())
    }
}

struct HookedSession<T> {
    session: Box<dyn Session<T>>,
    hook: Rc<dyn Hook>,
}

impl<T: Real> HookedSession<T> {
    fn call<R>(
        &mut self,
        of: Call<'_>,
        work: impl FnOnce(&mut dyn Session<T>) -> Result<R>,
    ) -> Result<R> {
        call(&*self.hook, of, || work(&mut *self.session), |_| 0)
    }

    fn scale<R>(
        &mut self,
        work: impl FnOnce(&mut dyn ScaledResidual<T>) -> Result<R>,
    ) -> Result<R> {
        self.call(Call::Scale, |session| work(session.scaled().expect("checked by the caller")))
    }
}

impl<T: Real> Session<T> for HookedSession<T> {
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep> {
        let limits = Limits { max_memory: context.max_memory };
        call(
            &*self.hook,
            Call::Discover(sweep, &limits),
            || self.session.discover(sweep, context),
            |s| s.visited,
        )
    }
    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep> {
        call(
            &*self.hook,
            Call::Support(sweep),
            || self.session.support(sweep, context),
            |s| s.visited,
        )
    }
    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>> {
        let visited = |all: &Vec<Measurement>| all.iter().map(|m| m.visited).sum();
        call(&*self.hook, Call::Measure(what), || self.session.measure(what, context), visited)
    }
    fn state(&mut self, share: Share) -> Result<State<T>> {
        self.call(Call::Fetch, |session| session.state(share))
    }
    fn restore(&mut self, state: &State<T>) -> Result<()> {
        self.call(Call::Restore, |session| session.restore(state))
    }
    fn residual(&mut self, plane: usize) -> Result<Vec<T>> {
        self.call(Call::Fetch, |session| session.residual(plane))
    }
    fn retarget(&mut self, plane: usize, target: Vec<T>) -> Result<()> {
        self.call(Call::Restore, |session| session.retarget(plane, target))
    }
    fn set_joint_norm(&mut self, norm: JointNorm) -> Result<()> {
        self.call(Call::Restore, |session| session.set_joint_norm(norm))
    }
    fn dictionary(&self) -> &Dictionary<T> {
        self.session.dictionary()
    }
    fn memory(&self) -> u64 {
        self.session.memory()
    }
    fn learning(&mut self) -> &mut dyn Learning<T> {
        self
    }
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        self.session.scaled().is_some().then_some(self as _)
    }
}

impl<T: Real> Learning<T> for HookedSession<T> {
    fn set_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()> {
        self.call(Call::Learn, |session| session.learning().set_dictionary(dictionary))
    }
    fn step_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()> {
        self.call(Call::Learn, |session| session.learning().step_dictionary(dictionary))
    }
    fn remember(&mut self) -> Result<()> {
        self.call(Call::Learn, |session| session.learning().remember())
    }
    fn take_back(&mut self) -> Result<()> {
        self.call(Call::Learn, |session| session.learning().take_back())
    }
    fn improve_atoms(&mut self, constraints: &Constraints, context: &Context) -> Result<f64> {
        self.call(Call::Learn, |session| session.learning().improve_atoms(constraints, context))
    }
    fn layers(&mut self, plane: usize) -> usize {
        self.session.learning().layers(plane)
    }
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Result<Vec<f64>> {
        self.call(Call::Learn, |session| session.learning().gradient(of))
    }
    fn energy_along(&mut self, direction: &[f64]) -> Result<f64> {
        self.call(Call::Learn, |session| session.learning().energy_along(direction))
    }
}

impl<T: Real> ScaledResidual<T> for HookedSession<T> {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) -> Result<()> {
        self.scale(|scaled| scaled.exceeding(penalty, each))
    }
    fn scaled_sums(
        &mut self,
        plane: usize,
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> Result<ScaledSums> {
        self.scale(|scaled| scaled.scaled_sums(plane, scaling, part))
    }
    fn scaled_correlation(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> Result<f64> {
        self.scale(|scaled| scaled.scaled_correlation(plane, scaling, penalty))
    }
    fn residual_part(&mut self, plane: usize, part: &Region<InSignal>) -> Result<Vec<T>> {
        self.scale(|scaled| scaled.residual_part(plane, part))
    }
}
