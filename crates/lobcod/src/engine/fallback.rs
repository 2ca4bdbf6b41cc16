//! An engine that switches to another one when a device fails.

use super::{
    Agreement, Context, Discovery, Engine, Exceeding, Learning, Measure, Measurement, PlaneLayer,
    Problem, ScaledResidual, ScaledSums, Scaling, Session, Share, State, Support, Sweep,
};
use crate::dictionary::{Constraints, Dictionary};
use crate::error::{Error, Result};
use crate::geometry::{InSignal, Region};
use crate::real::Real;
use std::cell::Cell;
use std::rc::Rc;

/// Runs on the first engine; after a fault, permanently on the second.
pub struct FallbackEngine<T> {
    engines: Rc<Engines<T>>,
}

struct Engines<T> {
    first: Box<dyn Engine<T>>,
    second: Box<dyn Engine<T>>,
    failed: Cell<bool>,
    notice: Box<dyn Fn(&Error)>,
}

impl<T: Real> FallbackEngine<T> {
    /// `notice` is called with the fault when the second engine takes over.
    pub fn new(
        first: Box<dyn Engine<T>>,
        second: Box<dyn Engine<T>>,
        notice: impl Fn(&Error) + 'static,
    ) -> Self {
        Self {
            engines: Rc::new(Engines {
                first,
                second,
                failed: Cell::new(false),
                notice: Box::new(notice),
            }),
        }
    }
}

impl<T> Engines<T> {
    fn now(&self) -> &dyn Engine<T> {
        if self.failed.get() { &*self.second } else { &*self.first }
    }

    /// Whether the second engine may avoid this error.
    fn takes_over(&self, error: &Error) -> bool {
        !self.failed.get() && matches!(error, Error::Device(_) | Error::Unavailable(_))
    }

    fn fail(&self, error: &Error) {
        (self.notice)(error);
        self.failed.set(true);
    }
}

impl<T: Real> Engine<T> for FallbackEngine<T> {
    fn name(&self) -> &'static str {
        self.engines.now().name()
    }

    fn threads(&self) -> usize {
        self.engines.now().threads()
    }

    fn agreement(&self) -> Agreement {
        self.engines.now().agreement()
    }

    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        match self.engines.now().estimate_memory(problem, density) {
            Err(error) if self.engines.takes_over(&error) => {
                self.engines.second.estimate_memory(problem, density)
            }
            bytes => bytes,
        }
    }

    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>> {
        if self.engines.failed.get() {
            return self.engines.second.open(problem, positions);
        }
        match self.engines.first.open(problem.clone(), positions) {
            Err(error) if self.engines.takes_over(&error) => {
                self.engines.fail(&error);
                self.engines.second.open(problem, positions)
            }
            session => Ok(Box::new(FallbackSession {
                engines: Rc::clone(&self.engines),
                session: session?,
                spare: Some((problem, positions.copied())),
                kept: None,
                certificate: None,
            })),
        }
    }

    fn own_memory(&self) -> Option<u64> {
        self.engines.now().own_memory()
    }
}

struct FallbackSession<T> {
    engines: Rc<Engines<T>>,
    session: Box<dyn Session<T>>,
    /// Input for opening a session on the second engine; `None` after the switch.
    spare: Option<(Problem<T>, Option<Region<InSignal>>)>,
    /// The last fetched state, for use after the device is lost.
    kept: Option<State<T>>,
    /// The last certificate, whose candidates the next sweep visits.
    certificate: Option<Measure>,
}

impl<T: Real> FallbackSession<T> {
    /// Makes a call; repeats it on the second engine if the first one fails.
    fn call<R>(&mut self, call: impl Fn(&mut dyn Session<T>) -> Result<R>) -> Result<R> {
        let result = call(&mut *self.session);
        let Err(error) = &result else { return result };
        if !matches!(error, Error::Device(_) | Error::Unavailable(_)) {
            return result;
        }
        let Some((problem, positions)) = self.spare.take() else { return result };
        if !self.engines.failed.get() {
            self.engines.fail(error);
        }
        let state = self.session.state(Share::All).ok().or(self.kept.take());
        let dictionary = self.session.dictionary().clone();
        self.session =
            self.engines.second.open(Problem { dictionary, ..problem }, positions.as_ref())?;
        if let Some(state) = state {
            self.session.restore(&state)?;
        }
        self.session.learning().remember()?;
        if let Some(certificate) = self.certificate {
            self.session.measure(certificate, &Context::default())?;
        }
        call(&mut *self.session)
    }
}

impl<T: Real> Session<T> for FallbackSession<T> {
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep> {
        let done = self.call(|session| session.discover(sweep, context))?;
        self.certificate = None;
        Ok(done)
    }

    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep> {
        let done = self.call(|session| session.support(sweep, context))?;
        self.certificate = None;
        Ok(done)
    }

    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>> {
        let measured = self.call(|session| session.measure(what, context))?;
        if matches!(what, Measure::Certificate { .. }) {
            self.certificate = Some(what);
        }
        Ok(measured)
    }

    fn state(&mut self, share: Share) -> Result<State<T>> {
        let state = self.call(|session| session.state(share))?;
        self.kept = self.spare.is_some().then(|| state.clone());
        Ok(state)
    }

    fn restore(&mut self, state: &State<T>) -> Result<()> {
        self.certificate = None;
        self.call(|session| session.restore(state))
    }

    fn residual(&mut self, plane: usize) -> Result<Vec<T>> {
        self.call(|session| session.residual(plane))
    }

    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn learning(&mut self) -> &mut dyn Learning<T> {
        self
    }

    fn dictionary(&self) -> &Dictionary<T> {
        self.session.dictionary()
    }

    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        if self.session.scaled().is_some() { Some(self) } else { None }
    }
}

/// The scaled residual of a session.
fn scaled<T>(session: &mut dyn Session<T>) -> Result<&mut dyn ScaledResidual<T>> {
    session
        .scaled()
        .ok_or_else(|| Error::Unavailable("this engine does not support scaled residuals".into()))
}

impl<T: Real> ScaledResidual<T> for FallbackSession<T> {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) -> Result<()> {
        let found = self.call(|session| {
            let mut found = Vec::new();
            scaled(session)?.exceeding(penalty, &mut |plane, place| found.push((plane, place)))?;
            Ok(found)
        })?;
        found.into_iter().for_each(|(plane, place)| each(plane, place));
        Ok(())
    }

    fn scaled_sums(
        &mut self,
        plane: usize,
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> Result<ScaledSums> {
        self.call(|session| scaled(session)?.scaled_sums(plane, scaling, part))
    }

    fn scaled_correlation(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> Result<f64> {
        self.call(|session| scaled(session)?.scaled_correlation(plane, scaling, penalty))
    }

    fn residual_part(&mut self, plane: usize, part: &Region<InSignal>) -> Result<Vec<T>> {
        self.call(|session| scaled(session)?.residual_part(plane, part))
    }
}

impl<T: Real> Learning<T> for FallbackSession<T> {
    fn set_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()> {
        self.call(|session| session.learning().set_dictionary(dictionary.clone()))
    }

    fn step_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()> {
        self.call(|session| session.learning().step_dictionary(dictionary.clone()))
    }

    fn remember(&mut self) -> Result<()> {
        self.call(|session| session.learning().remember())
    }

    fn take_back(&mut self) -> Result<()> {
        self.call(|session| session.learning().take_back())
    }

    fn improve_atoms(&mut self, constraints: &Constraints, context: &Context) -> Result<f64> {
        self.call(|session| session.learning().improve_atoms(constraints, context))
    }

    fn layers(&mut self, plane: usize) -> usize {
        self.session.learning().layers(plane)
    }

    fn gradient(&mut self, of: Option<PlaneLayer>) -> Result<Vec<f64>> {
        self.call(|session| session.learning().gradient(of))
    }

    fn energy_along(&mut self, direction: &[f64]) -> Result<f64> {
        self.call(|session| session.learning().energy_along(direction))
    }
}
