//! Detection of the kind of noise.

use super::extremes::LEAST_FRACTION;
use super::impulse::planes;
use super::level::{Measure, check_size, level_of, measure, noise_level, sheet};
use super::noise::Noise;
use super::repeats::repeats;
use super::spectrum::{Spectrum, common, quietest};
use lobcod::{Result, Signal};
use std::fmt;

/// Minimum levels of white and of correlated noise, as fractions of the white value: less is
/// hardly visible, and scanned photographs that count as clean have it.
const LEAST_WHITE: f64 = 2.5 / 255.0;
const LEAST_CORRELATED: f64 = 4.0 / 255.0;
/// Minimum level at high frequencies in units of that of correlated noise: drawings have blocks
/// without any.
const LEAST_FINEST: f64 = 0.02;
/// Minimum level in the quietest blocks in units of that of correlated noise: noise is everywhere,
/// structure is not.
const QUIETEST: f64 = 0.34;
/// Maximum level of correlated noise as a fraction of the white value: more is clipped everywhere.
const MOST_CORRELATED: f64 = 0.2;
/// Minimum number of frequencies with correlated noise: the slopes between blobs have fewer.
const FREQUENCIES: f64 = 3.6;
/// Maximum level of the smoothest fifth of the blocks in units of that of correlated noise:
/// elsewhere texture hides noise, and then noise is hard to distinguish from texture.
const COMMON: f64 = 1.5;
/// Ratio of the levels at middle and high frequencies above which noise is correlated.
const CORRELATED: f64 = 1.6;
/// Minimum number of samples to distinguish correlated noise from texture: the smoothest blocks of
/// smaller images are not smooth.
const LEAST_SAMPLES: usize = 6000;
/// Maximum ratio of the level in ten times as many blocks to that in the smoothest: noise is the
/// same in both, texture is not.
const EVEN: f64 = 1.15;
/// Number of groups of blocks by brightness, and minimum ratio of the variances of the brightest
/// and the darkest for counts.
const GROUPS: usize = 8;
const DEPENDENT: f64 = 2.0;
/// Minimum correlation of variance and brightness for counts.
const LINEAR: f64 = 0.8;

/// Noise detected in an image, in units of its samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DetectedNoise {
    /// Too little to be distinguished from the image.
    None,
    /// White Gaussian noise.
    White {
        /// Standard deviation.
        sigma: f64,
    },
    /// Noise correlated between neighbouring samples, as in photographs processed by a camera.
    Correlated {
        /// Standard deviation.
        sigma: f64,
    },
    /// Noise whose variance grows with the brightness: `gain * brightness + sigma^2`.
    SignalDependent {
        /// Sample value of one count.
        gain: f64,
        /// Standard deviation at brightness 0.
        sigma: f64,
    },
    /// Isolated black and white samples.
    Impulses {
        /// Estimated fraction of the samples.
        fraction: f64,
    },
}

impl DetectedNoise {
    /// The noise to remove; `None` if there is none.
    pub fn to_noise(self) -> Option<Noise> {
        match self {
            Self::None => None,
            Self::White { sigma } => Some(Noise::Gaussian { sigma: Some(sigma) }),
            Self::Correlated { sigma } => Some(Noise::Correlated { sigma: Some(sigma) }),
            Self::SignalDependent { gain, sigma } => Some(Noise::Mixed { gain, sigma }),
            Self::Impulses { .. } => Some(Noise::Impulse { share: None }),
        }
    }
}

impl fmt::Display for DetectedNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "no noise"),
            Self::White { sigma } => write!(f, "white noise, level {sigma:.3}"),
            Self::Correlated { sigma } => write!(f, "correlated noise, level {sigma:.3}"),
            Self::SignalDependent { gain, sigma } => {
                write!(
                    f,
                    "noise that grows with the brightness, gain {gain:.3}, level {sigma:.3} in \
                     black"
                )
            }
            Self::Impulses { fraction } => {
                write!(f, "impulses, {:.1} % of the samples", 100.0 * fraction)
            }
        }
    }
}

/// Detects the noise of an image; `scale` is the white value.
///
/// Impulses are isolated samples of an extreme value. Otherwise the spectrum of the smoothest
/// blocks decides: flat for white noise, falling for correlated noise; and their variance as a
/// function of brightness shows whether it depends on the signal. A spectrum that falls while the
/// level grows with the number of blocks belongs to the image, and so do patches that come again.
pub fn detect_noise(image: &Signal<f32>, scale: f64) -> Result<DetectedNoise> {
    check_size(image)?;
    let fractions = planes(image).flat_map(|plane| plane.extremes());
    let fractions: Vec<f64> =
        fractions.map(|e| e.fraction).filter(|f| *f >= LEAST_FRACTION).collect();
    if !fractions.is_empty() {
        return Ok(DetectedNoise::Impulses {
            fraction: fractions.iter().sum::<f64>() / image.channels() as f64,
        });
    }
    let size = sheet(image.extent());
    let spectra = |multiple: usize| -> Vec<Spectrum> {
        (0..image.channels()).map(|c| Spectrum::of(image.channel(c), size, multiple)).collect()
    };
    let smoothest = spectra(1);
    let mean = |values: &[Spectrum], of: fn(&Spectrum) -> f64| {
        (values.iter().map(|s| of(s).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    };
    let repeated = || (0..image.channels()).any(|c| repeats(image.channel(c), size));
    let finest = noise_level(image)?;
    let enough = image.extent().volume() >= LEAST_SAMPLES;
    if enough && mean(&smoothest, Spectrum::correlation) > CORRELATED {
        let sigma = mean(&smoothest, Spectrum::level);
        let even = mean(&spectra(10), Spectrum::level) <= EVEN * sigma;
        let quiet = (0..image.channels()).filter_map(|c| quietest(image.channel(c), size, sigma));
        let everywhere = quiet.reduce(f64::min).is_some_and(|level| level >= QUIETEST * sigma);
        let channels = || smoothest.iter().enumerate();
        let of_noise = channels().all(|(_, spectrum)| spectrum.frequencies() >= FREQUENCIES);
        let smooth =
            channels().any(|(c, spectrum)| common(image.channel(c), size, spectrum) <= COMMON);
        let likely = everywhere
            && even
            && of_noise
            && smooth
            && (LEAST_CORRELATED * scale..=MOST_CORRELATED * scale).contains(&sigma)
            && finest >= LEAST_FINEST * sigma;
        let found = likely && !repeated();
        return Ok(if found { DetectedNoise::Correlated { sigma } } else { DetectedNoise::None });
    }
    let sigma = finest;
    if sigma < LEAST_WHITE * scale || repeated() {
        return Ok(DetectedNoise::None);
    }
    let measures = (0..image.channels()).flat_map(|c| measure(image.channel(c), size));
    Ok(signal_dependent(measures.collect()).unwrap_or(DetectedNoise::White { sigma }))
}

/// Fits a line to the variances as a function of brightness; requires a steep slope and a good fit.
fn signal_dependent(mut measures: Vec<Measure>) -> Option<DetectedNoise> {
    measures.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    let length = measures.len().div_ceil(GROUPS).max(1);
    let points: Vec<[f64; 2]> = measures
        .chunks_mut(length)
        .map(|group| {
            let brightness =
                group.iter().map(|m| f64::from(m.mean)).sum::<f64>() / group.len() as f64;
            [brightness, level_of(group).powi(2)]
        })
        .collect();
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&[f64; 2]) -> f64| points.iter().map(of).sum::<f64>() / count;
    let [x, y] = [0, 1].map(|axis| mean(&|p| p[axis]));
    let covariance = mean(&|p| (p[0] - x) * (p[1] - y));
    let [spread_x, spread_y] = [mean(&|p| (p[0] - x).powi(2)), mean(&|p| (p[1] - y).powi(2))];
    let gain = covariance / spread_x.max(f64::MIN_POSITIVE);
    let at_black = y - gain * x;
    let ends = [points.first()?, points.last()?].map(|p| at_black + gain * p[0]);
    let steep = ends[1] > DEPENDENT * ends[0].max(f64::MIN_POSITIVE);
    let linear = covariance >= LINEAR * (spread_x * spread_y).sqrt();
    (gain > 0.0 && points[0][0] >= 0.0 && steep && linear)
        .then(|| DetectedNoise::SignalDependent { gain, sigma: at_black.max(0.0).sqrt() })
}
