//! Parameters of a pursuit, and their check.

use crate::border::Border;
use crate::engine::Measurement;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::needles::Needles;
use crate::observe::Stop;
use crate::real::Real;
use crate::signal::Signal;
use std::time::Duration;

/// More threads than any machine has; a larger number is a slip.
const MOST_THREADS: usize = 4096;

/// How strongly non-zero codes are punished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Penalty {
    /// In units of the signal.
    Absolute(f64),
    /// Times the smallest penalty with an all-zero answer.
    Relative(f64),
}

/// Order in which needles are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Colours > tiles > layers > needles, with support sweeps and continuation: the fast one.
    #[default]
    Tiles,
    /// Algorithm 2's pursuit: layer after layer over the whole signal, in a random order drawn anew each sweep.
    Layers,
    /// Algorithm 1: one needle after another.
    Needles,
}

/// Solver of the LASSO of one needle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Local {
    /// Coordinate descent with an active set.
    #[default]
    Coordinate,
    /// Least-angle regression: the exact homotopy path, the paper's choice.
    Lars,
}

/// First needles.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start<T> {
    /// All codes zero.
    #[default]
    Zero,
    /// Each needle codes its share of its patch, 1 over the volume of the box (`1/n`, section III-B of the paper).
    Spread,
    /// Given needles (warm start).
    Needles(Needles<T>),
}

/// One signal to be coded, with everything that belongs to it alone.
#[derive(Clone, Debug)]
pub struct Observed<T> {
    /// `Y - B`: the signal less its base layer. Samples of mask weight 0 are never read.
    pub signal: Signal<T>,
    /// Weights `A`; `None`: everything is observed.
    pub mask: Option<Mask<T>>,
    /// Penalty weight of every position (one channel, of the shape of the positions or of the signal); `None`: all 1.
    pub penalty_map: Option<Signal<T>>,
    /// Cap on the non-zeros of every needle (shapes as for `penalty_map`); `None`: the cap of the parameters.
    pub max_nonzeros_map: Option<Signal<T>>,
    /// First needles.
    pub start: Start<T>,
    /// Where signal and mask lie in a larger signal of which other ranks have the rest; `None`: they are the whole. The other maps are
    /// those of the whole.
    pub part: Option<PartOf>,
}

/// Where a part of a signal lies in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOf {
    /// Size of the whole.
    pub whole: Extent,
    /// First sample of the part.
    pub start: [i64; 3],
}

impl<T: Real> Observed<T> {
    /// Size of the whole signal.
    pub fn extent(&self) -> Extent {
        self.part.map_or(self.signal.extent(), |part| part.whole)
    }
}

impl<T> From<Signal<T>> for Observed<T> {
    fn from(signal: Signal<T>) -> Self {
        Self { signal, mask: None, penalty_map: None, max_nonzeros_map: None, start: Start::Zero, part: None }
    }
}

impl Penalty {
    /// The penalty in units of the signal, whose smallest penalty with an all-zero answer is `most`; error if it is too little
    /// for the numbers of the precision.
    fn absolute<T: Real>(self, most: f64) -> Result<f64> {
        let penalty = match self {
            Penalty::Absolute(penalty) => penalty,
            Penalty::Relative(share) => share * most,
        };
        if most > 0.0 && penalty < smallest::<T>() {
            let cure = "scale the signal up, raise the penalty or use double precision";
            return Err(Error::Data(format!("the penalty comes to {penalty:e}, too little for {} numbers; {cure}", T::NAME)));
        }
        Ok(penalty)
    }
}

/// The penalty in units of signals that were measured without codes. Error if they are beyond the precision, or if the measurement was
/// stopped before it told what the penalty is relative to.
pub(crate) fn measured_penalty<T: Real>(penalty: Penalty, zero: &[Measurement], asked: &Stop) -> Result<f64> {
    let most = zero.iter().map(|m| m.largest_correlation).fold(0.0, f64::max);
    if asked.is_due() && !most.is_finite() && matches!(penalty, Penalty::Relative(_)) {
        return Err(Error::Stopped);
    }
    if !most.is_finite() && !asked.is_due() || zero.iter().any(|m| !m.residual_energy.is_finite()) {
        return Err(too_large::<T>());
    }
    check_size::<T>(zero)?;
    penalty.absolute::<T>(most)
}

/// Below this, thresholds are rounding.
fn smallest<T: Real>() -> f64 {
    1e3 * if size_of::<T>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE }
}

/// Error if signals that are not zero are too small to be told from it. `zero` was measured without codes.
fn check_size<T: Real>(zero: &[Measurement]) -> Result<()> {
    let energy: f64 = zero.iter().map(|m| m.residual_energy).sum();
    let something = energy > 0.0 || zero.iter().any(|m| m.largest_correlation > 0.0);
    if something && energy < smallest::<T>().powi(2).max(f64::MIN_POSITIVE) {
        let cure = "scale it up or use double precision";
        return Err(Error::Data(format!("the signal is too small for {} numbers; {cure}", T::NAME)));
    }
    Ok(())
}

/// Error unless an objective is a number: codes and atoms beyond the precision make none. An atom that all but misses a huge signal asks
/// for such.
pub(crate) fn check_objective<T: Real>(objective: f64) -> Result<()> {
    if objective.is_finite() { Ok(()) } else { Err(too_large::<T>()) }
}

/// The signal, unless a sample of it went beyond the precision.
pub(crate) fn checked<T: Real>(signal: Signal<T>) -> Result<Signal<T>> {
    if signal.data().iter().all(|x| x.is_finite()) { Ok(signal) } else { Err(too_large::<T>()) }
}

/// What is said of a signal whose correlations or energy overflow.
fn too_large<T: Real>() -> Error {
    let cure = "scale the signal down or use double precision";
    Error::Data(format!("the signal is too large for {} numbers; {cure}", T::NAME))
}

/// Parameters of a pursuit.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | required | > 0 | weight of the l1 norm, absolute or relative to penalty_max |
/// | `border` | free | | what lies beyond the edge |
/// | `tolerance` | 1e-3 | >= 0 | relative duality gap at which the answer counts as converged |
/// | `max_sweeps` | 1000 | >= 1 | discovery sweeps allowed |
/// | `time_limit` | none | | wall time allowed |
/// | `schedule` | tiles | | order of the needles |
/// | `local` | coordinate | | solver of one needle |
/// | `nonnegative` | false | | codes >= 0 |
/// | `atom_weights` | all 1 | > 0 | penalty weight of every atom |
/// | `max_nonzeros` | none | >= 1 | cap on the non-zeros of a needle (no longer convex) |
/// | `tile` | by rank | >= 1 | positions a tile has along an axis |
/// | `threads` | 0 = all cores | | worker threads |
/// | `seed` | 0 | | order of the layers (schedule `layers`) |
/// | `max_memory` | none | | bytes the work may take beside what it is given |
#[derive(Clone, Debug, PartialEq)]
pub struct PursuitParams {
    /// Weight of the l1 norm.
    pub penalty: Penalty,
    /// Border rule.
    pub border: Border,
    /// Relative duality gap to reach.
    pub tolerance: f64,
    /// Discovery sweeps allowed.
    pub max_sweeps: usize,
    /// Wall time allowed.
    pub time_limit: Option<Duration>,
    /// Order of the needles.
    pub schedule: Schedule,
    /// Solver of one needle.
    pub local: Local,
    /// Codes must not be negative.
    pub nonnegative: bool,
    /// Penalty weight of every atom.
    pub atom_weights: Option<Vec<f64>>,
    /// Cap on the non-zeros of a needle.
    pub max_nonzeros: Option<usize>,
    /// Positions a tile has along an axis.
    pub tile: Option<usize>,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// Seed of the order of the layers.
    pub seed: u64,
    /// Bytes the work may take beside what it is given.
    pub max_memory: Option<u64>,
}

impl PursuitParams {
    /// Defaults, with the penalty given.
    pub fn new(penalty: Penalty) -> Self {
        Self {
            penalty,
            border: Border::Free,
            tolerance: 1e-3,
            max_sweeps: 1000,
            time_limit: None,
            schedule: Schedule::Tiles,
            local: Local::Coordinate,
            nonnegative: false,
            atom_weights: None,
            max_nonzeros: None,
            tile: None,
            threads: 0,
            seed: 0,
            max_memory: None,
        }
    }

    /// The parameters, if each lies in its range.
    pub fn check(self) -> Result<super::Pursuit> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        match self.penalty {
            Penalty::Absolute(x) if !positive(x) => return Err(Error::parameter("the penalty", x, "a number above 0")),
            Penalty::Relative(x) if !positive(x) => return Err(Error::parameter("the relative penalty", x, "a number above 0")),
            _ => {}
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("the tolerance", self.tolerance, "a number of at least 0"));
        }
        if let Some(w) = self.atom_weights.iter().flatten().find(|w| !positive(**w)) {
            return Err(Error::parameter("an atom weight", w, "a number above 0"));
        }
        if self.threads > MOST_THREADS {
            return Err(Error::parameter("the number of threads", self.threads, "at most 4096"));
        }
        for (name, value) in [
            ("the number of sweeps", Some(self.max_sweeps)),
            ("the tile size", self.tile),
            ("the cap on non-zeros", self.max_nonzeros),
        ] {
            if value == Some(0) {
                return Err(Error::parameter(name, 0, "at least 1"));
            }
        }
        Ok(super::Pursuit { params: self })
    }
}
