//! Learning: the dictionary together with the codes.
//!
//! [`LearnParams`] are checked once and give a [`Learner`]. It learns from a set of signals at once
//! ([`Learner::run`]) or from signals that arrive one after the other ([`Learner::stream`]).
//! [`Method`] chooses the algorithm: the default is the fastest, [`Method::Stochastic`] is the
//! paper's.
//!
//! ```
//! use lobcod::engine::CpuEngine;
//! use lobcod::learn::Method;
//! use lobcod::{Dictionary, Extent, LearnParams, Penalty, Signal};
//!
//! let wave = (0..400).map(|i| (i as f32 * 0.3).sin()).collect();
//! let signal = Signal::from_planar(Extent::new(&[400])?, 1, wave)?;
//! let first = Dictionary::random(Extent::new(&[16])?, 1, 3, 0)?;
//! let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| p.method = Method::Batch);
//! let learnt = params.check()?.run(&CpuEngine::new(0)?, &[signal.into()], &first, &mut ())?;
//! assert_eq!(learnt.dictionary.len(), 3);
//! # Ok::<(), lobcod::Error>(())
//! ```

mod atomwise;
mod batch;
mod decay;
mod optimiser;
mod params;
mod recentre;
mod replace;
mod solver;
mod sort;
mod statistics;
mod step;
mod stochastic;
mod stream;

pub use decay::Decay;
pub use params::{LearnParams, Method};
pub use step::Step;
pub use stream::Stream;

use crate::checkpoint::{LearnCheckpoint, check_fingerprint, learning_fingerprint};
use crate::dictionary::Dictionary;
use crate::engine::{Context, Engine, Measure, Problem, Session, Share};
use crate::error::{Error, Result};
use crate::needles::Needles;
use crate::observe::Observer;
use crate::pursuit::{
    InGivenUnits, Normalised, Observed, Penalty, SmoothLayers, Start, check_codes, check_memory,
    estimate_memory, gather_needles, largest_correlation, measured_penalty, problem,
};
use crate::real::Real;
use crate::report::{Report, Status};
use crate::signal::Signal;
use atomwise::Atomwise;
use batch::Batch;
use solver::{LearnSolver, PassMethod};
use sort::sort_by_variance;
use stochastic::Stochastic;

/// A learner with validated parameters.
///
/// Minimises the objective of [`Pursuit`](crate::Pursuit) over needles *and* dictionary (unit
/// atoms), by one of several [`Method`]s. A pass of the default method is a discovery sweep, then
/// alternating support sweeps and passes over the atoms; between passes the dictionary is
/// extrapolated along its last change. The objective never increases, except when near-duplicate
/// atoms are merged, which is counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    pub(crate) params: LearnParams,
}

/// A point of the learning curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LearnPoint {
    /// Seconds since learning began.
    pub seconds: f64,
    /// Passes so far.
    pub pass: usize,
    /// Objective, recomputed from dictionary and needles.
    pub objective: f64,
    /// Its data term.
    pub data_term: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Atoms replaced in this pass.
    pub replaced_atoms: usize,
    /// Near-duplicate atoms merged in this pass.
    pub merged_atoms: usize,
}

/// Report of the learner.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LearnReport {
    /// How learning ended.
    pub status: Status,
    /// Passes over the set.
    pub passes: usize,
    /// Total number of atoms replaced.
    pub replaced_atoms: usize,
    /// Total number of near-duplicate atoms merged.
    pub merged_atoms: usize,
    /// Seconds spent on learning and the final pursuit.
    pub seconds: f64,
    /// The learning curve.
    pub history: Vec<LearnPoint>,
    /// Final pursuit with the learnt dictionary: objective, gap, non-zeros.
    pub pursuit: Report,
}

/// A learnt dictionary with the needles of the signals it was learnt from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Learnt<T> {
    /// The dictionary.
    pub dictionary: Dictionary<T>,
    /// Needles of every signal.
    pub needles: Vec<Needles<T>>,
    /// The smooth layers that were estimated with codes and atoms, one per signal; otherwise empty.
    pub layers: Vec<Signal<T>>,
    /// Report of the learner.
    pub report: LearnReport,
}

impl Learner {
    /// The parameters.
    pub fn params(&self) -> &LearnParams {
        &self.params
    }

    /// Learns from the signals, starting from `first` and zero codes.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, LearnParams, Penalty, Signal};
    /// let stripes = |i: usize| ((i % 30) as f32 * 0.8).sin();
    /// let image =
    ///     Signal::from_planar(Extent::new(&[30, 30])?, 1, (0..900).map(stripes).collect())?;
    /// let first = Dictionary::random(Extent::new(&[5, 5])?, 1, 4, 0)?;
    /// let learner = LearnParams::new(Penalty::Absolute(0.2)).with(|p| p.passes = 5).check()?;
    /// let learnt = learner.run(&CpuEngine::new(0)?, &[image.into()], &first, &mut ())?;
    /// assert!(learnt.report.pursuit.total.objective < learnt.report.history[0].objective);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        self.normalised(signals, observer, |learner, signals, observer| {
            learner.learn(engine, signals, first, None, observer)
        })
    }

    /// Learns from signals that come one after the other, starting from `first`.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, LearnParams, Penalty, Signal};
    /// let first = Dictionary::random(Extent::new(&[5, 5])?, 1, 4, 0)?;
    /// let mut stream = LearnParams::new(Penalty::Absolute(0.2)).check()?.stream(&first)?;
    /// for day in 0..3 {
    ///     let stripes = |i: usize| ((i % 30) as f32 * 0.8 + day as f32).sin();
    ///     let image =
    ///         Signal::from_planar(Extent::new(&[30, 30])?, 1, (0..900).map(stripes).collect())?;
    ///     stream.partial_fit(&CpuEngine::new(0)?, &[image.into()], &mut ())?;
    /// }
    /// assert_eq!(stream.dictionary().len(), 4);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn stream<T: Real>(&self, first: &Dictionary<T>) -> Result<Stream<T>> {
        Stream::new(&self.params, first)
    }

    /// Resumes a checkpoint of the same learning run. The answer is bit-identical to that of an
    /// uninterrupted run.
    pub fn resume<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        checkpoint: &LearnCheckpoint,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        self.normalised(signals, observer, |learner, signals, observer| {
            learner.learn(engine, signals, first, Some(checkpoint), observer)
        })
    }

    /// Learns with mask weights in [0, 1], and reports in the given units.
    fn normalised<T: Real>(
        &self,
        signals: &[Observed<T>],
        observer: &mut dyn Observer,
        learn: impl Fn(&Self, &[Observed<T>], &mut dyn Observer) -> Result<Learnt<T>>,
    ) -> Result<Learnt<T>> {
        let Some(normalised) = Normalised::of(signals, self.params.border)? else {
            return learn(self, signals, observer);
        };
        let factor = normalised.factor();
        let params = self.params.clone().with(|p| {
            p.penalty = normalised.penalty(p.penalty);
            p.smooth_layer /= factor;
            p.target_objective = p.target_objective.map(|target| target / factor);
        });
        let mut observer = InGivenUnits { observer, factor };
        let mut learnt = learn(&params.check()?, &normalised.signals, &mut observer)?;
        normalised.restore(&mut learnt.report.pursuit);
        for point in &mut learnt.report.history {
            point.objective *= factor;
            point.data_term *= factor;
        }
        Ok(learnt)
    }

    /// Estimates the working memory of learning, in bytes.
    pub fn estimate_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
    ) -> Result<u64> {
        let problem = self.problem(signals, first)?;
        estimate_memory(&self.params.problem(), engine, &problem, signals)
    }

    fn problem<T: Real>(
        &self,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
    ) -> Result<Problem<T>> {
        let learning = self.params.method == Method::Atomwise;
        if signals.iter().any(|observed| observed.coefficient_weights.is_some()) {
            return Err(Error::Data(
                "learning takes weights of atoms and positions, not of single coefficients; use a \
                 penalty map"
                    .into(),
            ));
        }
        Ok(Problem { learning, ..problem(&self.params.problem(), signals, first)? })
    }

    fn learn<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        checkpoint: Option<&LearnCheckpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        let params = &self.params;
        if params.sort && engine.agreement().answers() == Share::Own {
            return Err(Error::Unavailable(
                "atoms are ordered by variance only where one rank has all codes; learn without \
                 the order"
                    .into(),
            ));
        }
        let problem = self.problem(signals, first)?;
        check_memory(&params.problem(), engine, &problem, signals, params.max_memory)?;
        let extents = problem.planes.iter().map(|p| p.extent).collect();
        drop(problem);
        let fingerprint = learning_fingerprint(params, signals, first);
        let open =
            |dictionary: Dictionary<T>| engine.open(self.problem(signals, &dictionary)?, None);
        let mut solver = LearnSolver::open(
            params,
            engine.agreement(),
            &open,
            (first, extents),
            (signals, SmoothLayers::of(&params.problem(), signals, first, engine.threads())),
            fingerprint,
            observer,
        )?;
        if let Some(checkpoint) = checkpoint {
            check_fingerprint(checkpoint.fingerprint, fingerprint)?;
            check_codes(&params.pursuit(params.penalty), signals, first, &checkpoint.codes)?;
            solver.resume_from(checkpoint)?;
        }
        let (status, state) = solver.run()?;
        let penalty = solver.penalty;
        let (mut dictionary, history, mut run) = solver.finish();
        // The final pursuit starts from the needles of the learning.
        let needles = gather_needles(&params.problem(), signals, first.channels(), state.codes);
        let warm = |(s, needles): (&Observed<T>, _)| Observed {
            start: Start::Needles(needles),
            ..s.clone()
        };
        let warm: Vec<Observed<T>> = signals.iter().zip(needles).map(warm).collect();
        let mut pursuit = params.pursuit(Penalty::Absolute(penalty));
        pursuit.time_limit = run.time_left();
        // A resumed run repeats this pursuit, so it has no checkpoints.
        let mut answer = pursuit.check()?.run(engine, &warm, &dictionary, &mut run.part())?;
        if params.sort {
            sort_by_variance(&mut dictionary, &mut answer.needles, params.frozen)?;
        }
        let report = LearnReport {
            status,
            passes: history.len(),
            replaced_atoms: history.iter().map(|p| p.replaced_atoms).sum(),
            merged_atoms: history.iter().map(|p| p.merged_atoms).sum(),
            seconds: run.seconds(),
            history,
            pursuit: answer.report,
        };
        Ok(Learnt { dictionary, needles: answer.needles, layers: answer.layers, report })
    }
}

/// The penalty in units of the signal; codes are zero. An error if there is nothing to learn, no
/// time is left, or the signal overflows.
fn absolute<T: Real>(
    penalty: Penalty,
    session: &mut dyn Session<T>,
    context: &Context,
) -> Result<f64> {
    let relative = matches!(penalty, Penalty::Relative(_));
    let zero =
        session.measure(if relative { Measure::Largest } else { Measure::Objective }, context)?;
    let largest = relative.then(|| largest_correlation(&zero));
    let penalty = measured_penalty::<T>(penalty, &zero, largest, &context.stop)?;
    if penalty == 0.0 {
        return Err(Error::Data(
            "the signals are zero everywhere, so there is nothing to learn".into(),
        ));
    }
    Ok(penalty)
}

/// The selected method in its initial state.
fn pass_method<T: Real>(params: &LearnParams, first: &Dictionary<T>) -> Box<dyn PassMethod<T>> {
    match params.method {
        Method::Atomwise => Box::new(Atomwise::new(first)),
        Method::Stochastic { step, decay } => Box::new(Stochastic::new(step, decay, first)),
        Method::Batch => Box::new(Batch::new()),
    }
}
