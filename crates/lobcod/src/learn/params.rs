//! Parameters of learning, and their check.

use super::{Decay, Learner, Step};
use crate::border::Border;
use crate::error::{Error, Result};
use crate::pursuit::{Penalty, PursuitParams, Schedule};
use std::time::Duration;

/// Way to learn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Each atom in turn becomes the best of its direction.
    #[default]
    Atomwise,
    /// Algorithm 2 of the paper: a step along the gradient of every layer of every image, in random order. Works on whole images by
    /// one thread.
    Stochastic {
        /// Rule of the steps.
        step: Step,
        /// How their size shrinks.
        decay: Decay,
    },
    /// Pursuit and projected steepest descent over the whole set, eq. (10) and (11), in turn.
    Batch,
}

impl Method {
    /// The stochastic method with the paper's steps.
    pub const STOCHASTIC: Method = Method::Stochastic { step: Step::PAPER, decay: Decay::None };
}

/// Parameters of dictionary learning.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | required | > 0 | weight of the l1 norm, absolute or relative to penalty_max of the first dictionary |
/// | `border` | free | | what lies beyond the edge |
/// | `method` | atomwise | | way to learn |
/// | `passes` | 40 | >= 1 | discovery sweeps over the whole set, each with what the method does to the atoms |
/// | `rounds` | 6 | >= 1 | times support sweeps and a pass over the atoms alternate in a pass (atomwise) |
/// | `stream_memory` | 32 | >= 1 | signals that a stream remembers at most (see [`Stream`](crate::Stream)) |
/// | `target_objective` | none | | ends the learning when the objective falls below |
/// | `time_limit` | none | | wall time allowed |
/// | `tolerance` | 1e-2 | >= 0 | relative duality gap of the pursuit that ends the learning |
/// | `seed` | 0 | | choice of patches that replace atoms; order of images and layers (stochastic) |
/// | `threads` | 0 = all cores | | worker threads |
/// | `max_memory` | none | | bytes the work may take beside what it is given |
#[derive(Clone, Debug, PartialEq)]
pub struct LearnParams {
    /// Weight of the l1 norm.
    pub penalty: Penalty,
    /// Border rule.
    pub border: Border,
    /// Way to learn.
    pub method: Method,
    /// Passes over the whole set.
    pub passes: usize,
    /// Alternations of support sweeps and atoms in a pass.
    pub rounds: usize,
    /// Signals that a stream remembers.
    pub stream_memory: usize,
    /// Objective to reach.
    pub target_objective: Option<f64>,
    /// Wall time allowed.
    pub time_limit: Option<Duration>,
    /// Relative duality gap of the last pursuit.
    pub tolerance: f64,
    /// Seed of the replacements and of random orders.
    pub seed: u64,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// Bytes the work may take beside what it is given.
    pub max_memory: Option<u64>,
}

impl LearnParams {
    /// Defaults, with the penalty given.
    pub fn new(penalty: Penalty) -> Self {
        Self {
            penalty,
            border: Border::Free,
            method: Method::Atomwise,
            passes: 40,
            rounds: 6,
            stream_memory: 32,
            target_objective: None,
            time_limit: None,
            tolerance: 1e-2,
            seed: 0,
            threads: 0,
            max_memory: None,
        }
    }

    /// The parameters, if each lies in its range.
    pub fn check(self) -> Result<Learner> {
        for (name, value) in [
            ("the number of passes", self.passes),
            ("the number of rounds", self.rounds),
            ("the memory of a stream", self.stream_memory),
        ] {
            if value == 0 {
                return Err(Error::parameter(name, 0, "at least 1"));
            }
        }
        if let Method::Stochastic { step, decay } = self.method {
            step.check()?;
            decay.check()?;
        }
        self.pursuit(self.penalty).check()?;
        Ok(Learner { params: self })
    }

    /// The problem that is learnt on: whole layers where the method steps after each.
    pub(super) fn problem(&self) -> PursuitParams {
        let schedule = if let Method::Stochastic { .. } = self.method { Schedule::Layers } else { Schedule::Tiles };
        PursuitParams { schedule, ..self.pursuit(self.penalty) }
    }

    /// The pursuit that ends the learning.
    pub fn pursuit(&self, penalty: Penalty) -> PursuitParams {
        PursuitParams { border: self.border, tolerance: self.tolerance, threads: self.threads, ..PursuitParams::new(penalty) }
    }
}
