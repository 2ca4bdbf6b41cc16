//! The pursuit: needles of given signals for a given dictionary.

mod bands;
mod local_dual;
mod outcome;
mod params;
mod passes;
mod rounding;
mod setup;
mod solver;

pub(crate) use params::{check_objective, checked, measured_penalty};
pub(crate) use setup::{EXPECTED_DENSITY, check_codes, check_memory, gather_needles, problem};

pub use bands::{BandedShape, Piece, Rows, Shelf};
pub use params::{Local, Observed, PartOf, Penalty, PursuitParams, Schedule, Start};

use crate::checkpoint::Checkpoint;
use crate::dictionary::Dictionary;
use crate::engine::ranks::{RankEngine, share_out};
use crate::engine::{CpuEngine, Engine, Measure, Measurement, State};
use crate::error::Result;
use crate::extent::Extent;
use crate::grid::Frame;
use crate::needles::Needles;
use crate::observe::{Observer, Stop};
use crate::real::Real;
use crate::report::Report;
use std::ops::Range;

/// A pursuit whose parameters were checked.
///
/// Solves
///
/// ```text
/// min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  sum_ik penalty_ik |a_ik|
/// ```
///
/// by local block coordinate descent (Algorithm 1 and the pursuit of Algorithm 2 of the paper, and the faster schedule on tiles): a
/// needle is the LASSO of its patch of the residual, all others held still. A sweep over all needles costs `2 n m` flops a
/// position, a sweep over the non-zero codes `4 n` a code. Memory: signal, residual, weights and the non-zero codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pursuit {
    pub(crate) params: PursuitParams,
}

/// Needles of every signal, and what the solver says of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// One entry a signal.
    pub needles: Vec<Needles<T>>,
    /// Objective, certificate, history.
    pub report: Report,
}

impl Pursuit {
    /// The parameters.
    pub fn params(&self) -> &PursuitParams {
        &self.params
    }

    /// Codes the signals, together as one problem, on the threads of this machine.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, Penalty, PursuitParams, Signal};
    /// let signal = Signal::from_planar(Extent::new(&[64])?, 1, (0..64).map(|t| (t as f64 * 0.3).cos()).collect())?;
    /// let dictionary = Dictionary::random(Extent::new(&[9])?, 1, 12, 0)?;
    /// let answer = PursuitParams::new(Penalty::Relative(0.2)).check()?.run(&[signal.into()], &dictionary, &mut ())?;
    /// println!("{} codes, gap {:.1e}", answer.needles[0].nonzeros(), answer.report.total.relative_gap());
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(
        &self,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        self.run_on(&CpuEngine::new(self.params.threads)?, signals, dictionary, observer)
    }

    /// Goes on from a checkpoint of the same problem; the answer is the one the unbroken run would have given, bit for bit.
    pub fn resume<T: Real>(
        &self,
        checkpoint: &Checkpoint,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        self.resume_on(&CpuEngine::new(self.params.threads)?, checkpoint, signals, dictionary, observer)
    }

    /// Goes on from a checkpoint on a given engine.
    pub fn resume_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        checkpoint: &Checkpoint,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        self.open(engine, signals, dictionary, observer.stop())?.resume(checkpoint, observer)
    }

    /// Codes the signals on a given engine.
    pub fn run_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Answer<T>> {
        self.open(engine, signals, dictionary, observer.stop())?.run(observer)
    }

    /// The box of samples of a signal of this size that a rank works on; it may go on counting beyond the end of a periodic signal.
    /// Empty where it has no part of the signal.
    pub fn part_on_rank(&self, engine: &RankEngine, signal: Extent, atom: Extent) -> Result<[Range<i64>; 3]> {
        let frame = Frame::new(signal, atom, self.params.border, setup::grouping(&self.params, signal.rank()))?;
        let blocks = share_out(vec![frame], engine.world().ranks(), engine.process_grid(), false).remove(0);
        let (frame, length) = (blocks.frame(), signal.padded());
        let touched = frame.footprint(&blocks.of(engine.world().rank()));
        Ok(std::array::from_fn(|a| {
            let at = frame.signal_at[a] as i64;
            let (start, end) = (touched[a].start - at, touched[a].end - at);
            if frame.periodic { start..end } else { start.clamp(0, length[a] as i64)..end.clamp(0, length[a] as i64) }
        }))
    }

    fn open<'a, T: Real>(
        &'a self,
        engine: &dyn Engine<T>,
        signals: &'a [Observed<T>],
        dictionary: &'a Dictionary<T>,
        asked: Stop,
    ) -> Result<solver::Solver<'a, T>> {
        let problem = setup::problem(&self.params, signals, dictionary)?;
        check_memory(engine, &problem, self.params.max_memory)?;
        solver::Solver::open(&self.params, engine, problem, signals, dictionary, asked)
    }

    /// What a certificate at this penalty measures of the needles that the signals start from, plane by plane.
    pub(crate) fn measure_start<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        penalty: f64,
        asked: Stop,
    ) -> Result<Vec<Measurement>> {
        let mut session = engine.open(setup::problem(&self.params, signals, dictionary)?)?;
        session.heed(asked.last_look());
        session.restore(&State { codes: setup::given_needles(signals, dictionary.channels()), pending: Vec::new() });
        session.refresh();
        Ok(session.measure(Measure::Certificate { penalty, slack: 0.0 }))
    }

    /// Bytes of working memory the run is expected to need on the CPU.
    pub fn estimate_memory<T: Real>(&self, signals: &[Observed<T>], dictionary: &Dictionary<T>) -> Result<u64> {
        let problem = setup::problem(&self.params, signals, dictionary)?;
        CpuEngine::new(self.params.threads)?.estimate_memory(&problem, setup::EXPECTED_DENSITY)
    }
}
