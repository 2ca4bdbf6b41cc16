//! Learning: the dictionary as well as the needles.

mod atomwise;
mod batch;
mod course;
mod decay;
mod optimiser;
mod params;
mod recentre;
mod replace;
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
use crate::engine::{CpuEngine, Engine, Measure, Measurement, Problem, Session};
use crate::error::{Error, Result};
use crate::needles::Needles;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::pursuit::{
    EXPECTED_DENSITY, Observed, Penalty, Start, check_codes, check_memory, gather_needles, measured_penalty, problem,
};
use crate::real::Real;
use crate::report::{Report, Status};
use atomwise::Atomwise;
use batch::Batch;
use course::{Course, Way};
use std::time::Duration;
use stochastic::Stochastic;

/// A learner whose parameters were checked.
///
/// Minimises the objective of [`Pursuit`](crate::Pursuit) over needles *and* dictionary (unit atoms), by one of several [`Method`]s.
/// Of the default one a pass is a discovery sweep
/// over all signals, then several times in turn: support sweeps over the non-zero codes, and a pass over the atoms, each of which
/// becomes the best of its direction while codes and other atoms hold still. Between passes the dictionary is carried on a little
/// along its last move; a pass that raised the objective is taken back. So the objective never rises, except where an atom hands
/// its codes to a near-duplicate, which is counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    pub(crate) params: LearnParams,
}

/// A point of the curve objective against time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LearnPoint {
    /// Seconds since the learning began.
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
    /// Near-duplicates that handed their codes to their twin in this pass.
    pub merged_atoms: usize,
}

/// What the learner says of its work.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnReport {
    /// How the learning ended.
    pub status: Status,
    /// Passes over the set.
    pub passes: usize,
    /// Atoms replaced in all.
    pub replaced_atoms: usize,
    /// Near-duplicates that handed their codes to their twin, in all.
    pub merged_atoms: usize,
    /// Seconds of learning and of the pursuit that ends it.
    pub seconds: f64,
    /// Objective against time.
    pub history: Vec<LearnPoint>,
    /// The pursuit with the learnt dictionary that ends the learning: objective, gap, non-zeros.
    pub pursuit: Report,
}

/// A learnt dictionary with the needles of the signals it was learnt from.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt<T> {
    /// The dictionary.
    pub dictionary: Dictionary<T>,
    /// Needles of every signal.
    pub needles: Vec<Needles<T>>,
    /// What the learner says of its work.
    pub report: LearnReport,
}

impl Learner {
    /// The parameters.
    pub fn params(&self) -> &LearnParams {
        &self.params
    }

    /// Learns from the signals, starting from `first` and zero codes, on the threads of this machine.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, LearnParams, Penalty, Signal};
    /// let stripes = |i: usize| ((i % 30) as f32 * 0.8).sin();
    /// let image = Signal::from_planar(Extent::new(&[30, 30])?, 1, (0..900).map(stripes).collect())?;
    /// let first = Dictionary::random(Extent::new(&[5, 5])?, 1, 4, 0)?;
    /// let learner = LearnParams { passes: 5, ..LearnParams::new(Penalty::Absolute(0.2)) }.check()?;
    /// let learnt = learner.run(&[image.into()], &first, &mut ())?;
    /// assert!(learnt.report.pursuit.total.objective < learnt.report.history[0].objective);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(&self, signals: &[Observed<T>], first: &Dictionary<T>, observer: &mut dyn Observer) -> Result<Learnt<T>> {
        self.run_on(&CpuEngine::new(self.params.threads)?, signals, first, observer)
    }

    /// Learns from signals that come one after the other, starting from `first`.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, LearnParams, Penalty, Signal};
    /// let first = Dictionary::random(Extent::new(&[5, 5])?, 1, 4, 0)?;
    /// let mut stream = LearnParams::new(Penalty::Absolute(0.2)).check()?.stream(&first)?;
    /// for day in 0..3 {
    ///     let stripes = |i: usize| ((i % 30) as f32 * 0.8 + day as f32).sin();
    ///     let image = Signal::from_planar(Extent::new(&[30, 30])?, 1, (0..900).map(stripes).collect())?;
    ///     stream.partial_fit(&[image.into()], &mut ())?;
    /// }
    /// assert_eq!(stream.dictionary().len(), 4);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn stream<T: Real>(&self, first: &Dictionary<T>) -> Result<Stream<T>> {
        Stream::new(&self.params, first)
    }

    /// Learns on a given engine.
    pub fn run_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        self.learn(engine, signals, first, None, observer)
    }

    /// Goes on from a checkpoint of the same learning; the answer is the one the unbroken run would have given, bit for bit.
    pub fn resume<T: Real>(
        &self,
        checkpoint: &LearnCheckpoint,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        self.resume_on(&CpuEngine::new(self.params.threads)?, checkpoint, signals, first, observer)
    }

    /// Goes on from a checkpoint on a given engine.
    pub fn resume_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        checkpoint: &LearnCheckpoint,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        self.learn(engine, signals, first, Some(checkpoint), observer)
    }

    /// Bytes of working memory the learning is expected to need on the CPU.
    pub fn estimate_memory<T: Real>(&self, signals: &[Observed<T>], first: &Dictionary<T>) -> Result<u64> {
        CpuEngine::new(self.params.threads)?.estimate_memory(&self.problem(signals, first)?, EXPECTED_DENSITY)
    }

    fn problem<T: Real>(&self, signals: &[Observed<T>], first: &Dictionary<T>) -> Result<Problem<T>> {
        let learning = self.params.method == Method::Atomwise;
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
        let problem = self.problem(signals, first)?;
        check_memory(engine, &problem, params.max_memory)?;
        let fingerprint = learning_fingerprint(params, signals, first);
        let mut course = Course::open(params, engine, problem, fingerprint, observer.stop())?;
        if let Some(checkpoint) = checkpoint {
            check_fingerprint(checkpoint.fingerprint, fingerprint)?;
            check_codes(&params.pursuit(params.penalty), signals, first, &checkpoint.codes)?;
            course.take_up(checkpoint)?;
        }
        let status = course.run(observer)?;
        let (penalty, seconds) = (course.penalty, course.seconds());
        let (dictionary, state, history) = course.finish();
        // The pursuit that proves what the dictionary is worth goes on from the needles of the learning.
        let needles = gather_needles(signals, first.channels(), params.border, state.codes);
        let warm = |(s, needles): (&Observed<T>, _)| Observed { start: Start::Needles(needles), ..s.clone() };
        let warm: Vec<Observed<T>> = signals.iter().zip(needles).map(warm).collect();
        let mut pursuit = params.pursuit(Penalty::Absolute(penalty));
        pursuit.time_limit = params.time_limit.map(|limit| limit.saturating_sub(Duration::from_secs_f64(seconds)));
        let answer = pursuit.check()?.run_on(engine, &warm, &dictionary, &mut WithoutCheckpoints(observer))?;
        let report = LearnReport {
            status,
            passes: history.len(),
            replaced_atoms: history.iter().map(|p| p.replaced_atoms).sum(),
            merged_atoms: history.iter().map(|p| p.merged_atoms).sum(),
            seconds: seconds + answer.report.seconds,
            history,
            pursuit: answer.report,
        };
        Ok(Learnt { dictionary, needles: answer.needles, report })
    }
}

/// The penalty in units of the signal; the session's codes are zero. Error where there is nothing to learn, no time, or where the
/// signal is beyond the precision.
fn absolute<T: Real>(penalty: Penalty, session: &mut dyn Session<T>, asked: &Stop) -> Result<f64> {
    let zero = match penalty {
        Penalty::Relative(_) => session.measure(Measure::Largest),
        // How large correlations are does not matter to it, only whether there are some.
        Penalty::Absolute(_) => {
            let some = |m: Measurement| Measurement { largest_correlation: f64::from(u8::from(m.residual_energy > 0.0)), ..m };
            session.measure(Measure::Objective).into_iter().map(some).collect()
        }
    };
    let penalty = measured_penalty::<T>(penalty, &zero, asked)?;
    if penalty == 0.0 {
        return Err(Error::Data("the signals are zero everywhere, so there is nothing to learn".into()));
    }
    Ok(penalty)
}

/// The method asked for, knowing nothing yet.
fn way<T: Real>(params: &LearnParams, first: &Dictionary<T>) -> Box<dyn Way<T>> {
    match params.method {
        Method::Atomwise => Box::new(Atomwise::new(first)),
        Method::Stochastic { step, decay } => Box::new(Stochastic::new(step, decay, first)),
        Method::Batch => Box::new(Batch::new()),
    }
}

/// The pursuit that ends a learning leaves no checkpoints: a resumed learning runs it again.
struct WithoutCheckpoints<'a>(&'a mut dyn Observer);

impl Observer for WithoutCheckpoints<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.0.progress(progress)
    }

    fn stop(&self) -> Stop {
        self.0.stop()
    }
}
