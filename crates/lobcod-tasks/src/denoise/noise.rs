//! Noise models.

use lobcod::{Error, Result};
use std::str::FromStr;

/// Kind and amount of noise, in units of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Detected by [`detect_noise`](super::detect_noise); an image without noise is unchanged.
    Auto,
    /// Additive and uniform; `None`: the level is estimated.
    Gaussian {
        /// Standard deviation.
        sigma: Option<f64>,
    },
    /// Counts times a gain: Poisson noise; `None`: the gain is estimated.
    Poisson {
        /// Sample value of one count.
        gain: Option<f64>,
    },
    /// Counts times a gain, plus Gaussian read-out noise.
    Mixed {
        /// Sample value of one count.
        gain: f64,
        /// Standard deviation of the read-out noise.
        sigma: f64,
    },
    /// Additive, with correlated neighbouring samples; `None`: the level is estimated. The spectrum
    /// is always estimated.
    Correlated {
        /// Standard deviation.
        sigma: Option<f64>,
    },
    /// Some samples replaced by black, white or other values; `None`: their fraction is estimated.
    Impulse {
        /// Maximum fraction of affected samples.
        share: Option<f64>,
    },
}

impl Noise {
    /// Name of the model.
    pub fn name(self) -> &'static str {
        match self {
            Noise::Auto => "auto",
            Noise::Gaussian { .. } => "gaussian",
            Noise::Poisson { .. } => "poisson",
            Noise::Mixed { .. } => "mixed",
            Noise::Correlated { .. } => "correlated",
            Noise::Impulse { .. } => "impulse",
        }
    }
}

/// The model, or a common synonym, and its level: `auto`, `gaussian[:SIGMA]`, `correlated[:SIGMA]`,
/// `poisson[:GAIN]`, `mixed:GAIN,SIGMA` or `impulse[:FRACTION]`. A number alone is the level of
/// Gaussian noise.
impl FromStr for Noise {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter(
                "the noise",
                text,
                "auto, gaussian, gaussian:SIGMA, correlated, correlated:SIGMA, poisson, \
                 poisson:GAIN, mixed:GAIN,SIGMA, impulse or impulse:FRACTION",
            )
        };
        if let Ok(sigma) = text.parse() {
            return Ok(Noise::Gaussian { sigma: Some(sigma) });
        }
        let (kind, amounts) =
            text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let amounts: Option<Vec<f64>> = amounts
            .map(|a| a.split(',').map(str::parse).collect::<std::result::Result<_, _>>())
            .transpose()
            .map_err(|_| wrong())?;
        Ok(match (canonical_name(kind), amounts.as_deref()) {
            ("auto", None) => Noise::Auto,
            ("gaussian", None) => Noise::Gaussian { sigma: None },
            ("gaussian", Some(&[sigma])) => Noise::Gaussian { sigma: Some(sigma) },
            ("correlated", None) => Noise::Correlated { sigma: None },
            ("correlated", Some(&[sigma])) => Noise::Correlated { sigma: Some(sigma) },
            ("poisson", None) => Noise::Poisson { gain: None },
            ("poisson", Some(&[gain])) => Noise::Poisson { gain: Some(gain) },
            ("mixed", Some(&[gain, sigma])) => Noise::Mixed { gain, sigma },
            ("impulse", None) => Noise::Impulse { share: None },
            ("impulse", Some(&[share])) => Noise::Impulse { share: Some(share) },
            _ => return Err(wrong()),
        })
    }
}

/// The canonical name of a noise model, from any synonym.
fn canonical_name(kind: &str) -> &str {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(kind));
    if is(&["gaussian", "gauss", "normal", "white"]) {
        "gaussian"
    } else if is(&[
        "impulse",
        "impulses",
        "salt-and-pepper",
        "salt-pepper",
        "salt_and_pepper",
        "salt&pepper",
        "s&p",
    ]) {
        "impulse"
    } else if is(&["poisson", "shot", "photon"]) {
        "poisson"
    } else {
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_models() {
        for (text, noise) in [
            ("auto", Noise::Auto),
            ("gaussian:25", Noise::Gaussian { sigma: Some(25.0) }),
            ("25", Noise::Gaussian { sigma: Some(25.0) }),
            ("Gaussian", Noise::Gaussian { sigma: None }),
            ("white:2", Noise::Gaussian { sigma: Some(2.0) }),
            ("correlated", Noise::Correlated { sigma: None }),
            ("correlated:12.4", Noise::Correlated { sigma: Some(12.4) }),
            ("poisson", Noise::Poisson { gain: None }),
            ("mixed:2,0.5", Noise::Mixed { gain: 2.0, sigma: 0.5 }),
            ("impulse", Noise::Impulse { share: None }),
            ("salt-and-pepper", Noise::Impulse { share: None }),
            ("salt-and-pepper:0.1", Noise::Impulse { share: Some(0.1) }),
        ] {
            assert_eq!(text.parse::<Noise>().unwrap(), noise, "{text}");
        }
    }

    #[test]
    fn an_unknown_model_is_refused_with_the_valid_forms() {
        for wrong in [
            "",
            "snow",
            "gaussian:",
            "gaussian:x",
            "gaussian:1,2",
            "mixed:1",
            "mixed",
            "poisson:1,2",
            "auto:3",
        ] {
            let answer = wrong.parse::<Noise>().unwrap_err().to_string();
            assert!(
                answer.contains("gaussian:SIGMA") && answer.contains("impulse:FRACTION"),
                "{wrong}: {answer}"
            );
        }
    }
}
