//! Runs the passes of a learning method.

use super::params::LearnParams;
use super::replace::worst_of_all;
use super::{LearnPoint, absolute, pass_method};
use crate::checkpoint::{LearnCheckpoint, LearnerState, damaged};
use crate::dictionary::{Constraints, Dictionary};
use crate::engine::{Agreement, Learning, Measure, Measurement, Session, Share, State};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::needles::Code;
use crate::observe::{Observer, Progress};
use crate::pursuit::{Observed, SmoothLayers, check_objective};
use crate::real::Real;
use crate::report::Status;
use crate::run::{Limits, Run};

/// Fraction of the time that passes take, about; the rest is the pursuit that ends the learning.
const LEARNING: f64 = 0.95;

/// Name of the layers in a checkpoint.
const LAYERS: &str = "smooth_layers";

/// What a method does in a pass, and what it remembers from one pass to the next.
pub trait PassMethod<T> {
    /// Runs one pass over all signals; returns its result, except for pass and seconds.
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint, Stopped>;
    /// Called when atoms were added at the end of the dictionary.
    fn grown(&mut self, _: &Dictionary<T>) {}
    /// State needed to resume after a pass, besides dictionary and codes.
    fn remember(&self) -> LearnerState;
    /// Restores saved state; `None` if it does not belong to this method.
    fn recall(&mut self, state: &LearnerState) -> Option<()>;
}

/// Reason for stopping in the middle of a pass, which is then discarded.
pub enum Stopped {
    /// By the observer or the clock.
    With(Status),
    /// By an error.
    Fault(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Fault(error)
    }
}

impl LearnPoint {
    /// Objective of all planes from their measurements.
    pub(super) fn of(planes: &[Measurement], penalty: f64) -> Self {
        planes.iter().fold(Self::default(), |sum, plane| Self {
            objective: sum.objective + plane.objective(penalty),
            data_term: sum.data_term + plane.data_term(),
            nonzeros: sum.nonzeros + plane.nonzeros,
            ..sum
        })
    }
}

/// Everything a pass works with.
pub struct Pass<'c, 'o, T> {
    pub session: &'c mut dyn Session<T>,
    pub params: &'c LearnParams,
    pub constraints: &'c Constraints,
    pub penalty: f64,
    /// Size of every plane.
    pub extents: &'c [Extent],
    /// Number of the pass, from 1.
    pub number: usize,
    /// Term of the smooth layers, which are fixed during a pass.
    pub layer_term: f64,
    /// The dictionary at the start of the pass; the session remembers the codes.
    pub before: Dictionary<T>,
    pub run: &'c mut Run<'o>,
}

impl<T: Real> Pass<'_, '_, T> {
    /// Reports progress to the observer and shows it the atoms; `Err` if the run should stop.
    pub fn pause(&mut self) -> Result<(), Stopped> {
        self.run.observer().atoms(&mut || self.session.dictionary().cast());
        self.run.pause().map_or(Ok(()), |status| Err(Stopped::With(status)))
    }

    /// Measures the current objective.
    pub fn measure(&mut self) -> Result<LearnPoint> {
        let planes = self.session.measure(Measure::Objective, self.run.context())?;
        let point = LearnPoint::of(&planes, self.penalty);
        Ok(LearnPoint { objective: point.objective + self.layer_term, ..point })
    }

    /// Access to the operations that change the atoms.
    pub fn atoms(&mut self) -> &mut dyn Learning<T> {
        self.session.learning()
    }
}

/// Opens a session for a dictionary.
pub type Opener<'a, T> = &'a dyn Fn(Dictionary<T>) -> Result<Box<dyn Session<T>>>;

/// State of a learning run.
pub struct LearnSolver<'a, T> {
    params: &'a LearnParams,
    constraints: Constraints,
    open: Opener<'a, T>,
    /// The initial dictionary, within the constraints.
    first: Dictionary<T>,
    session: Box<dyn Session<T>>,
    /// The signals, and layers that are estimated with codes and atoms.
    signals: &'a [Observed<T>],
    layers: SmoothLayers,
    extents: Vec<Extent>,
    method: Box<dyn PassMethod<T>>,
    /// State of the method before the last pass, and the number of passes until then.
    before_pass: (LearnerState, usize),
    fingerprint: u64,
    run: Run<'a>,
    pub penalty: f64,
    pub history: Vec<LearnPoint>,
}

impl<'a, T: Real> LearnSolver<'a, T> {
    pub fn open(
        params: &'a LearnParams,
        agreement: Agreement,
        open: Opener<'a, T>,
        (first, extents): (&Dictionary<T>, Vec<Extent>),
        (signals, layers): (&'a [Observed<T>], SmoothLayers),
        fingerprint: u64,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let limits = Limits { time: params.time_limit, memory: None };
        let run = Run::begin(limits, agreement, observer);
        let constraints = params.constraints(first)?;
        let first = constraints.first(first)?;
        if params.grow && params.passes < first.len() - params.frozen {
            return Err(Error::parameter(
                "the number of passes",
                params.passes,
                "at least the number of atoms to learn where they are added one at a time",
            ));
        }
        let mut session = open(first.clone())?;
        layers.place(signals, &mut *session)?;
        let penalty = absolute(params.penalty, &mut *session, &run.untimed_context())?;
        let begun = params.atoms_in_pass(1, first.len());
        if begun < first.len() {
            session = open(first.selected(0..begun))?;
            layers.place(signals, &mut *session)?;
        }
        let method = pass_method(params, session.dictionary());
        Ok(Self {
            params,
            constraints,
            open,
            first,
            session,
            signals,
            layers,
            extents,
            method,
            before_pass: Default::default(),
            fingerprint,
            run,
            penalty,
            history: Vec::new(),
        })
    }

    /// Resumes from a checkpoint of the same run.
    pub fn resume_from(&mut self, checkpoint: &LearnCheckpoint) -> Result<()> {
        let atoms = checkpoint.dictionary.len() / self.first.atom_len();
        let known = |codes: &Vec<Code<f64>>| codes.iter().all(|code| (code.atom as usize) < atoms);
        if atoms > self.first.len() || !checkpoint.codes.iter().all(known) {
            return Err(damaged());
        }
        let data = checkpoint.dictionary.iter().map(|&x| T::from_f64(x)).collect();
        let dictionary = self.first.selected(0..atoms).with_data(data).ok_or_else(damaged)?;
        if atoms != self.session.dictionary().len() {
            self.session = (self.open)(dictionary.clone())?;
            self.method.grown(&dictionary);
        }
        self.method.recall(&checkpoint.learner).ok_or_else(damaged)?;
        self.session.learning().set_dictionary(dictionary)?;
        let layers = checkpoint.learner.get(LAYERS).map_or(&[][..], |numbers| numbers);
        self.layers.recall(layers).ok_or_else(damaged)?;
        self.layers.place(self.signals, &mut *self.session)?;
        self.session.restore(&State::of_codes(checkpoint.codes.clone()).cast())?;
        self.run.resume_after(checkpoint.seconds);
        self.penalty = checkpoint.penalty;
        self.history.clone_from(&checkpoint.history);
        Ok(())
    }

    /// Runs passes until a stopping criterion is met; returns the codes. If a device is lost, the
    /// last pass is repeated on another engine.
    pub fn run(&mut self) -> Result<(Status, State<T>)> {
        match self.passes_and_codes() {
            Err(Error::DeviceLost(_)) => {
                self.undo_pass()?;
                self.passes_and_codes()
            }
            ended => ended,
        }
    }

    fn passes_and_codes(&mut self) -> Result<(Status, State<T>)> {
        let status = self.passes()?;
        Ok((status, self.session.state(self.run.agreement().answers())?))
    }

    /// Returns to the start of the last pass.
    fn undo_pass(&mut self) -> Result<()> {
        self.session.learning().take_back()?;
        let (state, passes) = &self.before_pass;
        self.method.recall(state).ok_or_else(damaged)?;
        self.history.truncate(*passes);
        Ok(())
    }

    fn passes(&mut self) -> Result<Status> {
        while self.history.len() < self.params.passes {
            let objective = match self.one_pass() {
                Err(Stopped::With(status)) => return Ok(status),
                Err(Stopped::Fault(error)) => return Err(error),
                Ok(objective) => objective,
            };
            check_objective::<T>(objective)?;
            if self.params.target_objective.is_some_and(|target| objective <= target) {
                return Ok(Status::Converged);
            }
            self.offer_checkpoint()?;
        }
        Ok(Status::Completed)
    }

    /// Runs a pass and returns its objective.
    fn one_pass(&mut self) -> Result<f64, Stopped> {
        let number = self.history.len() + 1;
        let last = self.history.last();
        self.run.progress = Progress {
            objective: last.map_or(f64::INFINITY, |point| point.objective),
            tolerance: self.params.tolerance,
            nonzeros: last.map_or(0, |point| point.nonzeros),
            discovery_sweeps: number - 1,
            stage_penalty: self.penalty,
            pass: Some(number),
            fraction: self.run.progress.fraction,
            ..Progress::default()
        };
        self.run.advance(LEARNING * (number - 1) as f64 / self.params.passes as f64);
        self.grow(number)?;
        self.layers.fit(self.signals, &mut *self.session, false)?;
        self.session.learning().remember()?;
        self.before_pass = (self.method.remember(), self.history.len());
        let before = self.session.dictionary().clone();
        let mut pass = Pass {
            session: &mut *self.session,
            params: self.params,
            constraints: &self.constraints,
            penalty: self.penalty,
            extents: &self.extents,
            number,
            layer_term: self.layers.term(),
            before,
            run: &mut self.run,
        };
        match self.method.pass(&mut pass) {
            Err(stopped) => {
                if matches!(stopped, Stopped::With(_)) {
                    pass.atoms().take_back()?;
                }
                Err(stopped)
            }
            Ok(point) => {
                self.history.push(LearnPoint {
                    seconds: self.run.seconds(),
                    pass: number,
                    ..point
                });
                Ok(point.objective)
            }
        }
    }

    /// Adds the atoms that this pass begins with: the worst represented patches.
    fn grow(&mut self, number: usize) -> Result<()> {
        let (now, atoms) =
            (self.session.dictionary().len(), self.params.atoms_in_pass(number, self.first.len()));
        if atoms <= now {
            return Ok(());
        }
        let mut dictionary = self.session.dictionary().clone();
        let seed = self.params.seed.wrapping_add(number as u64);
        for k in now..atoms {
            let patch = worst_of_all(&mut *self.session, &self.extents, seed)?;
            // Where nothing is left to represent, the initial atom does.
            let atom = patch.and_then(|patch| {
                let atom = self.constraints.new_atom(k, &patch)?;
                Dictionary::new(dictionary.extent(), dictionary.channels(), atom).ok()
            });
            let atom = atom.unwrap_or_else(|| self.first.selected([k]));
            dictionary = dictionary.followed_by(&atom)?;
        }
        let state = self.session.state(Share::All)?;
        self.session = (self.open)(dictionary.clone())?;
        self.layers.place(self.signals, &mut *self.session)?;
        self.session.restore(&State::of_codes(state.codes))?;
        self.method.grown(&dictionary);
        Ok(())
    }

    /// Offers the observer a checkpoint between two passes.
    fn offer_checkpoint(&mut self) -> Result<()> {
        let Self { fingerprint, penalty, session, layers, history, method, run, .. } = self;
        let clock = run.clock();
        let mut fault = Ok(());
        run.observer().between_learning_passes(&mut || {
            let state = session.state(Share::Own).inspect_err(|e| fault = Err(e.clone()))?;
            Ok(LearnCheckpoint {
                fingerprint: *fingerprint,
                seconds: clock.seconds(),
                penalty: *penalty,
                dictionary: session.dictionary().data().iter().map(|x| x.to_f64()).collect(),
                codes: state.cast::<f64>().codes,
                history: history.clone(),
                learner: learner_state(&**method, layers),
            })
        });
        fault
    }

    /// Returns the current dictionary and the learning curve, and the run for the pursuit that
    /// follows.
    pub fn finish(mut self) -> (Dictionary<T>, Vec<LearnPoint>, Run<'a>) {
        let dictionary = self.session.dictionary();
        let learnt =
            dictionary.with_data(dictionary.data().to_vec()).expect("the atoms have unit norm");
        self.run.begin_part(LEARNING..1.0);
        (learnt, self.history, self.run)
    }
}

/// State of the method and of the layers, by name.
fn learner_state<T: Real>(method: &dyn PassMethod<T>, layers: &SmoothLayers) -> LearnerState {
    let mut state = method.remember();
    if !layers.is_empty() {
        state.insert(LAYERS.into(), layers.numbers());
    }
    state
}
