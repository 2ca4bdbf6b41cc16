//! Learning: the dictionary as well as the needles.

mod atomwise;
mod params;
mod recentre;
mod replace;
mod residual;

pub use params::LearnParams;

use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine};
use crate::error::Result;
use crate::needles::Needles;
use crate::observe::Observer;
use crate::pursuit::{Observed, Penalty, Start, check_memory, problem};
use crate::real::Real;
use crate::report::{Report, Status};

/// A learner whose parameters were checked.
///
/// Minimises the objective of [`Pursuit`](crate::Pursuit) over needles *and* dictionary (unit atoms). A pass is a discovery sweep
/// over all signals, then several times in turn: support sweeps over the non-zero codes, and a pass over the atoms, each of which
/// becomes the best of its direction while codes and other atoms hold still. Between passes the dictionary is carried on a little
/// along its last move; a pass that raised the objective is taken back. So the objective never rises, except where an atom that
/// nothing uses is replaced, which is counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    pub(crate) params: LearnParams,
}

/// A point of the curve objective against time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnPoint {
    /// Seconds since the learning began.
    pub seconds: f64,
    /// Passes so far.
    pub pass: usize,
    /// Objective, recomputed from dictionary and needles.
    pub objective: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Atoms replaced after this pass.
    pub replaced_atoms: usize,
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

    /// Learns on a given engine.
    pub fn run_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        first: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Learnt<T>> {
        let clock = std::time::Instant::now();
        let params = self.params.pursuit(self.params.penalty);
        let problem = problem(&params, signals, first)?;
        check_memory(engine, &problem, self.params.max_memory)?;
        let outcome = atomwise::learn(&self.params, engine, problem, observer)?;
        // The pursuit that proves what the dictionary is worth goes on from the needles of the learning.
        let warm: Vec<Observed<T>> = signals
            .iter()
            .zip(outcome.needles(signals, first.channels(), self.params.border))
            .map(|(s, needles)| Observed { start: Start::Needles(needles), ..s.clone() })
            .collect();
        let mut pursuit = self.params.pursuit(Penalty::Absolute(outcome.penalty));
        pursuit.time_limit = self.params.time_limit.map(|limit| limit.saturating_sub(clock.elapsed()));
        let pursuit = pursuit.check()?;
        let answer = pursuit.run_on(engine, &warm, &outcome.dictionary, observer)?;
        let report = LearnReport {
            status: outcome.status,
            passes: outcome.passes,
            replaced_atoms: outcome.history.iter().map(|p| p.replaced_atoms).sum(),
            seconds: clock.elapsed().as_secs_f64(),
            history: outcome.history,
            pursuit: answer.report,
        };
        Ok(Learnt { dictionary: outcome.dictionary, needles: answer.needles, report })
    }
}
