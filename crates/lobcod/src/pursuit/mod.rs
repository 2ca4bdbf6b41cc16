//! The pursuit: sparse codes of signals for a given dictionary.
//!
//! [`PursuitParams`] are checked once and give a [`Pursuit`], which runs on an engine as often as
//! needed. An [`Observed`] is a signal with what is known about it: a mask, penalty weights, first
//! codes. The answer holds the codes and a report with the duality gap, which bounds how far the
//! objective is from its optimum.
//!
//! ```
//! use lobcod::engine::CpuEngine;
//! use lobcod::{Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Signal};
//!
//! let extent = Extent::new(&[24, 24])?;
//! let stripes = (0..576).map(|i| ((i % 24) as f32 * 0.8).sin()).collect();
//! let known: Vec<bool> = (0..576).map(|i| i % 5 != 0).collect();
//! let mask = Some(Mask::from_known(extent, &known)?);
//! let observed = Observed { mask, ..Signal::from_planar(extent, 1, stripes)?.into() };
//! let dictionary = Dictionary::dct(Extent::new(&[6, 6])?, 1, 36)?;
//! let pursuit =
//!     PursuitParams::new(Penalty::Relative(0.05)).with(|p| p.tolerance = 1e-4).check()?;
//! let answer = pursuit.run(&CpuEngine::new(0)?, &[observed], &dictionary, &mut ())?;
//! let filled = answer.needles[0].synthesise(&dictionary)?;
//! assert_eq!(filled.extent(), extent);
//! # Ok::<(), lobcod::Error>(())
//! ```

pub mod bands;
mod constrained;
mod data_weights;
mod joint;
mod least_squares;
mod local_dual;
mod outcome;
mod params;
mod passes;
mod reweighted;
mod robust;
mod rounding;
mod sequence;
mod setup;
mod smooth_layer;
mod solver;
mod unpenalised;

pub(crate) use data_weights::{InGivenUnits, Normalised};
pub(crate) use params::{check_objective, largest_correlation, measured_penalty};
pub(crate) use setup::{
    EXPECTED_DENSITY, check_codes, check_memory, estimate_memory, gather_needles, problem,
};
pub(crate) use smooth_layer::SmoothLayers;

pub use crate::report::HistoryPoint;
pub use params::{Local, Loss, Observed, PartOf, Penalty, PursuitParams, Schedule, Start};

use crate::checkpoint::Checkpoint;
use crate::dictionary::Dictionary;
use crate::engine::{Context, Engine, Measure, Measurement, Problem, State};
use crate::error::{Error, Result};
use crate::memory;
use crate::needles::Needles;
use crate::observe::Observer;
use crate::real::Real;
use crate::report::Report;
use crate::signal::Signal;

/// A pursuit with validated parameters.
///
/// Solves
///
/// ```text
/// min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  sum_ik penalty_ik |a_ik|
/// ```
///
/// by local block coordinate descent (Algorithm 1 and the pursuit of Algorithm 2 of the paper, and
/// a faster schedule on tiles): each needle is the LASSO of its patch of the residual with all
/// other needles fixed. A sweep over all needles costs `2 n m` flops per position, a sweep over the
/// non-zero codes `4 n` per code. Memory: signal, residual, weights and the non-zero codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pursuit {
    pub(crate) params: PursuitParams,
    /// Whether optimal codes overlap so much that sweeps converge slowly.
    pub(crate) overlapping: bool,
}

/// Needles of every signal and the report of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// One entry per signal.
    pub needles: Vec<Needles<T>>,
    /// The smooth layers that were estimated with the codes, one per signal; otherwise empty.
    pub layers: Vec<Signal<T>>,
    /// Objective, certificate, history.
    pub report: Report,
}

impl Pursuit {
    /// The parameters.
    pub fn params(&self) -> &PursuitParams {
        &self.params
    }

    /// Codes the signals, jointly as one problem.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, Penalty, PursuitParams, Signal};
    /// let signal = Signal::from_planar(
    ///     Extent::new(&[64])?,
    ///     1,
    ///     (0..64).map(|t| (t as f64 * 0.3).cos()).collect(),
    /// )?;
    /// let dictionary = Dictionary::random(Extent::new(&[9])?, 1, 12, 0)?;
    /// let answer = PursuitParams::new(Penalty::Relative(0.2)).check()?.run(
    ///     &CpuEngine::new(0)?,
    ///     &[signal.into()],
    ///     &dictionary,
    ///     &mut (),
    /// )?;
    /// println!(
    ///     "{} codes, gap {:.1e}",
    ///     answer.needles[0].nonzeros(),
    ///     answer.report.total.relative_gap()
    /// );
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        self.normalised(signals, observer, |pursuit, signals, observer| {
            pursuit.run_normalised(engine, signals, dictionary, observer)
        })
    }

    /// Solves a problem whose mask weights are in [0, 1], and reports in the given units.
    fn normalised<T: Real>(
        &self,
        signals: &[Observed<T>],
        observer: &mut dyn Observer,
        solve: impl Fn(&Self, &[Observed<T>], &mut dyn Observer) -> Result<Answer<T>>,
    ) -> Result<Answer<T>> {
        // The l1 loss refuses weights other than 0 and 1.
        let normalised = if self.params.loss == Loss::L1 {
            None
        } else {
            Normalised::of(signals, self.params.border)?
        };
        let Some(normalised) = normalised else { return solve(self, signals, observer) };
        let pursuit = normalised.params(&self.params).check()?;
        let mut observer = InGivenUnits { observer, factor: normalised.factor() };
        let mut answer = solve(&pursuit, &normalised.signals, &mut observer)?;
        normalised.restore(&mut answer.report);
        Ok(answer)
    }

    fn run_normalised<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        if let Loss::Cauchy(scale) = self.params.loss {
            return reweighted::run(&self.params, scale, engine, signals, dictionary, observer);
        }
        if self.params.loss != Loss::Squares {
            let robust = robust::Robust::new(&self.params, engine, signals, dictionary)?;
            return robust.run(observer);
        }
        let answer = match self.params.penalty {
            Penalty::MaxError(bound) => {
                constrained::run(&self.params, bound, engine, signals, dictionary, observer)?
            }
            _ => self.open(engine, signals, dictionary, observer)?.run()?,
        };
        Ok(self.debiased(answer, signals, dictionary))
    }

    /// The answer with debiased codes, if requested. Objective and gap remain those of the pursuit.
    fn debiased<T: Real>(
        &self,
        mut answer: Answer<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
    ) -> Answer<T> {
        if self.params.debias {
            let mut data_term = 0.0;
            for (observed, needles) in signals.iter().zip(&mut answer.needles) {
                let (debiased, term) = least_squares::debias(observed, dictionary, needles);
                *needles = debiased;
                data_term += term;
            }
            answer.report.debiased_data_term = Some(data_term);
        }
        answer
    }

    /// Resumes a checkpoint of the same problem. The answer is bit-identical to that of an
    /// uninterrupted run.
    pub fn resume<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        checkpoint: &Checkpoint,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        if self.params.loss != Loss::Squares || matches!(self.params.penalty, Penalty::MaxError(_))
        {
            return Err(Error::Data(
                "robust losses and the constrained form have no checkpoints; start again".into(),
            ));
        }
        self.normalised(signals, observer, |pursuit, signals, observer| {
            let solver = pursuit.open(engine, signals, dictionary, observer)?;
            Ok(pursuit.debiased(solver.resume(checkpoint)?, signals, dictionary))
        })
    }

    fn open<'a, T: Real>(
        &'a self,
        engine: &'a dyn Engine<T>,
        signals: &'a [Observed<T>],
        dictionary: &'a Dictionary<T>,
        observer: &'a mut dyn Observer,
    ) -> Result<solver::Solver<'a, T>> {
        let problem = setup::problem(&self.params, signals, dictionary)?;
        let needed = self.estimate_memory_of(engine, &problem, signals)?;
        memory::check(needed, self.params.max_memory)?;
        let mut solver =
            solver::Solver::open(&self.params, engine, problem, signals, dictionary, observer)?;
        solver.overlapping = self.overlapping;
        Ok(solver)
    }

    /// Certificate of the start needles of the signals at a penalty, per plane. With joint
    /// sparsity, the norm of a measurement is the penalised one divided by the sum of both weights.
    pub fn measure_start<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        penalty: f64,
        context: &Context,
    ) -> Result<Vec<Measurement>> {
        if let Some(normalised) = Normalised::of(signals, self.params.border)? {
            let (pursuit, factor) = (normalised.params(&self.params).check()?, normalised.factor());
            let signals = &normalised.signals;
            let penalty = penalty / factor;
            let planes = pursuit.measure_start(engine, signals, dictionary, penalty, context)?;
            return Ok(planes.into_iter().map(|plane| plane.times(factor)).collect());
        }
        let mut problem = setup::problem(&self.params, signals, dictionary)?;
        let mut penalty = penalty;
        if self.params.joint > 0.0 {
            problem.joint = Some(joint::norm(penalty, self.params.joint));
            penalty += self.params.joint;
        }
        let mut session = engine.open(problem, None)?;
        session.restore(&State::of_codes(setup::given_needles(
            &self.params,
            signals,
            dictionary.channels(),
        )))?;
        let mut layers = SmoothLayers::of(&self.params, signals, dictionary, engine.threads());
        layers.place(signals, &mut *session)?;
        layers.fit(signals, &mut *session, false)?;
        layers.measure(&mut *session, Measure::Certificate { penalty, slack: 0.0 }, context)
    }

    /// Estimates the working memory of a run, in bytes.
    pub fn estimate_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
    ) -> Result<u64> {
        let problem = setup::problem(&self.params, signals, dictionary)?;
        self.estimate_memory_of(engine, &problem, signals)
    }

    fn estimate_memory_of<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        problem: &Problem<T>,
        signals: &[Observed<T>],
    ) -> Result<u64> {
        let fit = if self.overlapping { setup::memory_of_fit(problem) } else { 0 };
        Ok(setup::estimate_memory(&self.params, engine, problem, signals)? + fit)
    }
}
