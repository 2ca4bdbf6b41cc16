//! What inpainting says of its work.

use super::path::PathPoint;
use crate::report::Status;

/// One of the answers that were averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerReport {
    /// Which of the given dictionaries it was made with; `None`: without any, the thin plate through the known samples.
    pub dictionary: Option<usize>,
    /// Which mirrored copy of it, 0 = itself.
    pub variant: usize,
    /// Window of the base layer, in lengths of an atom.
    pub window: f64,
    /// Weight of hidden samples, which stand on the thin plate.
    pub trust: f64,
    /// Were the atoms learnt on the damaged signal?
    pub learnt: bool,
    /// Its share of the average.
    pub weight: f64,
    /// Penalty it ended at.
    pub penalty: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Its penalty path.
    pub path: Vec<PathPoint>,
}

impl AnswerReport {
    /// The thin plate as an answer.
    pub(super) fn of_plate() -> Self {
        Self {
            dictionary: None,
            variant: 0,
            window: 0.0,
            trust: 1.0,
            learnt: false,
            weight: 0.0,
            penalty: 0.0,
            nonzeros: 0,
            path: Vec::new(),
        }
    }
}

/// What inpainting says of its work.
#[derive(Clone, Debug, PartialEq)]
pub struct InpaintReport {
    /// Converged, or what ended the run early.
    pub status: Status,
    /// Penalty the answers ended at: their mean, weighted; 0 where there was nothing to code.
    pub penalty: f64,
    /// Penalty path of the answer with the largest share, from the pursuit that filled its base layer to its end.
    pub path: Vec<PathPoint>,
    /// The answers.
    pub answers: Vec<AnswerReport>,
    /// Samples held out.
    pub held_out: usize,
    /// Sweeps over all needles.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes.
    pub support_sweeps: usize,
    /// Seconds of work.
    pub seconds: f64,
    /// Memory of the largest session, in bytes.
    pub working_memory_bytes: u64,
    /// Threads used.
    pub threads: usize,
    /// Name of the engine.
    pub engine: &'static str,
    /// `"f32"` or `"f64"`.
    pub precision: &'static str,
}
