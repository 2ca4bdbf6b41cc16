//! Parameters of dictionary learning.

use super::{Decay, Learner, Step};
use crate::border::Border;
use crate::dictionary::{Constraints, Dictionary, Window};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::pursuit::{Penalty, PursuitParams, Schedule};
use crate::real::Real;
use std::time::Duration;

/// Learning method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Optimises one atom at a time exactly.
    #[default]
    Atomwise,
    /// Algorithm 2 of the paper: a gradient step after every layer of every image, in random order,
    /// on one thread.
    Stochastic {
        /// Step rule.
        step: Step,
        /// Decay of the step size.
        decay: Decay,
    },
    /// Alternates pursuit and projected steepest descent over the whole set, eq. (10) and (11).
    Batch,
}

impl Method {
    /// The stochastic method with the steps of the paper.
    pub const STOCHASTIC: Method = Method::Stochastic { step: Step::PAPER, decay: Decay::None };
}

/// Parameters of dictionary learning.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | required | > 0 | weight of the l1 norm, absolute or relative to penalty_max of the first dictionary |
/// | `border` | free | | border condition |
/// | `nonnegative` | false | | codes >= 0 |
/// | `smooth_layer` | 0 | >= 0, not a stream | weight of the squared gradient of a smooth layer that is estimated with codes and atoms |
/// | `zero_mean` | false | | every channel of an atom has mean zero |
/// | `window` | none | | atoms are tapered towards the ends of their box |
/// | `sizes` | none | at most the box | size of every learnt atom, from the first corner of the box |
/// | `rank_one` | false | several channels | atoms are `u` over the channels times `v` over the box |
/// | `frozen` | 0 | below the number of atoms | leading atoms of the first dictionary that stay as they are |
/// | `grow` | false | atomwise, batch | starts with one atom and adds the others one at a time |
/// | `sort` | false | not a stream | orders the learnt atoms by the variance they explain |
/// | `method` | atomwise | | learning method |
/// | `passes` | 40 | >= 1 | discovery sweeps over the whole set, each with the method's update of the atoms |
/// | `rounds` | 6 | >= 1 | alternations of support sweeps and passes over the atoms in a pass (atomwise) |
/// | `stream_memory` | 32 | >= 1 | maximum number of signals a stream remembers (see [`Stream`](crate::Stream)) |
/// | `target_objective` | none | | stops once the objective is below this |
/// | `time_limit` | none | | maximum wall time |
/// | `tolerance` | 1e-3 | >= 0 | relative duality gap of the final pursuit |
/// | `seed` | 0 | | choice of replacement patches; order of images and layers (stochastic) |
/// | `max_memory` | none | | maximum working memory in bytes, not counting inputs |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LearnParams {
    /// Weight of the l1 norm.
    pub penalty: Penalty,
    /// Border condition.
    pub border: Border,
    /// Whether codes must be non-negative.
    pub nonnegative: bool,
    /// Weight of the squared gradient of a smooth layer that is estimated with codes and atoms
    /// ([`Learnt::layers`](super::Learnt::layers)); 0: nothing is subtracted from the signals.
    pub smooth_layer: f64,
    /// Whether every channel of an atom has mean zero.
    pub zero_mean: bool,
    /// Window of the atoms.
    pub window: Option<Window>,
    /// Size of every atom that is learnt, in the box of the first dictionary: samples outside it
    /// are 0. Empty: the whole box.
    pub sizes: Vec<Extent>,
    /// Whether atoms have rank 1: `u` over the channels times `v` over the box.
    pub rank_one: bool,
    /// Number of leading atoms of the first dictionary that stay as they are.
    pub frozen: usize,
    /// Whether atoms are added one at a time, each as the worst represented patch.
    pub grow: bool,
    /// Whether the learnt atoms are ordered by the variance they explain, after the frozen ones.
    pub sort: bool,
    /// Learning method.
    pub method: Method,
    /// Passes over the whole set.
    pub passes: usize,
    /// Alternations of support sweeps and atoms in a pass.
    pub rounds: usize,
    /// Number of signals a stream remembers.
    pub stream_memory: usize,
    /// Target objective.
    pub target_objective: Option<f64>,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// Relative duality gap of the final pursuit.
    pub tolerance: f64,
    /// Seed for replacements and random orders.
    pub seed: u64,
    /// Maximum working memory in bytes, not counting inputs.
    pub max_memory: Option<u64>,
}

impl LearnParams {
    /// These parameters with some of them changed.
    ///
    /// ```
    /// use lobcod::{LearnParams, Penalty};
    /// let learner = LearnParams::new(Penalty::Relative(0.1)).with(|p| p.passes = 20).check()?;
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Default parameters with this penalty.
    pub fn new(penalty: Penalty) -> Self {
        Self {
            penalty,
            border: Border::Free,
            nonnegative: false,
            smooth_layer: 0.0,
            zero_mean: false,
            window: None,
            sizes: Vec::new(),
            rank_one: false,
            frozen: 0,
            grow: false,
            sort: false,
            method: Method::Atomwise,
            passes: 40,
            rounds: 6,
            stream_memory: 32,
            target_objective: None,
            time_limit: None,
            tolerance: 1e-3,
            seed: 0,
            max_memory: None,
        }
    }

    /// Validates the parameters.
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
            if self.grow {
                return Err(Error::parameter(
                    "the method",
                    "stochastic",
                    "atomwise or batch where atoms are added one at a time",
                ));
            }
        }
        self.window.map_or(Ok(()), Window::check)?;
        self.pursuit(self.penalty).check()?;
        Ok(Learner { params: self })
    }

    /// The problem solved while learning: whole layers if the method steps after each.
    pub(super) fn problem(&self) -> PursuitParams {
        let schedule = if let Method::Stochastic { .. } = self.method {
            Schedule::Layers
        } else {
            Schedule::Tiles
        };
        PursuitParams { schedule, ..self.pursuit(self.penalty) }
    }

    /// Parameters of the final pursuit.
    pub fn pursuit(&self, penalty: Penalty) -> PursuitParams {
        PursuitParams {
            border: self.border,
            tolerance: self.tolerance,
            nonnegative: self.nonnegative,
            smooth_layer: self.smooth_layer,
            ..PursuitParams::new(penalty)
        }
    }

    /// The constraints on atoms of the shape of this dictionary.
    pub(super) fn constraints<T: Real>(&self, first: &Dictionary<T>) -> Result<Constraints> {
        self.check_sizes(first)?;
        Constraints::new(
            first.extent(),
            first.channels(),
            self.frozen,
            (self.zero_mean, self.rank_one),
            self.window,
            &self.sizes,
        )
    }

    fn check_sizes<T: Real>(&self, first: &Dictionary<T>) -> Result<()> {
        if self.sizes.is_empty() {
            return Ok(());
        }
        if self.sizes.len() + self.frozen != first.len() {
            return Err(Error::Shape(format!(
                "there are {} sizes for {} atoms to learn; give one for each",
                self.sizes.len(),
                first.len().saturating_sub(self.frozen)
            )));
        }
        let (rank, whole) = (first.extent().rank(), first.extent().padded());
        let fits = |size: &&Extent| {
            size.rank() == rank && size.padded().iter().zip(whole).all(|(&h, most)| h <= most)
        };
        self.sizes.iter().find(|size| !fits(size)).map_or(Ok(()), |size| {
            Err(Error::Shape(format!(
                "atoms of {size} do not fit into the box of {}; use a larger box",
                first.extent()
            )))
        })
    }

    /// Number of atoms in this pass of a learning that ends with `atoms`.
    pub(super) fn atoms_in_pass(&self, pass: usize, atoms: usize) -> usize {
        let learnt = atoms - self.frozen;
        if !self.grow {
            return atoms;
        }
        self.frozen + learnt.min(1 + (pass - 1) / (self.passes / learnt).max(1))
    }
}
