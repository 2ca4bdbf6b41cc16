//! An engine that switches to another one when a device fails.
//!
//! A session continues from the codes on the device. If the device is lost, it continues from the
//! newest copy on the host. There is one wherever a caller fetched, restored or remembered codes,
//! and from the last certificate that came some time after the copy before. If codes changed since
//! then, the call ends in [`Error::DeviceLost`]: its caller must know that it works on older codes.

use super::{
    Agreement, Context, Discovery, Engine, Exceeding, JointNorm, Learning, Measure, Measurement,
    Plane, PlaneLayer, Problem, ScaledResidual, ScaledSums, Scaling, Session, Share, Show, State,
    Support, SupportFit, Sweep,
};
use crate::dictionary::{Constraints, Dictionary};
use crate::error::{Error, Result};
use crate::geometry::{InSignal, Region};
use crate::needles::Code;
use crate::real::Real;
use crate::run::Clock;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Time between two copies of the codes at certificates: little work is lost with a device, and
/// copying takes a small fraction of the time.
const COPY_INTERVAL: Duration = Duration::from_secs(2);

/// What happens to the work of a CPU that takes over from a device, in words.
pub fn words_of_fallback(lost: Duration) -> String {
    match lost {
        Duration::ZERO => "the work continues on the CPU".into(),
        lost => format!(
            "the work continues on the CPU, which repeats the last {:.1} s because the newest \
             codes are lost",
            lost.as_secs_f64()
        ),
    }
}

/// Runs on the first engine; after a fault, permanently on the second.
pub struct FallbackEngine<T> {
    engines: Rc<Engines<T>>,
}

/// Receives a fault and the time of lost work.
type Notice = dyn Fn(&Error, Duration);

struct Engines<T> {
    first: Box<dyn Engine<T>>,
    second: Box<dyn Engine<T>>,
    failed: Cell<bool>,
    copy_interval: Duration,
    notice: Box<Notice>,
}

impl<T: Real> FallbackEngine<T> {
    /// `notice` is called when the second engine takes over: with the fault, and with the time of
    /// work that was lost with the device and is repeated, usually none.
    pub fn new(
        first: Box<dyn Engine<T>>,
        second: Box<dyn Engine<T>>,
        notice: impl Fn(&Error, Duration) + 'static,
    ) -> Self {
        Self::with_copies(first, second, COPY_INTERVAL, notice)
    }

    /// Like [`FallbackEngine::new`], with another time between copies of the codes.
    #[doc(hidden)]
    pub fn with_copies(
        first: Box<dyn Engine<T>>,
        second: Box<dyn Engine<T>>,
        copy_interval: Duration,
        notice: impl Fn(&Error, Duration) + 'static,
    ) -> Self {
        let (failed, notice) = (Cell::new(false), Box::new(notice));
        Self { engines: Rc::new(Engines { first, second, failed, copy_interval, notice }) }
    }
}

impl<T> Engines<T> {
    fn now(&self) -> &dyn Engine<T> {
        if self.failed.get() { &*self.second } else { &*self.first }
    }

    /// Switches to the second engine. Work of this duration was lost.
    fn fail(&self, error: &Error, lost: Duration) {
        if !self.failed.replace(true) {
            (self.notice)(error, lost);
        }
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

    /// The larger estimate of both engines; the first one includes the copies on the host.
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let second = self.engines.second.estimate_memory(problem, density)?;
        if self.engines.failed.get() {
            return Ok(second);
        }
        let codes = |plane: &Plane<T>| density * plane.extent.volume() as f64;
        let codes = problem.planes.iter().map(codes).sum::<f64>() as u64;
        let copies = if problem.learning { 2 } else { 1 } * codes * size_of::<Code<T>>() as u64;
        match self.engines.first.estimate_memory(problem, density) {
            Err(error) if may_be_avoided(&error) => {
                self.engines.fail(&error, Duration::ZERO);
                Ok(second)
            }
            first => Ok(second.max(first? + bytes_of(problem) + copies)),
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
            Err(error) if may_be_avoided(&error) => {
                self.engines.fail(&error, Duration::ZERO);
                self.engines.second.open(problem, positions)
            }
            session => Ok(Box::new(FallbackSession {
                engines: Rc::clone(&self.engines),
                session: session?,
                spare: Some((problem, positions.copied())),
                copy: HostCopy::new(None),
                remembered: None,
                certificate: None,
            })),
        }
    }

    fn own_memory(&self) -> Option<u64> {
        self.engines.now().own_memory()
    }
}

/// Whether another engine may avoid this error.
fn may_be_avoided(error: &Error) -> bool {
    matches!(error, Error::Device(_) | Error::Unavailable(_))
}

/// Size of a problem in bytes, also if its samples are not there yet.
fn bytes_of<T: Real>(problem: &Problem<T>) -> u64 {
    let plane = |plane: &Plane<T>| {
        let samples = match plane.target.len() {
            0 => plane.extent.volume() * problem.dictionary.channels(),
            samples => samples,
        };
        let fields = 1 + usize::from(plane.weights.is_some());
        let rows = plane.coefficient_weights.as_ref().map_or(0, |weights| weights.row_of.len());
        (samples * fields + plane.position_weights.as_ref().map_or(0, Vec::len)) * size_of::<T>()
            + (plane.position_caps.as_ref().map_or(0, Vec::len) + rows) * size_of::<u32>()
    };
    problem.planes.iter().map(plane).sum::<usize>() as u64
}

/// Codes on the host.
struct HostCopy<T> {
    /// `None`: all codes are zero.
    state: Option<State<T>>,
    made: Clock,
    /// Whether the session has the same codes.
    is_current: bool,
}

impl<T> HostCopy<T> {
    fn new(state: Option<State<T>>) -> Self {
        Self { state, made: Clock::start(), is_current: true }
    }
}

struct FallbackSession<T> {
    engines: Rc<Engines<T>>,
    session: Box<dyn Session<T>>,
    /// Input for opening a session on the second engine; `None` after the switch.
    spare: Option<(Problem<T>, Option<Region<InSignal>>)>,
    /// The newest copy of the codes, for use if the device is lost.
    copy: HostCopy<T>,
    /// What [`Learning::take_back`] restores.
    remembered: Option<(Dictionary<T>, State<T>)>,
    /// The last certificate, whose candidates the next sweep visits.
    certificate: Option<Measure>,
}

impl<T: Real> FallbackSession<T> {
    /// Makes a call; repeats it on the second engine if the first one fails.
    fn call<R>(&mut self, mut call: impl FnMut(&mut dyn Session<T>) -> Result<R>) -> Result<R> {
        match call(&mut *self.session) {
            Err(error) if self.spare.is_some() && may_be_avoided(&error) => {
                self.switch(&error)?;
                call(&mut *self.session)
            }
            result => result,
        }
    }

    /// Replaces the session by one on the second engine.
    fn switch(&mut self, fault: &Error) -> Result<()> {
        let Some((problem, positions)) = self.spare.take() else { return Ok(()) };
        let on_device = self.session.state(Share::All).ok();
        let is_lost = on_device.is_none() && !self.copy.is_current;
        let lost = if is_lost { self.copy.made.elapsed() } else { Duration::ZERO };
        self.engines.fail(fault, lost);
        let dictionary = self.session.dictionary().clone();
        self.session =
            self.engines.second.open(Problem { dictionary, ..problem }, positions.as_ref())?;
        if let Some(state) = on_device.or(self.copy.state.take()) {
            self.session.restore(&state)?;
        }
        if is_lost {
            return Err(Error::DeviceLost(fault.to_string()));
        }
        if let Some(certificate) = self.certificate {
            // Not stopped: what follows a certificate relies on all its correlations.
            self.session.measure(certificate, &Context::default())?;
        }
        Ok(())
    }

    /// Copies the codes, unless they stay on the host anyway.
    fn keep_copy(&mut self, state: &State<T>) {
        if self.spare.is_some() {
            self.copy = HostCopy::new(Some(state.clone()));
        }
    }

    /// A sweep changed the codes.
    fn swept(&mut self) {
        self.certificate = None;
        self.copy.is_current = false;
    }
}

impl<T: Real> Session<T> for FallbackSession<T> {
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep> {
        let done = self.call(|session| session.discover(sweep, context))?;
        self.swept();
        Ok(done)
    }

    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep> {
        let done = self.call(|session| session.support(sweep, context))?;
        self.swept();
        Ok(done)
    }

    fn fit_support(&mut self, fit: &SupportFit, context: &Context) -> Result<()> {
        self.call(|session| session.fit_support(fit, context))?;
        self.swept();
        Ok(())
    }

    fn discover_shown(
        &mut self,
        sweep: &Discovery,
        context: &Context,
        show: Show<'_, T>,
    ) -> Result<Sweep> {
        let done = self.call(|session| session.discover_shown(sweep, context, &mut *show))?;
        self.swept();
        Ok(done)
    }

    fn support_shown(
        &mut self,
        sweep: &Support,
        context: &Context,
        show: Show<'_, T>,
    ) -> Result<Sweep> {
        let done = self.call(|session| session.support_shown(sweep, context, &mut *show))?;
        self.swept();
        Ok(done)
    }

    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>> {
        let measured = self.call(|session| session.measure(what, context))?;
        if matches!(what, Measure::Certificate { .. }) {
            self.certificate = Some(what);
            let is_due = self.copy.made.elapsed() >= self.engines.copy_interval;
            if self.spare.is_some() && !self.copy.is_current && is_due {
                self.state(Share::All)?;
            }
        }
        Ok(measured)
    }

    fn state(&mut self, share: Share) -> Result<State<T>> {
        let state = self.call(|session| session.state(share))?;
        self.keep_copy(&state);
        Ok(state)
    }

    fn restore(&mut self, state: &State<T>) -> Result<()> {
        // A device that is lost now takes only codes with it that are replaced anyway.
        self.keep_copy(state);
        self.certificate = None;
        self.call(|session| session.restore(state))
    }

    fn residual(&mut self, plane: usize) -> Result<Vec<T>> {
        self.call(|session| session.residual(plane))
    }

    fn retarget(&mut self, plane: usize, target: Vec<T>) -> Result<()> {
        self.certificate = None;
        if let Some((problem, _)) = &mut self.spare {
            problem.planes[plane].target.clone_from(&target);
        }
        self.call(|session| session.retarget(plane, target.clone()))
    }

    fn set_joint_norm(&mut self, norm: JointNorm) -> Result<()> {
        self.certificate = None;
        if let Some((problem, _)) = &mut self.spare {
            problem.joint = Some(norm);
        }
        self.call(|session| session.set_joint_norm(norm))
    }

    fn memory(&self) -> u64 {
        let spare = self.spare.as_ref().map_or(0, |(problem, _)| bytes_of(problem));
        let remembered = self.remembered.iter().map(|(_, state)| state);
        let codes = self.copy.state.iter().chain(remembered).flat_map(|state| &state.codes);
        let codes = codes.map(|codes| size_of_val(&codes[..]) as u64).sum::<u64>();
        self.session.memory() + spare + codes
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
        let state = self.state(Share::All)?;
        self.remembered = Some((self.dictionary().clone(), state));
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        let Some((dictionary, state)) = self.remembered.take() else { return Ok(()) };
        let taken = self.restore(&state).and_then(|()| self.set_dictionary(dictionary.clone()));
        self.remembered = Some((dictionary, state));
        taken
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
