//! Report of inpainting.

use super::path::PathPoint;
use lobcod::Status;

/// One of the averaged answers.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AnswerReport {
    /// Index of the given dictionary; `None`: the thin plate, or groups of similar patches.
    pub dictionary: Option<usize>,
    /// Whether it is the average of the others, improved by groups of similar patches.
    pub groups: bool,
    /// Index of its mirrored copy, 0 = itself.
    pub variant: usize,
    /// Window of the base layer, in lengths of an atom.
    pub window: f64,
    /// Weight of missing samples, which take the value of the thin plate.
    pub trust: f64,
    /// Whether the atoms were learnt on the damaged signal.
    pub learnt: bool,
    /// Its weight in the average.
    pub weight: f64,
    /// Root mean square error at the held-out samples, before they were included again; `None` if
    /// none are held out.
    pub held_out_error: Option<f64>,
    /// Its final penalty.
    pub penalty: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Its penalty path.
    pub path: Vec<PathPoint>,
}

/// Report of inpainting.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InpaintReport {
    /// Converged, or the reason for stopping early.
    pub status: Status,
    /// Weighted mean of the final penalties of the answers; 0 if there was nothing to code.
    pub penalty: f64,
    /// Penalty path of the answer with the largest weight.
    pub path: Vec<PathPoint>,
    /// The answers.
    pub answers: Vec<AnswerReport>,
    /// Number of samples held out.
    pub held_out: usize,
    /// Number of sweeps over all needles.
    pub discovery_sweeps: usize,
    /// Number of sweeps over the non-zero codes.
    pub support_sweeps: usize,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Memory of the largest session, or of the groups of similar patches, in bytes.
    pub working_memory_bytes: u64,
    /// Threads used.
    pub threads: usize,
    /// Name of the engine.
    pub engine: &'static str,
    /// `"f32"` or `"f64"`.
    pub precision: &'static str,
}
