//! Base layers `B`: the smooth part of a signal, subtracted before coding.

mod local_mean;
mod smooth;

pub use local_mean::{box_mean, local_mean};
pub(crate) use smooth::LayerSolver;
pub use smooth::{smooth, smooth_memory, smooth_on};

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::real::Real;
use crate::signal::Signal;
use std::fmt;
use std::str::FromStr;

/// The base layer; written `none`, `local-mean`, `smooth` (weight 5), `smooth:WEIGHT`,
/// `joint-smooth` (weight 5) or `joint-smooth:WEIGHT`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Base {
    /// Nothing is subtracted.
    None,
    /// The mean over a box of the atom's size, see [`local_mean`].
    #[default]
    LocalMean,
    /// A smooth approximation of the signal, see [`smooth`].
    Smooth {
        /// Weight of the squared gradient.
        mu: f64,
    },
    /// A smooth layer estimated together with the codes, see
    /// [`PursuitParams::smooth_layer`](crate::PursuitParams::smooth_layer): nothing is subtracted
    /// beforehand.
    JointSmooth {
        /// Weight of the squared gradient.
        mu: f64,
    },
}

impl Base {
    /// Default weight of the squared gradient: the paper's choice for fusion.
    pub const DEFAULT_MU: f64 = 5.0;

    /// Weight of a layer that is estimated together with the codes; 0 for all others.
    pub fn joint_weight(&self) -> f64 {
        if let Base::JointSmooth { mu } = *self { mu } else { 0.0 }
    }

    /// Whether a layer is subtracted before coding.
    pub fn is_subtracted(&self) -> bool {
        !matches!(self, Base::None | Base::JointSmooth { .. })
    }

    /// The base layer of a signal, zeros for [`Base::None`], that of the signal without codes for
    /// [`Base::JointSmooth`]; `window` is the box of an atom.
    ///
    /// ```
    /// use lobcod::{Extent, Signal, base::Base};
    ///
    /// let ramp = Signal::from_planar(Extent::new(&[5])?, 1, vec![0.0f32, 1.0, 2.0, 3.0, 4.0])?;
    /// let mean = Base::LocalMean.layer(&ramp, None, Extent::new(&[3])?)?;
    /// assert_eq!(mean.data()[1..4], [1.0, 2.0, 3.0]);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn layer<T: Real>(
        &self,
        signal: &Signal<T>,
        mask: Option<&Mask<T>>,
        window: Extent,
    ) -> Result<Signal<T>> {
        match *self {
            Base::None => Ok(Signal::zeros(signal.extent(), signal.channels())),
            Base::LocalMean => local_mean(signal, mask, window),
            Base::Smooth { mu } | Base::JointSmooth { mu } => smooth(signal, mask, mu),
        }
    }

    /// Temporary memory the layer needs, in bytes.
    pub fn memory(&self, extent: Extent, masked: bool) -> u64 {
        let numbers = match (self, masked) {
            (Base::None | Base::JointSmooth { .. }, _) => 0,
            (Base::LocalMean, false) => 1,
            (Base::LocalMean, true) => 4,
            (Base::Smooth { .. }, false) => return smooth_memory(extent),
            (Base::Smooth { .. }, true) => 7,
        };
        (numbers * extent.volume() * size_of::<f64>()) as u64
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::None => f.write_str("none"),
            Base::LocalMean => f.write_str("local-mean"),
            Base::Smooth { mu } if *mu == Self::DEFAULT_MU => f.write_str("smooth"),
            Base::Smooth { mu } => write!(f, "smooth:{mu}"),
            Base::JointSmooth { mu } => write!(f, "joint-{}", Base::Smooth { mu: *mu }),
        }
    }
}

impl FromStr for Base {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        if let Some(Ok(Base::Smooth { mu })) = s.strip_prefix("joint-").map(str::parse) {
            return Ok(Base::JointSmooth { mu });
        }
        let weight = |w: &str| w.parse().ok().filter(|mu: &f64| *mu > 0.0 && mu.is_finite());
        match (s, s.strip_prefix("smooth:").and_then(weight)) {
            ("none", _) => Ok(Base::None),
            ("local-mean", _) => Ok(Base::LocalMean),
            ("smooth", _) => Ok(Base::Smooth { mu: Self::DEFAULT_MU }),
            (_, Some(mu)) => Ok(Base::Smooth { mu }),
            _ => Err(Error::parameter(
                "the base",
                s,
                "local-mean, smooth, joint-smooth, either with :WEIGHT above 0, or none",
            )),
        }
    }
}

/// Samples of channel `c` as `f64`; 0, without reading them, where the weight is 0.
fn observed_channel<T: Real>(
    signal: &Signal<T>,
    mask: Option<&Mask<T>>,
    c: usize,
) -> Result<Vec<f64>> {
    let samples = signal.channel(c).iter();
    let values: Vec<f64> = match mask {
        None => samples.map(|x| x.to_f64()).collect(),
        Some(mask) => samples
            .zip(mask.channel(c))
            .map(|(x, &w)| if w == T::ZERO { 0.0 } else { x.to_f64() })
            .collect(),
    };
    match values.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(Error::Data(format!(
            "an observed sample is {x}; mark it as missing or replace it with a finite value"
        ))),
        None => Ok(values),
    }
}

/// Lines processed together along a strided axis, to use whole cache lines.
const LINES_AT_ONCE: usize = 16;

/// Applies `transform` to every line along `axis` of a box of `size`, in place.
pub fn along_axis(
    data: &mut [f64],
    size: [usize; 3],
    axis: usize,
    mut transform: impl FnMut(&mut [f64]),
) {
    let length = size[axis];
    let stride: usize = size[axis + 1..].iter().product();
    if stride == 1 {
        data.chunks_exact_mut(length).for_each(transform);
        return;
    }
    let mut lines = vec![0.0; LINES_AT_ONCE.min(stride) * length];
    for slab in data.chunks_exact_mut(length * stride) {
        for first in (0..stride).step_by(LINES_AT_ONCE) {
            let count = LINES_AT_ONCE.min(stride - first);
            for (i, row) in slab.chunks_exact(stride).enumerate() {
                for (line, value) in row[first..first + count].iter().enumerate() {
                    lines[line * length + i] = *value;
                }
            }
            lines[..count * length].chunks_exact_mut(length).for_each(&mut transform);
            for (i, row) in slab.chunks_exact_mut(stride).enumerate() {
                for (line, value) in row[first..first + count].iter_mut().enumerate() {
                    *value = lines[line * length + i];
                }
            }
        }
    }
}
