//! Denoising by groups of similar patches.

use super::params::Effort;
use crate::nonlocal::{Input, NoiseLeft, Pass, Shape, Shrinkage};
use lobcod::run::Run;
use lobcod::{Extent, Result, Signal, Status};

/// Variance of a clean image, in units of that of the noise, below which noise is strong and above
/// which it is weak: the stronger the noise, the larger the patches that give the best results.
const WEAK_SIGNAL: f64 = 2.0;
const STRONG_SIGNAL: f64 = 9.0;
/// Fraction of what the first pass removed that the extra pass of [`Effort::Best`] adds back, and
/// fraction of the noise left that counts.
const ADDED_BACK: f32 = 0.3;
const NOISE_LEFT: f32 = 0.45;

/// Patches and groups of the first pass, factor of its threshold, and patches and groups of the
/// last passes; [`Effort::Standard`] has one of them.
struct Shapes {
    first: Shape,
    threshold: f32,
    last: [Shape; 2],
}

/// Groups of this many square patches at most `window` pixels apart.
const fn flat(side: usize, count: usize, window: usize) -> Shape {
    Shape { patch: [1, side, side], window: [0, window, window], count, step: [1, 4, 4] }
}

/// Groups of this many patches of some slices of a stack.
const fn solid(slices: usize, count: usize) -> Shape {
    Shape { patch: [slices, 4, 4], window: [4, 8, 8], count, step: [2, 2, 2] }
}

const FOR_WEAK_NOISE: Shapes =
    Shapes { first: flat(6, 70, 20), threshold: 5.66, last: [flat(6, 30, 30), flat(5, 20, 30)] };
const USUAL: Shapes =
    Shapes { first: flat(7, 60, 20), threshold: 5.66, last: [flat(6, 30, 30), flat(8, 40, 30)] };
const FOR_STRONG_NOISE: Shapes =
    Shapes { first: flat(7, 60, 20), threshold: 5.66, last: [flat(7, 40, 30), flat(9, 50, 30)] };
const FOR_STACKS: Shapes =
    Shapes { first: solid(4, 60), threshold: 7.0, last: [solid(4, 30), solid(3, 24)] };

/// Removes white noise of level `sigma`.
///
/// The first pass groups the patches of the noisy image and suppresses the principal components
/// that noise alone explains. The last groups the patches of that result, takes its spectrum as
/// that of the clean image, and applies the Wiener filter to the noisy patches. [`Effort::Best`]
/// repeats the first pass with a part of the removed noise added back, and averages two last passes
/// with patches of different sizes.
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
    let shapes = shapes(&noisy[..image.extent().volume()], image.extent());
    let (first, last) = passes(shapes, effort, image.extent());
    let rounds = if effort == Effort::Best { 2 } else { 1 };
    let count = rounds + last.len();
    let mut status = Status::Converged;
    let mut pass = |number: usize, pass: &Pass, input: Input<'_>, status: &mut Status| {
        pass.run(input, threads, &mut |fraction: f64| {
            run.advance((number as f64 + fraction) / count as f64);
            run.pause().inspect(|&ended| *status = ended).is_none()
        })
    };
    let plain = Input { samples: &noisy, guide: None, noise: NoiseLeft::Level(1.0) };
    let mut clean = pass(0, &first, plain, &mut status);
    // A later pass that was ended leaves noise where it has not been, so it is not used.
    for number in 1..rounds {
        if status != Status::Converged {
            break;
        }
        let removed: Vec<f32> =
            noisy.iter().zip(&clean).map(|(y, x)| (1.0 - ADDED_BACK) * (y - x)).collect();
        let samples: Vec<f32> = noisy.iter().zip(&removed).map(|(y, r)| y - r).collect();
        let noise = NoiseLeft::After(&removed, NOISE_LEFT);
        let next =
            pass(number, &first, Input { samples: &samples, guide: None, noise }, &mut status);
        if status == Status::Converged {
            clean = next;
        }
    }
    let mut mean: Vec<f32> = Vec::new();
    for (i, last) in last.iter().enumerate() {
        if status != Status::Converged {
            break;
        }
        let input = Input { guide: Some(&clean), ..plain };
        let next = pass(rounds + i, last, input, &mut status);
        if status == Status::Converged {
            mean.resize(next.len(), 0.0);
            let weight = 1.0 / (i + 1) as f32;
            mean.iter_mut().zip(&next).for_each(|(mean, x)| *mean += weight * (x - *mean));
        }
    }
    let result = if mean.is_empty() { clean } else { mean };
    let data = scaled(&result, sigma);
    Ok((Signal::from_planar(image.extent(), image.channels(), data)?, status))
}

/// Working memory besides the image: the scaled image, the guide, the mean of the last passes or
/// the input of an extra pass and what was removed, and a pass.
pub(super) fn memory(effort: Effort, extent: Extent, channels: usize, threads: usize) -> u64 {
    let shapes = if is_stack(extent) { &FOR_STACKS } else { &FOR_STRONG_NOISE };
    let (first, last) = passes(shapes, effort, extent);
    let pass = |pass: &Pass| pass.memory(channels, threads);
    let most = last.iter().map(pass).fold(pass(&first), u64::max);
    most + (4 * channels * extent.volume() * size_of::<f32>()) as u64
}

fn is_stack(extent: Extent) -> bool {
    extent.padded()[0] > 1
}

/// The shapes for an image with noise of level 1.
fn shapes(noisy: &[f32], extent: Extent) -> &'static Shapes {
    if is_stack(extent) {
        return &FOR_STACKS;
    }
    let count = noisy.len() as f64;
    let mean = noisy.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = noisy.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
    match variance - 1.0 {
        signal if signal < WEAK_SIGNAL => &FOR_STRONG_NOISE,
        signal if signal < STRONG_SIGNAL => &USUAL,
        _ => &FOR_WEAK_NOISE,
    }
}

/// The first pass and the last ones.
fn passes(shapes: &Shapes, effort: Effort, extent: Extent) -> (Pass, Vec<Pass>) {
    let pass = |shape: Shape, shrinkage: Shrinkage| Pass::new(extent.padded(), shape, shrinkage);
    let count = if effort == Effort::Best { shapes.last.len() } else { 1 };
    let last = shapes.last[..count].iter().map(|&shape| pass(shape, Shrinkage::Wiener));
    (pass(shapes.first, Shrinkage::Threshold(shapes.threshold)), last.collect())
}
