//! Decay of step sizes during learning.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Images after which the online schedule shrinks the step, as in the paper.
const ONLINE_IMAGES: usize = 200;

/// How the step size of the stochastic method shrinks.
///
/// Written `none`, `online` (every 200 images), `online:N` (every `N`) or `exponential:F`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Decay {
    /// Constant step size.
    #[default]
    None,
    /// The step size is divided by `1 + t / images`, rounded down, after `t` images. (The paper
    /// prints a product that would grow.)
    Online {
        /// Images between two divisions; channels that are coded separately count separately.
        images: usize,
    },
    /// Every pass multiplies the step size by a constant factor.
    Exponential {
        /// The factor.
        factor: f64,
    },
}

impl Decay {
    /// Factor of the step size in pass `pass` (from 1) after `seen` images.
    pub(super) fn factor(&self, pass: usize, seen: usize) -> f64 {
        match *self {
            Decay::None => 1.0,
            // The product of all 1 + images / t for t = images, 2 images, ... telescopes.
            Decay::Online { images } => 1.0 / (1 + seen / images) as f64,
            Decay::Exponential { factor } => factor.powf((pass - 1) as f64),
        }
    }

    /// Returns an error unless its value is in range.
    pub(super) fn check(&self) -> Result<()> {
        match *self {
            Decay::Online { images: 0 } => {
                Err(Error::parameter("the number of images of the online decay", 0, "at least 1"))
            }
            Decay::Exponential { factor } if !(factor > 0.0 && factor <= 1.0) => {
                Err(Error::parameter(
                    "the factor of the exponential decay",
                    factor,
                    "a number above 0 and at most 1",
                ))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Decay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decay::None => f.write_str("none"),
            Decay::Online { images } => write!(f, "online:{images}"),
            Decay::Exponential { factor } => write!(f, "exponential:{factor}"),
        }
    }
}

impl FromStr for Decay {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let wrong = || Error::parameter("the decay", s, "none, online, online:N or exponential:F");
        let decay = match s.split_once(':') {
            None if s == "none" => Decay::None,
            None if s == "online" => Decay::Online { images: ONLINE_IMAGES },
            Some(("online", images)) => {
                Decay::Online { images: images.parse().map_err(|_| wrong())? }
            }
            Some(("exponential", factor)) => {
                Decay::Exponential { factor: factor.parse().map_err(|_| wrong())? }
            }
            _ => return Err(wrong()),
        };
        decay.check()?;
        Ok(decay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn online_decay_is_the_product_of_its_divisions() {
        let decay = Decay::Online { images: 200 };
        let mut size = 1.0;
        for seen in 1..3000usize {
            if seen.is_multiple_of(200) {
                size /= 1.0 + 200.0 / seen as f64;
            }
            assert!((decay.factor(1, seen) / size - 1.0).abs() < 1e-12, "after {seen} images");
        }
        // Three divisions: 1 / (2 * 3/2 * 4/3).
        assert_eq!(decay.factor(9, 799), 0.25);
        assert_eq!(Decay::Exponential { factor: 0.5 }.factor(4, 999), 0.125);
        assert_eq!(Decay::None.factor(4, 999), 1.0);
    }
}
