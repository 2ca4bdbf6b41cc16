//! Noise level estimation.

use super::anscombe::Anscombe;
use super::blocks::{Blocks, LEN, SIDE, order};
use lobcod::{Error, Extent, Result, Signal};

/// Orders of the coefficients that measure texture, and first order of those that measure noise.
const TEXTURE: std::ops::RangeInclusive<usize> = 1..=7;
const NOISE: usize = 10;
/// Fractions of the blocks, smoothest first, from which the level is estimated.
const FRACTIONS: [f64; 7] = [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];
/// Relative increase of the estimate that a larger fraction of the blocks may cause: a constant,
/// and the uncertainty of an estimate times the square root of the number of its (overlapping)
/// blocks.
const RISE: f64 = 0.01;
const UNCERTAINTY: f64 = 0.5;
/// Minimum number of blocks of an estimate.
const FEWEST: usize = 60;
/// Maximum ratio of standard deviation to mean of energies accepted as noise (0.37 for white
/// noise).
const SPREAD: f64 = 0.8;
/// Refinement steps of an estimated gain.
const REFINEMENTS: usize = 4;

/// Estimates the standard deviation of white Gaussian noise; for several channels, the root mean
/// square.
///
/// The blocks of 8x8 samples with the least energy at low frequencies are smooth, so their energy
/// at high frequencies is noise (Ponomarenko et al., 2007). Since one set of frequencies selects
/// the blocks and another measures them, the selection does not bias the estimate. As many blocks
/// are used as agree with the smoothest. Constant blocks and blocks with clipped samples are
/// ignored, unless there are hardly any others.
pub fn noise_level(image: &Signal<f32>) -> Result<f64> {
    check_size(image)?;
    let level = |c: usize| level_of_channel(image.channel(c), sheet(image.extent()));
    let squares: f64 = (0..image.channels()).map(|c| level(c).powi(2)).sum();
    Ok((squares / image.channels() as f64).sqrt())
}

/// Height and width of an image, or of the slices of a stack below each other: blocks across two
/// slices are rarely smooth, so they are not used.
pub(super) fn sheet(extent: Extent) -> [usize; 2] {
    let [depth, height, width] = extent.padded();
    [depth * height, width]
}

/// Returns an error if the image has too few blocks to measure noise.
pub(super) fn check_size(image: &Signal<f32>) -> Result<()> {
    let [_, height, width] = image.extent().padded();
    let least = 2 * SIDE - 2;
    if height < least || width < least {
        return Err(Error::Shape(format!(
            "the image of {width}x{height} pixels is too small to estimate its noise; give the \
             level, or an image of at least {least} pixels per side"
        )));
    }
    Ok(())
}

/// Estimates the gain of counts with Poisson noise: the one that stabilises their noise to a level
/// of 1.
///
/// After the Anscombe transform with gain `g` the level is about `sqrt(gain / g)`, so `g` times its
/// square is a better gain.
pub fn gain_of_counts(image: &Signal<f32>) -> Result<f64> {
    let mean = image.data().iter().map(|&x| f64::from(x)).sum::<f64>() / image.data().len() as f64;
    if mean.is_nan() || mean <= 0.0 {
        return Err(Error::Data(format!(
            "the mean of the samples is {mean}, but counts are positive; give the gain, or use \
             gaussian noise"
        )));
    }
    // Start from the ratio of variance to mean, so that most samples are many counts.
    let mut gain = (noise_level(image)?.powi(2) / mean).max(f64::MIN_POSITIVE);
    for _ in 0..REFINEMENTS {
        gain *= noise_level(&Anscombe { gain, sigma: 0.0 }.forward(image))?.powi(2);
        if gain <= 0.0 {
            return Err(Error::Data(
                "no noise was found to estimate the gain from; give the gain".into(),
            ));
        }
    }
    Ok(gain)
}

/// Measurement of a block.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    /// Mean of its samples.
    pub(super) mean: f32,
    /// Energy at the frequencies of texture.
    texture: f32,
    /// Mean energy at the frequencies of noise.
    noise: f32,
}

/// Measures the blocks of a channel: those that can show noise, or all if these are too few.
pub(super) fn measure(samples: &[f32], size: [usize; 2]) -> Vec<Measure> {
    let blocks = Blocks::new(samples, size);
    let clipped = blocks.clipped_values();
    let finest = (0..LEN).filter(|&i| order(i) >= NOISE).count() as f32;
    let mut all = Vec::with_capacity(blocks.corners().len());
    let mut usable = Vec::new();
    for &corner in blocks.corners() {
        let block = blocks.transform(corner);
        let sum = |orders: std::ops::RangeInclusive<usize>| -> f32 {
            (0..LEN).filter(|&i| orders.contains(&order(i))).map(|i| block.energy[i]).sum()
        };
        let noise = sum(NOISE..=2 * SIDE) / finest;
        let measure = Measure { mean: block.mean, texture: sum(TEXTURE), noise };
        all.push(measure);
        if blocks.shows_noise(corner, clipped) {
            usable.push(measure);
        }
    }
    let enough = usable.len() >= FEWEST.max(all.len() / 50) && spread(&mut usable) <= SPREAD;
    if enough { usable } else { all }
}

fn level_of_channel(samples: &[f32], size: [usize; 2]) -> f64 {
    level_of(&mut measure(samples, size))
}

/// The level of the smoothest blocks, and of as many others as agree with them.
pub(super) fn level_of(measures: &mut [Measure]) -> f64 {
    measures.sort_by(|a, b| a.texture.total_cmp(&b.texture));
    let count = |fraction: f64| {
        ((fraction * measures.len() as f64) as usize).max(FEWEST).min(measures.len())
    };
    let level = |fraction: f64| mean_noise(&measures[..count(fraction)]).max(0.0).sqrt();
    let mut found = level(FRACTIONS[0]);
    let mut least = found;
    for fraction in &FRACTIONS[1..] {
        let next = level(*fraction);
        least = least.min(next);
        if next > least * (1.0 + RISE + UNCERTAINTY / (count(*fraction) as f64 / 2.0).sqrt()) {
            break;
        }
        found = next;
    }
    found
}

fn mean_noise(measures: &[Measure]) -> f64 {
    measures.iter().map(|m| f64::from(m.noise)).sum::<f64>() / measures.len().max(1) as f64
}

/// Standard deviation of the noise energies of the smoothest blocks, relative to their mean: large
/// if they contain structure.
fn spread(measures: &mut [Measure]) -> f64 {
    measures.sort_by(|a, b| a.texture.total_cmp(&b.texture));
    let smooth = &measures
        [..FEWEST.max((FRACTIONS[0] * measures.len() as f64) as usize).min(measures.len())];
    let mean = mean_noise(smooth);
    let squares: f64 = smooth.iter().map(|m| (f64::from(m.noise) - mean).powi(2)).sum();
    (squares / smooth.len() as f64).sqrt() / mean.max(f64::MIN_POSITIVE)
}
