//! Parameters of denoising.

use super::{Denoiser, Noise};
use lobcod::run::Run;
use lobcod::{Error, Penalty, PursuitParams, Result};
use std::time::Duration;

/// Method for Gaussian noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Codes similar patches together, over the principal components of each group.
    Groups(Effort),
    /// Codes every patch separately and averages the patches.
    Local,
    /// One pursuit of the whole image.
    Convolutional,
}

/// Trade-off between speed and quality of [`Method::Groups`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Two passes over the image.
    #[default]
    Standard,
    /// Three passes over the image.
    Best,
}

/// Parameters of denoising.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `noise` | required | amounts > 0 | kind and amount of noise |
/// | `strength` | 1 | > 0 | factor of the noise level that is removed; impulses are always removed completely |
/// | `method` | groups | | method for Gaussian noise |
/// | `fit_atoms` | true | | fit the atoms to the noisy image first (local, impulse) |
/// | `scale` | 255 | > 0 | sample value of white (auto, impulse) |
/// | `penalty` | from the noise | > 0 | weight of the l1 norm (convolutional, impulse) |
/// | `tolerance` | 1e-2 | >= 0 | relative duality gap of pursuits of the whole image |
/// | `time_limit` | none | | maximum wall time for them |
/// | `max_memory` | none | | maximum working memory in bytes, not counting inputs |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DenoiseParams {
    /// Kind and amount of noise.
    pub noise: Noise,
    /// Factor of the noise level to remove.
    pub strength: f64,
    /// Method for Gaussian noise.
    pub method: Method,
    /// Whether to fit the atoms to the noisy image first.
    pub fit_atoms: bool,
    /// Sample value of white.
    pub scale: f64,
    /// Weight of the l1 norm.
    pub penalty: Option<f64>,
    /// Relative duality gap.
    pub tolerance: f64,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// Maximum working memory in bytes, not counting inputs.
    pub max_memory: Option<u64>,
}

impl DenoiseParams {
    /// These parameters with some of them changed.
    ///
    /// ```
    /// use lobcod_tasks::denoise::{DenoiseParams, Noise};
    /// let denoiser = DenoiseParams::new(Noise::Auto).with(|p| p.strength = 0.8).check()?;
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Default parameters with this noise.
    pub fn new(noise: Noise) -> Self {
        Self {
            noise,
            strength: 1.0,
            method: Method::Groups(Effort::Standard),
            fit_atoms: true,
            scale: 255.0,
            penalty: None,
            tolerance: 1e-2,
            time_limit: None,
            max_memory: None,
        }
    }

    /// Validates the parameters.
    pub fn check(self) -> Result<Denoiser> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        match self.noise {
            Noise::Gaussian { sigma: Some(sigma) } | Noise::Correlated { sigma: Some(sigma) }
                if !positive(sigma) =>
            {
                return Err(Error::parameter("the noise level", sigma, "a number above 0"));
            }
            Noise::Poisson { gain: Some(gain) } | Noise::Mixed { gain, .. } if !positive(gain) => {
                return Err(Error::parameter("the gain", gain, "a number above 0"));
            }
            Noise::Mixed { sigma, .. } if !(sigma.is_finite() && sigma >= 0.0) => {
                return Err(Error::parameter(
                    "the read-out noise level",
                    sigma,
                    "a number of at least 0",
                ));
            }
            Noise::Impulse { share: Some(share) } if !(share > 0.0 && share < 1.0) => {
                return Err(Error::parameter(
                    "the fraction of impulses",
                    share,
                    "above 0 and below 1",
                ));
            }
            _ => {}
        }
        if !positive(self.strength) {
            return Err(Error::parameter("the strength", self.strength, "a number above 0"));
        }
        if !positive(self.scale) {
            return Err(Error::parameter("the scale", self.scale, "a number above 0"));
        }
        let pursuit = PursuitParams::new(Penalty::Absolute(self.penalty.unwrap_or(1.0)));
        pursuit.with(|p| p.tolerance = self.tolerance).check()?;
        Ok(Denoiser { params: self })
    }

    /// Effort of groups, for noise that only they remove.
    pub(super) fn effort(&self) -> Effort {
        match self.method {
            Method::Groups(effort) => effort,
            Method::Local | Method::Convolutional => Effort::Standard,
        }
    }

    /// A pursuit of the whole image in the remaining time.
    pub(super) fn pursuit(&self, params: PursuitParams, run: &Run) -> PursuitParams {
        params.with(|p| {
            p.tolerance = self.tolerance;
            p.time_limit = run.time_left();
        })
    }
}
