//! Masks: which samples are observed, and their weights.

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;

/// Weights `A`, usually in [0, 1]: 1 = observed, 0 = missing. A one-channel mask applies to all
/// channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask<T> {
    weights: Signal<T>,
}

/// Smaller weights are rejected: they can only be meant as missing.
const SMALLEST_WEIGHT: f64 = 1e-16;

impl<T: Real> Mask<T> {
    /// Creates a mask from weights; each must be in [0, 1] and at least one above 0.
    pub fn new(weights: Signal<T>) -> Result<Self> {
        check_some(&weights)?;
        Self::of_part(weights)
    }

    /// Creates a mask from weights that may be above 1, for a pursuit or learning.
    pub fn weighted(weights: Signal<T>) -> Result<Self> {
        check_some(&weights)?;
        let allowed = |w: T| w == T::ZERO || (w.to_f64() >= SMALLEST_WEIGHT && w.is_finite());
        match weights.data().iter().find(|w| !allowed(**w)) {
            Some(w) => Err(Error::parameter(
                "a mask weight",
                w,
                "0 (missing) or a number of at least 1e-16 (observed)",
            )),
            None => Ok(Self { weights }),
        }
    }

    /// The largest weight.
    pub fn largest(&self) -> T {
        self.weights.data().iter().fold(T::ZERO, |most, &w| if w > most { w } else { most })
    }

    /// A mask for a part of a signal, in which every sample may be missing.
    pub fn of_part(weights: Signal<T>) -> Result<Self> {
        // Weights are squared, and the square must not be subnormal.
        let allowed = |w: T| w == T::ZERO || (w.to_f64() >= SMALLEST_WEIGHT && w <= T::ONE);
        match weights.data().iter().find(|w| !allowed(**w)) {
            Some(w) => Err(Error::parameter(
                "a mask weight",
                w,
                "0 (missing) or between 1e-16 and 1 (observed)",
            )),
            None => Ok(Self { weights }),
        }
    }

    /// A mask from `true` = observed, one value per sample position.
    pub fn from_known(extent: Extent, known: &[bool]) -> Result<Self> {
        let weights = known.iter().map(|&k| if k { T::ONE } else { T::ZERO }).collect();
        Self::new(Signal::from_planar(extent, 1, weights)?)
    }

    /// The weights.
    pub fn weights(&self) -> &Signal<T> {
        &self.weights
    }

    /// Weights of channel `c` of the signal.
    pub fn channel(&self, c: usize) -> &[T] {
        self.weights.channel(if self.weights.channels() == 1 { 0 } else { c })
    }

    /// Returns an error unless the mask fits a signal of this shape.
    pub fn check_fits(&self, signal: &Signal<T>) -> Result<()> {
        let (m, s) = (&self.weights, signal);
        if m.extent() != s.extent() || (m.channels() != 1 && m.channels() != s.channels()) {
            return Err(Error::Shape(format!(
                "the mask is {} with {} channels, but the signal is {} with {}; they must have \
                 the same shape",
                m.extent(),
                m.channels(),
                s.extent(),
                s.channels()
            )));
        }
        Ok(())
    }
}

fn check_some<T: Real>(weights: &Signal<T>) -> Result<()> {
    if weights.data().iter().all(|&w| w == T::ZERO) {
        return Err(Error::Data(
            "the mask marks every sample as missing; at least one must be known".into(),
        ));
    }
    Ok(())
}
