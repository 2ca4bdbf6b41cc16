//! Denoising by groups of similar patches.

use super::params::Effort;
use crate::nonlocal::{Input, NoiseLeft, Pass, Shape, Shrinkage};
use lobcod::run::Run;
use lobcod::{Extent, Result, Signal, Status};

/// Maximum distance between the patches of a group.
const WINDOW: usize = 20;
/// Distance between reference patches.
const STEP: usize = 4;
/// Variance of a clean image, in units of that of the noise, below which noise is strong: larger
/// patches and groups then give better results.
const WEAK_SIGNAL: f64 = 2.0;
/// Fraction of what the first pass removed that the extra pass of [`Effort::Best`] adds back, and
/// fraction of the noise left that counts.
const ADDED_BACK: f32 = 0.3;
const NOISE_LEFT: f32 = 0.45;

/// Side of a patch and number of patches in a group, in the first pass and in the last; factor of
/// the threshold.
struct Sizes {
    first: (usize, usize),
    last: (usize, usize),
    threshold: f32,
}

const USUAL: Sizes = Sizes { first: (7, 90), last: (8, 60), threshold: 5.66 };
const FOR_STRONG_NOISE: Sizes = Sizes { first: (8, 120), last: (9, 70), threshold: 6.2 };

/// Removes white noise of level `sigma`.
///
/// The first pass groups the patches of the noisy image and suppresses the principal components
/// that noise alone explains. The last groups the patches of that result, takes its spectrum as
/// that of the clean image, and applies the Wiener filter to the noisy patches.
/// [`Effort::Best`] repeats the first pass with a part of the removed noise added back.
pub(super) fn denoise(
    effort: Effort,
    threads: usize,
    image: &Signal<f32>,
    sigma: f64,
    run: &mut Run,
) -> Result<(Signal<f32>, Status)> {
    let scaled = |samples: &[f32], factor: f64| -> Vec<f32> {
        samples.iter().map(|&x| (f64::from(x) * factor) as f32).collect()
    };
    let noisy = scaled(image.data(), 1.0 / sigma);
    let (first, last) = passes(sizes(&noisy[..image.extent().volume()]), image.extent());
    let count = if effort == Effort::Best { 3 } else { 2 };
    let mut status = Status::Converged;
    let mut clean = noisy.clone();
    for number in 0..count {
        let mut proceed = |fraction: f64| {
            run.advance((number as f64 + fraction) / count as f64);
            run.pause().inspect(|&ended| status = ended).is_none()
        };
        let plain = Input { samples: &noisy, guide: None, noise: NoiseLeft::Level(1.0) };
        let next = if number == 0 {
            first.run(plain, threads, &mut proceed)
        } else if number + 1 < count {
            let removed: Vec<f32> =
                noisy.iter().zip(&clean).map(|(y, x)| (1.0 - ADDED_BACK) * (y - x)).collect();
            let samples: Vec<f32> = noisy.iter().zip(&removed).map(|(y, r)| y - r).collect();
            let noise = NoiseLeft::After(&removed, NOISE_LEFT);
            first.run(Input { samples: &samples, guide: None, noise }, threads, &mut proceed)
        } else {
            last.run(Input { guide: Some(&clean), ..plain }, threads, &mut proceed)
        };
        // A later pass that was ended leaves noise where it has not been.
        if number == 0 || status == Status::Converged {
            clean = next;
        }
        if status != Status::Converged {
            break;
        }
    }
    let data = scaled(&clean, sigma);
    Ok((Signal::from_planar(image.extent(), image.channels(), data)?, status))
}

/// Working memory besides the image: the scaled image, the guide, in an extra pass its input and
/// what was removed, and a pass.
pub(super) fn memory(effort: Effort, extent: Extent, channels: usize, threads: usize) -> u64 {
    let (first, last) = passes(&FOR_STRONG_NOISE, extent);
    let pass = first.memory(channels, threads).max(last.memory(channels, threads));
    let planes = if effort == Effort::Best { 4 } else { 2 };
    pass + (planes * channels * extent.volume() * size_of::<f32>()) as u64
}

/// The sizes for an image with noise of level 1.
fn sizes(noisy: &[f32]) -> &'static Sizes {
    let count = noisy.len() as f64;
    let mean = noisy.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = noisy.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
    if variance - 1.0 < WEAK_SIGNAL { &FOR_STRONG_NOISE } else { &USUAL }
}

fn passes(sizes: &Sizes, extent: Extent) -> (Pass, Pass) {
    let pass = |(side, count): (usize, usize), shrinkage: Shrinkage| {
        let shape = Shape {
            patch: [1, side, side],
            window: [0, WINDOW, WINDOW],
            count,
            step: [1, STEP, STEP],
        };
        Pass::new(extent.padded(), shape, shrinkage)
    };
    (pass(sizes.first, Shrinkage::Threshold(sizes.threshold)), pass(sizes.last, Shrinkage::Wiener))
}
