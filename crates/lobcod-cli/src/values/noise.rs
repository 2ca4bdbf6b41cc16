//! Kinds of noise, as they are written.

use lobcod::tasks::denoise::Noise;
use std::str::FromStr;

/// Kind and amount of noise: `gaussian[:SIGMA]`, `poisson[:GAIN]`, `mixed:GAIN,SIGMA` or `impulse[:SHARE]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseChoice(pub Noise);

impl FromStr for NoiseChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        const FORMS: &str =
            "noise is written gaussian, gaussian:SIGMA, poisson, poisson:GAIN, mixed:GAIN,SIGMA, impulse or impulse:SHARE";
        let (kind, amounts) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let amounts: Option<Vec<f64>> =
            amounts.map(|a| a.split(',').map(str::parse).collect::<Result<_, _>>()).transpose().map_err(|_| FORMS)?;
        Ok(NoiseChoice(match (kind, amounts.as_deref()) {
            ("gaussian", None) => Noise::Gaussian { sigma: None },
            ("gaussian", Some(&[sigma])) => Noise::Gaussian { sigma: Some(sigma) },
            ("poisson", None) => Noise::Poisson { gain: None },
            ("poisson", Some(&[gain])) => Noise::Poisson { gain: Some(gain) },
            ("mixed", Some(&[gain, sigma])) => Noise::Mixed { gain, sigma },
            ("impulse", None) => Noise::Impulse { share: None },
            ("impulse", Some(&[share])) => Noise::Impulse { share: Some(share) },
            _ => return Err(FORMS.into()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_noise() {
        assert_eq!("gaussian:25".parse(), Ok(NoiseChoice(Noise::Gaussian { sigma: Some(25.0) })));
        assert_eq!("poisson".parse(), Ok(NoiseChoice(Noise::Poisson { gain: None })));
        assert_eq!("mixed:2,0.5".parse(), Ok(NoiseChoice(Noise::Mixed { gain: 2.0, sigma: 0.5 })));
        assert_eq!("impulse".parse(), Ok(NoiseChoice(Noise::Impulse { share: None })));
        for wrong in ["", "snow", "gaussian:", "gaussian:x", "gaussian:1,2", "mixed:1", "mixed", "poisson:1,2"] {
            assert!(wrong.parse::<NoiseChoice>().is_err(), "{wrong} was accepted");
        }
    }
}
