//! The interface between algorithms and the hardware they run on.
//!
//! Pursuit, learning and tasks are written against [`Session`]; [`Learning`] adds operations on
//! atoms, [`ScaledResidual`] better certificates. All engines follow the schedule of
//! [`crate::grid`]; one that distributes the signal exchanges borders between two colours of a
//! sweep.
//!
//! Every call that can fail returns a `Result`. A session is always consistent: the residual
//! belongs to codes and dictionary at every call. After an error [`Session::state`] returns the
//! codes so far, unless the device is lost.

mod context;
mod cpu;
mod fallback;
mod joint;
mod measurement;
pub mod ranks;
mod scales;
mod weights;

pub use context::{Agreement, Context};
pub use cpu::{CpuEngine, OpenOnCpu};
pub use fallback::{FallbackEngine, words_of_fallback};
pub use joint::JointNorm;
pub use measurement::{Measurement, ScaledSums};
pub use scales::{Lattice, ScaleField, Scaling};
pub use weights::CoefficientWeights;
pub(crate) use weights::NeedleWeights;

use crate::border::Border;
use crate::dictionary::{Constraints, Dictionary};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{InSignal, Region};
use crate::grid::Grouping;
use crate::needles::Code;
use crate::pursuit::Local;
use crate::real::Real;

/// One plane to be coded: a signal, or one channel of it with a one-channel dictionary.
#[derive(Clone, Debug)]
pub struct Plane<T> {
    /// Size of the plane.
    pub extent: Extent,
    /// `Y - B`, channel by channel; 0 where the weight is 0.
    pub target: Vec<T>,
    /// Weights `A` of the same length; `None`: all 1.
    pub weights: Option<Vec<T>>,
    /// Penalty weight of every position; `None`: all 1.
    pub position_weights: Option<Vec<T>>,
    /// Penalty weight of every code, which includes the weight of its atom; `None`: those of the
    /// atoms.
    pub coefficient_weights: Option<CoefficientWeights<T>>,
    /// Maximum number of non-zeros at every position; `None`: as in the problem.
    pub position_caps: Option<Vec<u32>>,
    /// The box of samples covered by target and weights; `None`: all. It may extend past the end
    /// of a periodic signal.
    pub held: Option<Region<InSignal>>,
}

impl<T> Plane<T> {
    /// A plane of this size without samples.
    pub fn empty(extent: Extent) -> Self {
        Self {
            extent,
            target: Vec::new(),
            weights: None,
            position_weights: None,
            coefficient_weights: None,
            position_caps: None,
            held: None,
        }
    }
}

/// Input of [`Engine::open`].
#[derive(Clone, Debug)]
pub struct Problem<T> {
    /// The planes, solved jointly.
    pub planes: Vec<Plane<T>>,
    /// The dictionary.
    pub dictionary: Dictionary<T>,
    /// Border condition.
    pub border: Border,
    /// How positions are grouped.
    pub grouping: Grouping,
    /// Penalty weight of every atom.
    pub atom_weights: Vec<T>,
    /// Weight `mu` of the quadratic term `mu/2 ||a||^2` (elastic net).
    pub elastic: f64,
    /// The norm of the codes of all channels of an atom at a position, in place of the sum of
    /// their sizes; every plane then has all channels of its signal, and the dictionary has
    /// one.
    pub joint: Option<JointNorm>,
    /// Whether codes must be non-negative.
    pub nonnegative: bool,
    /// Solver for one needle.
    pub local: Local,
    /// Maximum number of non-zeros of a needle.
    pub cap: Option<usize>,
    /// Whether the atoms will change too, which takes more memory.
    pub learning: bool,
}

impl<T: Real> Problem<T> {
    /// Channels of a plane.
    pub fn channels(&self, plane: &Plane<T>) -> usize {
        match self.joint {
            Some(_) => plane.target.len() / plane.extent.volume(),
            None => self.dictionary.channels(),
        }
    }

    /// Codes of one atom at a position of a plane: one, or one of every channel.
    pub fn codes_of_atom(&self, plane: &Plane<T>) -> usize {
        self.joint.map_or(1, |_| self.channels(plane))
    }

    /// The first part of the problem that only some engines run, in words.
    pub fn special_model(&self) -> Option<&'static str> {
        if self.elastic > 0.0 {
            return Some("the elastic net");
        }
        if self.joint.is_some() {
            return Some("joint sparsity of the channels");
        }
        let weighted = self.planes.iter().any(|plane| plane.coefficient_weights.is_some());
        weighted.then_some("penalty weights of single coefficients")
    }
}

/// Which needles a discovery sweep visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// All of them.
    All,
    /// Needles that violated optimality in the last [`Measure::Certificate`].
    Candidates,
    /// All of them, each coding an equal part (1 over the number of its samples) of its patch from
    /// zero: the start of section III-B.
    Spread,
    /// The needles of one layer.
    Layer(PlaneLayer),
}

/// The needles of one layer of a plane, in every tile. Their patches do not overlap inside a tile,
/// and with [`Grouping::WholeLayers`] not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneLayer {
    /// Index of the plane.
    pub plane: usize,
    /// Index of the layer, below [`Learning::layers`].
    pub layer: usize,
}

/// A sweep over needles.
#[derive(Clone, Copy, Debug)]
pub struct Discovery {
    /// Penalty of this sweep.
    pub penalty: f64,
    /// The needles to visit.
    pub visit: Visit,
    /// Changes below this fraction of the threshold are ignored within a needle.
    pub local_tolerance: f64,
    /// Seed for a random order of the layers; `None`: in order.
    pub layer_seed: Option<u64>,
}

/// Sweeps over the non-zero codes.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// Penalty of these sweeps.
    pub penalty: f64,
    /// Number of sweeps.
    pub sweeps: usize,
    /// Rounds inside a tile before moving to the next.
    pub rounds: usize,
    /// A tile is left, or skipped, once changes are below this fraction of the threshold.
    pub tolerance: f64,
}

/// A fit of the values of all non-zero codes.
#[derive(Clone, Copy, Debug)]
pub struct SupportFit {
    /// Penalty of this fit.
    pub penalty: f64,
    /// Maximum number of steps.
    pub steps: usize,
    /// Fraction of the squared norm of the gradient at which the fit ends.
    pub enough: f64,
}

/// Statistics of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Largest change of a code, as a fraction of its threshold.
    pub largest_change: f64,
    /// Needles correlated, or codes updated.
    pub visited: usize,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Data term and l1 norm of the residual as updated by sweeps, for progress reports.
    Progress,
    /// Data term and l1 norm of a residual recomputed from the codes.
    Objective,
    /// Also the largest correlation.
    Largest,
    /// Also the largest correlation above the penalty; needles above `penalty * (1 + slack)` become
    /// candidates.
    Certificate {
        /// Penalty for which the codes are certified.
        penalty: f64,
        /// Relative excess that is ignored.
        slack: f64,
    },
}

impl Measure {
    /// Whether correlations are measured too.
    pub fn correlates(&self) -> bool {
        matches!(self, Measure::Largest | Measure::Certificate { .. })
    }
}

/// Needles that exceed the penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exceeding {
    /// A box that holds all of them.
    pub region: Region<InSignal>,
    /// Their largest correlation, as a multiple of the penalty.
    pub ratio: f64,
}

/// Selects codes when several ranks work on one problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Those of all ranks.
    #[default]
    All,
    /// Those of this rank.
    Own,
}

/// State from which a session can be resumed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<T> {
    /// The codes of every plane: positions relative to the signal, in any order, channel 0.
    pub codes: Vec<Vec<Code<T>>>,
    /// Changes still pending around every tile of every plane; empty: unknown, so all tiles are
    /// swept.
    pub pending: Vec<Vec<f64>>,
}

impl<T: Real> State<T> {
    /// A state with these codes and nothing else known.
    pub fn of_codes(codes: Vec<Vec<Code<T>>>) -> Self {
        Self { codes, pending: Vec::new() }
    }

    /// The same state in another precision.
    pub fn cast<U: Real>(&self) -> State<U> {
        let code = |c: &Code<T>| Code {
            position: c.position,
            atom: c.atom,
            channel: c.channel,
            value: U::from_f64(c.value.to_f64()),
        };
        State {
            codes: self.codes.iter().map(|p| p.iter().map(code).collect()).collect(),
            pending: self.pending.clone(),
        }
    }
}

/// Runs sessions on some hardware.
pub trait Engine<T> {
    /// Short name: `cpu`, `cuda`, `mpi`.
    fn name(&self) -> &'static str;
    /// Host threads used by the engine and the work around it.
    fn threads(&self) -> usize;
    /// Joint decisions of the ranks of this engine.
    fn agreement(&self) -> Agreement {
        Agreement::default()
    }
    /// Estimates the memory of a session in bytes, with `density` non-zeros per position.
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64>;
    /// Opens a session with zero codes. `positions` restricts the codes to a band of a larger
    /// signal; samples beyond its edge are free, and the session has a [`ScaledResidual`].
    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>>;
    /// Bytes available to a session, if the engine has its own memory.
    fn own_memory(&self) -> Option<u64> {
        None
    }
}

impl<T, E: Engine<T> + ?Sized> Engine<T> for &E {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn threads(&self) -> usize {
        (**self).threads()
    }
    fn agreement(&self) -> Agreement {
        (**self).agreement()
    }
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        (**self).estimate_memory(problem, density)
    }
    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>> {
        (**self).open(problem, positions)
    }
    fn own_memory(&self) -> Option<u64> {
        (**self).own_memory()
    }
}

/// Receives the state of a sweep in progress: a function that returns the residual of a plane as
/// [`Session::residual`] does, which matches the codes so far.
pub type Show<'a, T> = &'a mut dyn FnMut(&dyn Fn(usize) -> Vec<T>);

/// State of a pursuit on an engine.
pub trait Session<T> {
    /// Sweeps over needles once. The context may stop it between tiles.
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep>;
    /// Sweeps over the non-zero codes.
    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep>;
    /// Fits the values of all non-zero codes together, where sweeps converge slowly; the objective
    /// does not increase. Engines that cannot do so leave the codes as they are.
    fn fit_support(&mut self, fit: &SupportFit, context: &Context) -> Result<()> {
        let _ = (fit, context);
        Ok(())
    }
    /// The same as [`Session::discover`]; `show` is called now and then during the sweep.
    fn discover_shown(
        &mut self,
        sweep: &Discovery,
        context: &Context,
        show: Show<'_, T>,
    ) -> Result<Sweep> {
        let _ = show;
        self.discover(sweep, context)
    }
    /// The same as [`Session::support`]; `show` is called now and then during the sweeps.
    fn support_shown(
        &mut self,
        sweep: &Support,
        context: &Context,
        show: Show<'_, T>,
    ) -> Result<Sweep> {
        let _ = show;
        self.support(sweep, context)
    }
    /// Measures every plane without changing codes. A measurement that is stopped early reports no
    /// correlation.
    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>>;
    /// The codes of every plane and the pending changes of its tiles.
    fn state(&mut self, share: Share) -> Result<State<T>>;
    /// Replaces the state.
    fn restore(&mut self, state: &State<T>) -> Result<()>;
    /// The residual of a plane including the squared weights, `A^2 (Y - B - sum P_i^T D a_i)`, over
    /// the signal, channel by channel.
    fn residual(&mut self, plane: usize) -> Result<Vec<T>>;
    /// Replaces `Y - B` of a plane, over the signal, channel by channel; 0 where the weight is 0.
    fn retarget(&mut self, plane: usize, target: Vec<T>) -> Result<()> {
        let _ = (plane, target);
        Err(Error::Unavailable(
            "this engine does not estimate a smooth layer with the codes; use the cpu engine or \
             subtract a layer beforehand"
                .into(),
        ))
    }
    /// Replaces the norm of joint sparsity of a session without codes.
    fn set_joint_norm(&mut self, norm: JointNorm) -> Result<()> {
        let _ = norm;
        Err(Error::Unavailable(
            "this engine does not solve joint sparsity; use the cpu engine".into(),
        ))
    }
    /// The current dictionary.
    fn dictionary(&self) -> &Dictionary<T>;
    /// Current size of the session's arrays in bytes.
    fn memory(&self) -> u64;
    /// Operations that change the dictionary.
    fn learning(&mut self) -> &mut dyn Learning<T>;
    /// The scaled residual, for better dual points; `None` if the engine does not support it.
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        None
    }
}

/// Operations of a session that change the atoms.
pub trait Learning<T> {
    /// Replaces the dictionary by one of the same shape and updates the residual.
    fn set_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()>;
    /// Replaces the dictionary by one a small step away. The residual is not updated until the next
    /// measurement, as in Algorithm 2.
    fn step_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()>;
    /// Saves the current codes and dictionary.
    fn remember(&mut self) -> Result<()>;
    /// Restores the codes and the dictionary saved last.
    fn take_back(&mut self) -> Result<()>;
    /// One pass over the atoms: optimises each atom with codes fixed, within the constraints. The
    /// objective does not increase. Returns the largest change. Only in a session opened for
    /// learning.
    fn improve_atoms(&mut self, constraints: &Constraints, context: &Context) -> Result<f64>;
    /// Number of layers of a plane.
    fn layers(&mut self, plane: usize) -> usize;
    /// Gradient of the data term in the dictionary, eq. (11): `- sum_i P_i R a_i^T` over the
    /// needles of one layer, or over all (`None`), atom by atom.
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Result<Vec<f64>>;
    /// Energy `|| A sum_i P_i^T G a_i ||^2` of the codes with other atoms `G`: the curvature of the
    /// data term along `G`.
    fn energy_along(&mut self, direction: &[f64]) -> Result<f64>;
}

/// The scaled residual, for better dual points.
pub trait ScaledResidual<T> {
    /// Calls `each(plane, boxes)` for small boxes that contain all needles of this rank above the
    /// penalty; only valid immediately after a certificate for this penalty.
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) -> Result<()>;
    /// `<A (Y - B), s r>` and `||s r||^2` over a part of the signal, or over all samples with a
    /// data term.
    fn scaled_sums(
        &mut self,
        plane: usize,
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> Result<ScaledSums>;
    /// Largest `|c_ik| / weight_ik` in the scaled residual where scales differ from 1; at least the
    /// penalty.
    fn scaled_correlation(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> Result<f64>;
    /// [`Session::residual`] over a part of the signal, unscaled.
    fn residual_part(&mut self, plane: usize, part: &Region<InSignal>) -> Result<Vec<T>>;
}
