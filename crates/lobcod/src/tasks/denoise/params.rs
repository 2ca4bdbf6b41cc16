//! Parameters of denoising, and their check.

use super::Denoiser;
use crate::error::{Error, Result};
use crate::pursuit::{Penalty, PursuitParams};
use std::time::Duration;

/// Kind and amount of noise, in units of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Added, the same everywhere; `None`: the level is estimated.
    Gaussian {
        /// Standard deviation.
        sigma: Option<f64>,
    },
    /// Counts times a gain: Poisson noise; `None`: the gain is estimated.
    Poisson {
        /// Sample of one count.
        gain: Option<f64>,
    },
    /// Counts times a gain, with gaussian noise of the read-out added.
    Mixed {
        /// Sample of one count.
        gain: f64,
        /// Standard deviation of the read-out.
        sigma: f64,
    },
    /// Some samples replaced by black, white or anything else; `None`: their share is found out.
    Impulse {
        /// Largest share of samples that are hit.
        share: Option<f64>,
    },
}

/// Way to take gaussian noise off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Every needle codes its patch by itself, and the patches are averaged.
    #[default]
    Local,
    /// One pursuit of the whole picture.
    Convolutional,
}

/// Parameters of denoising.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `noise` | required | amounts > 0 | kind and amount of noise |
/// | `method` | local | | way to take gaussian noise off |
/// | `fit_atoms` | true | | fit the atoms to the noisy picture first (local, impulse) |
/// | `scale` | 255 | > 0 | sample that stands for white (impulse) |
/// | `penalty` | from the noise | > 0 | weight of the l1 norm (convolutional, impulse) |
/// | `tolerance` | 1e-2 | >= 0 | relative duality gap of pursuits of the whole picture |
/// | `time_limit` | none | | wall time allowed for them |
/// | `threads` | 0 = all cores | | worker threads |
/// | `max_memory` | none | | bytes the work may take beside what it is given |
#[derive(Clone, Debug, PartialEq)]
pub struct DenoiseParams {
    /// Kind and amount of noise.
    pub noise: Noise,
    /// Way to take gaussian noise off.
    pub method: Method,
    /// Fit the atoms to the noisy picture first.
    pub fit_atoms: bool,
    /// Sample that stands for white.
    pub scale: f64,
    /// Weight of the l1 norm.
    pub penalty: Option<f64>,
    /// Relative duality gap.
    pub tolerance: f64,
    /// Wall time allowed.
    pub time_limit: Option<Duration>,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// Bytes the work may take beside what it is given.
    pub max_memory: Option<u64>,
}

impl DenoiseParams {
    /// Defaults, with the noise given.
    pub fn new(noise: Noise) -> Self {
        Self {
            noise,
            method: Method::Local,
            fit_atoms: true,
            scale: 255.0,
            penalty: None,
            tolerance: 1e-2,
            time_limit: None,
            threads: 0,
            max_memory: None,
        }
    }

    /// The parameters, if each lies in its range.
    pub fn check(self) -> Result<Denoiser> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        match self.noise {
            Noise::Gaussian { sigma: Some(sigma) } if !positive(sigma) => {
                return Err(Error::parameter("the noise level", sigma, "a number above 0"));
            }
            Noise::Poisson { gain: Some(gain) } | Noise::Mixed { gain, .. } if !positive(gain) => {
                return Err(Error::parameter("the gain", gain, "a number above 0"));
            }
            Noise::Mixed { sigma, .. } if !(sigma.is_finite() && sigma >= 0.0) => {
                return Err(Error::parameter("the noise level of the read-out", sigma, "a number of at least 0"));
            }
            Noise::Impulse { share: Some(share) } if !(share > 0.0 && share < 1.0) => {
                return Err(Error::parameter("the share of impulses", share, "above 0 and below 1"));
            }
            _ => {}
        }
        if !positive(self.scale) {
            return Err(Error::parameter("the scale", self.scale, "a number above 0"));
        }
        self.pursuit(PursuitParams::new(Penalty::Absolute(self.penalty.unwrap_or(1.0)))).check()?;
        Ok(Denoiser { params: self })
    }

    /// A pursuit of the whole picture with these limits.
    pub(super) fn pursuit(&self, params: PursuitParams) -> PursuitParams {
        PursuitParams { tolerance: self.tolerance, time_limit: self.time_limit, threads: self.threads, ..params }
    }
}
