//! Parameters of a pursuit.

use super::setup::planes_of;
use crate::border::Border;
use crate::engine::Measurement;
use crate::error::{Error, Result, check_positive};
use crate::extent::Extent;
use crate::geometry::{InSignal, Point};
use crate::grid::Grouping;
use crate::mask::Mask;
use crate::needles::Needles;
use crate::observe::Stop;
use crate::real::Real;
use crate::signal::Signal;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Weight of the l1 norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Penalty {
    /// In units of the signal.
    Absolute(f64),
    /// As a multiple of the smallest penalty for which all codes are zero.
    Relative(f64),
    /// The constrained form: the penalty at which `|| A (Y - B - sum P_i^T D a_i) ||`, over all
    /// signals, is this number.
    MaxError(f64),
}

/// Loss of the residual in the data term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// `1/2 r^2`.
    #[default]
    Squares,
    /// The Huber loss: `1/2 r^2` up to this bound, then linear with this slope. A sample of mask
    /// weight `a` has the bound `bound / a`.
    Huber(f64),
    /// `|r|`.
    L1,
    /// The Cauchy loss `s^2/2 log(1 + (r/s)^2)` with this scale `s`, by reweighting; not convex.
    Cauchy(f64),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Squares => f.write_str("squares"),
            Loss::Huber(bound) => write!(f, "huber:{bound}"),
            Loss::L1 => f.write_str("l1"),
            Loss::Cauchy(scale) => write!(f, "cauchy:{scale}"),
        }
    }
}

impl FromStr for Loss {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let number = |name: &str| s.strip_prefix(name).and_then(|number| number.parse().ok());
        match (s, number("huber:"), number("cauchy:")) {
            ("squares", ..) => Ok(Loss::Squares),
            ("l1", ..) => Ok(Loss::L1),
            (_, Some(bound), _) => Ok(Loss::Huber(bound)),
            (_, _, Some(scale)) => Ok(Loss::Cauchy(scale)),
            _ => Err(Error::parameter("the loss", s, "squares, l1, huber:DELTA or cauchy:SCALE")),
        }
    }
}

/// Order in which needles are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Colours > tiles > layers > needles, with support sweeps and continuation: the fastest.
    #[default]
    Tiles,
    /// Algorithm 2: layer by layer over the whole signal, in a new random order each sweep.
    Layers,
    /// Algorithm 1: one needle at a time.
    Needles,
}

/// Solver for the LASSO of one needle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Local {
    /// Coordinate descent with an active set.
    #[default]
    Coordinate,
    /// Least-angle regression: the exact homotopy path, the paper's choice.
    Lars,
}

/// Initial needles.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start<T> {
    /// All codes zero.
    #[default]
    Zero,
    /// Each needle codes an equal part of its patch, 1 over the number of its samples (`1/n`,
    /// section III-B of the paper).
    Spread,
    /// Given needles (warm start).
    Needles(Needles<T>),
}

/// One signal to be coded, with its mask, maps and start.
#[derive(Clone, Debug)]
pub struct Observed<T> {
    /// `Y - B`: the signal minus its base layer, or `Y` if the layer is estimated with the codes.
    /// Samples of mask weight 0 are never read.
    pub signal: Signal<T>,
    /// Weights `A`; `None`: everything is observed.
    pub mask: Option<Mask<T>>,
    /// Penalty weight of every position (one channel; in the shape of the positions or the
    /// signal); `None`: all 1.
    pub penalty_map: Option<Signal<T>>,
    /// Penalty weight of every code: one channel per atom, in the shape of the positions. 0 leaves
    /// a code unpenalised, infinity forbids it; `None`: all 1.
    pub coefficient_weights: Option<Signal<T>>,
    /// Maximum number of non-zeros of every needle (shapes as for `penalty_map`); `None`: as in
    /// the parameters.
    pub max_nonzeros_map: Option<Signal<T>>,
    /// Initial needles.
    pub start: Start<T>,
    /// Location of signal and mask in a larger signal that is distributed over ranks; `None`: they
    /// are the whole signal. The maps are always those of the whole signal.
    pub part: Option<PartOf>,
}

/// Location of a part within the whole signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOf {
    /// Size of the whole signal.
    pub whole: Extent,
    /// First sample of the part.
    pub start: Point<InSignal>,
}

impl<T: Real> Observed<T> {
    /// Size of the whole signal.
    pub fn extent(&self) -> Extent {
        self.part.map_or(self.signal.extent(), |part| part.whole)
    }
}

impl<T> From<Signal<T>> for Observed<T> {
    fn from(signal: Signal<T>) -> Self {
        Self {
            signal,
            mask: None,
            penalty_map: None,
            coefficient_weights: None,
            max_nonzeros_map: None,
            start: Start::Zero,
            part: None,
        }
    }
}

impl Penalty {
    /// The penalty in units of the signal; an error if it underflows. `most`: the smallest penalty
    /// for which all codes are zero; `something`: whether the signal has non-zero samples.
    fn absolute<T: Real>(self, most: f64, something: bool) -> Result<f64> {
        let (penalty, matters) = match self {
            Penalty::Absolute(penalty) => (penalty, something),
            Penalty::Relative(fraction) => (fraction * most, most > 0.0),
            Penalty::MaxError(_) => {
                return Err(Error::Data(
                    "a largest error is only supported by the pursuit of whole signals; give a \
                     penalty"
                        .into(),
                ));
            }
        };
        if matters && penalty < smallest::<T>() {
            let cure = "scale the signal up, raise the penalty or use double precision";
            return Err(Error::Data(format!(
                "the penalty is {penalty:e}, too small for {} numbers; {cure}",
                T::NAME
            )));
        }
        Ok(penalty)
    }
}

/// The largest correlation over all planes.
pub(crate) fn largest_correlation(planes: &[Measurement]) -> f64 {
    planes.iter().map(|m| m.largest_correlation).fold(0.0, f64::max)
}

/// The penalty in units of the signal, from the energy of planes without codes and, for a relative
/// penalty, their largest correlation. An error if these overflow or measuring was stopped early.
pub(crate) fn measured_penalty<T: Real>(
    penalty: Penalty,
    zero: &[Measurement],
    largest: Option<f64>,
    stop: &Stop,
) -> Result<f64> {
    let most = largest.unwrap_or(0.0);
    if stop.is_due() && !most.is_finite() && matches!(penalty, Penalty::Relative(_)) {
        return Err(Error::Stopped);
    }
    if !most.is_finite() && !stop.is_due() || zero.iter().any(|m| !m.residual_energy.is_finite()) {
        return Err(Error::overflow::<T>());
    }
    let energy: f64 = zero.iter().map(|m| m.residual_energy).sum();
    let something = energy > 0.0 || most > 0.0;
    if something && energy < smallest::<T>().powi(2).max(f64::MIN_POSITIVE) {
        let cure = "scale it up or use double precision";
        return Err(Error::Data(format!(
            "the signal is too small for {} numbers; {cure}",
            T::NAME
        )));
    }
    penalty.absolute::<T>(most, something)
}

/// Thresholds below this are lost in rounding.
fn smallest<T: Real>() -> f64 {
    1e3 * if size_of::<T>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE }
}

/// Error if an objective is NaN or infinite.
pub(crate) fn check_objective<T: Real>(objective: f64) -> Result<()> {
    if objective.is_finite() { Ok(()) } else { Err(Error::overflow::<T>()) }
}

/// Parameters of a pursuit.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | required | > 0 | weight of the l1 norm, absolute or relative to penalty_max |
/// | `border` | free | | border condition |
/// | `tolerance` | 1e-3 | >= 0 | relative duality gap at which the answer counts as converged |
/// | `max_sweeps` | 1000 | >= 1 | maximum number of discovery sweeps |
/// | `time_limit` | none | | maximum wall time |
/// | `schedule` | tiles | | order of the needles |
/// | `local` | coordinate | | solver for one needle |
/// | `nonnegative` | false | | codes >= 0 |
/// | `atom_weights` | all 1 | > 0 | penalty weight of every atom |
/// | `elastic` | 0 | >= 0 | weight `mu` of a quadratic term `mu/2 ||a||^2` (elastic net) |
/// | `joint` | 0 | >= 0 | weight of the norm of the codes of all channels of an atom at a position (l2,1) |
/// | `smooth_layer` | 0 | >= 0 | weight `mu` of the squared gradient of a smooth layer that is estimated with the codes; 0: no layer |
/// | `loss` | squares | | loss of the residual: squares, Huber, l1 or Cauchy |
/// | `debias` | false | | replace the codes by least squares on their support |
/// | `max_nonzeros` | none | >= 1 | maximum number of non-zeros of a needle (makes the problem non-convex) |
/// | `tile` | by rank | >= 1 | positions per tile along an axis |
/// | `seed` | 0 | | order of the layers (schedule `layers`) |
/// | `max_memory` | none | | maximum working memory in bytes, not counting inputs |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PursuitParams {
    /// Weight of the l1 norm.
    pub penalty: Penalty,
    /// Border condition.
    pub border: Border,
    /// Target for the relative duality gap.
    pub tolerance: f64,
    /// Maximum number of discovery sweeps.
    pub max_sweeps: usize,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// Order of the needles.
    pub schedule: Schedule,
    /// Solver for one needle.
    pub local: Local,
    /// Whether codes must be non-negative.
    pub nonnegative: bool,
    /// Penalty weight of every atom.
    pub atom_weights: Option<Vec<f64>>,
    /// Weight of a quadratic term in the codes.
    pub elastic: f64,
    /// Weight of the l2,1 norm over the channels; they are then coded jointly with a one-channel
    /// dictionary, and the penalty may be 0.
    pub joint: f64,
    /// Weight of the squared gradient of a smooth layer `B` that is estimated with the codes
    /// ([`Answer::layers`](super::Answer::layers)); 0: nothing is subtracted from the signals.
    pub smooth_layer: f64,
    /// Loss of the residual.
    pub loss: Loss,
    /// Whether to replace the codes by those that minimise the data term on their support.
    pub debias: bool,
    /// Maximum number of non-zeros of a needle.
    pub max_nonzeros: Option<usize>,
    /// Positions per tile along an axis.
    pub tile: Option<usize>,
    /// Seed for the order of the layers.
    pub seed: u64,
    /// Maximum working memory in bytes, not counting inputs.
    pub max_memory: Option<u64>,
}

impl PursuitParams {
    /// These parameters with some of them changed.
    ///
    /// ```
    /// use lobcod::{Penalty, PursuitParams};
    /// let pursuit =
    ///     PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.tolerance = 1e-4).check()?;
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
            tolerance: 1e-3,
            max_sweeps: 1000,
            time_limit: None,
            schedule: Schedule::Tiles,
            local: Local::Coordinate,
            nonnegative: false,
            atom_weights: None,
            elastic: 0.0,
            joint: 0.0,
            smooth_layer: 0.0,
            loss: Loss::Squares,
            debias: false,
            max_nonzeros: None,
            tile: None,
            seed: 0,
            max_memory: None,
        }
    }

    /// Grouping of the positions of a signal of this rank.
    pub(crate) fn grouping(&self, rank: usize) -> Grouping {
        match self.schedule {
            Schedule::Tiles => self.tile.map_or(Grouping::default_tiles(rank), Grouping::Tiles),
            Schedule::Layers => Grouping::WholeLayers,
            Schedule::Needles => Grouping::SingleNeedles,
        }
    }

    /// Number of planes of a signal: one, or one per channel coded separately.
    pub(crate) fn planes_of(&self, channels: usize, dictionary_channels: usize) -> usize {
        if self.joint > 0.0 { 1 } else { planes_of(channels, dictionary_channels) }
    }

    /// Validates the parameters.
    pub fn check(self) -> Result<super::Pursuit> {
        match self.penalty {
            Penalty::Absolute(0.0) if self.joint > 0.0 => {}
            Penalty::Absolute(x) => check_positive("the penalty", x)?,
            Penalty::Relative(x) => check_positive("the relative penalty", x)?,
            Penalty::MaxError(x) => {
                check_positive("the largest error", x)?;
                super::constrained::check(&self)?;
            }
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter(
                "the tolerance",
                self.tolerance,
                "a number of at least 0",
            ));
        }
        self.atom_weights
            .iter()
            .flatten()
            .try_for_each(|&w| check_positive("an atom weight", w))?;
        if !(self.elastic >= 0.0 && self.elastic.is_finite()) {
            return Err(Error::parameter(
                "the weight of the elastic net",
                self.elastic,
                "a number of at least 0",
            ));
        }
        super::joint::check(&self)?;
        super::smooth_layer::check(&self)?;
        match self.loss {
            Loss::Squares => {}
            Loss::L1 => super::robust::check(&self)?,
            Loss::Huber(bound) => {
                super::robust::check(&self)?;
                check_positive("the bound of the Huber loss", bound)?;
            }
            Loss::Cauchy(scale) => {
                super::reweighted::check(&self)?;
                check_positive("the scale of the Cauchy loss", scale)?;
            }
        }
        if self.debias && self.nonnegative {
            return Err(Error::Data(
                "debiased codes may be negative; use one of non-negative codes and debiasing"
                    .into(),
            ));
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
        // Measured: other codes converge fast enough.
        let overlapping = self.nonnegative || self.elastic > 0.0 || self.joint > 0.0;
        Ok(super::Pursuit { params: self, overlapping })
    }
}
