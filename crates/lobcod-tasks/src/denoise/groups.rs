//! Denoising by groups of similar patches.

use super::params::Effort;
use crate::nonlocal::{Input, NoiseLeft, Pass, Shape, Shrinkage, Task};
use lobcod::run::Run;
use lobcod::{Extent, Result, Signal, Status};

/// Median variance of the blocks of a clean image, in units of that of the noise, below which noise
/// is strong and above which it is weak: the stronger the noise compared with details, the larger
/// the patches that give the best results.
const WEAK_SIGNAL: f64 = 0.22;
const STRONG_SIGNAL: f64 = 1.1;
/// Size of those blocks; they overlap by half.
const BLOCK: usize = 8;
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

/// Threshold of the first pass for colour differences. Their noise was not matched, so the largest
/// singular value that noise explains is larger than in the brightness.
const THRESHOLD_OF_DIFFERENCES: f32 = 7.0;
/// Groups of colour differences are larger by this factor in the last passes: there is less to
/// tell from noise than in the brightness.
const LARGER: usize = 3;

/// Groups of this many square patches at most `window` pixels apart.
const fn flat(side: usize, count: usize, window: usize) -> Shape {
    let (patch, window) = ([1, side, side], [0, window, window]);
    Shape { patch, window, count, others: count, step: [1, 4, 4] }
}

/// The same with larger groups of colour differences.
const fn flat_last(side: usize, count: usize) -> Shape {
    Shape { others: LARGER * count, ..flat(side, count, 30) }
}

/// Groups of this many patches of some slices of a stack.
const fn solid(slices: usize, count: usize) -> Shape {
    let (patch, window) = ([slices, 4, 4], [4, 8, 8]);
    Shape { patch, window, count, others: count, step: [2, 2, 2] }
}

const FOR_WEAK_NOISE: Shapes =
    Shapes { first: flat(6, 70, 20), threshold: 5.66, last: [flat_last(6, 30), flat_last(5, 20)] };
const USUAL: Shapes =
    Shapes { first: flat(7, 60, 20), threshold: 5.66, last: [flat_last(6, 30), flat_last(8, 40)] };
const FOR_STRONG_NOISE: Shapes =
    Shapes { first: flat(7, 60, 20), threshold: 5.66, last: [flat_last(7, 40), flat_last(9, 50)] };
const FOR_STACKS: Shapes =
    Shapes { first: solid(4, 60), threshold: 7.0, last: [solid(4, 30), solid(3, 24)] };

/// Removes white noise of level `sigma`.
///
/// The first pass groups the patches of the noisy image and suppresses the principal components
/// that noise alone explains. The last groups the patches of that result, takes its spectrum as
/// that of the clean image, and applies the Wiener filter to the noisy patches. [`Effort::Best`]
/// repeats the first pass with a part of the removed noise added back, and averages two last passes
/// with patches of different sizes. The observer is shown the image so far as `displayed` makes it.
pub(super) fn denoise(
    effort: Effort,
    threads: usize,
    image: &Signal<f32>,
    sigma: f64,
    displayed: &dyn Fn(&Signal<f32>) -> Signal<f32>,
    run: &mut Run,
) -> Result<(Signal<f32>, Status)> {
    let scaled = |samples: &[f32], factor: f64| -> Vec<f32> {
        samples.iter().map(|&x| (f64::from(x) * factor) as f32).collect()
    };
    let unscaled = |samples: &[f32]| {
        Signal::from_planar(image.extent(), image.channels(), scaled(samples, sigma))
    };
    let noisy = scaled(image.data(), 1.0 / sigma);
    let shapes = shapes(&noisy[..image.extent().volume()], image.extent());
    let (first, last) = passes(shapes, effort, image.extent());
    let rounds = if effort == Effort::Best { 2 } else { 1 };
    let count = rounds + last.len();
    let mut status = Status::Converged;
    let mut pass = |number: usize, pass: &Pass, input: Input<'_>, status: &mut Status| {
        pass.run(input, threads, &mut |fraction, so_far| {
            run.advance((number as f64 + fraction) / count as f64);
            run.observer().preview(&mut || Ok(displayed(&unscaled(&so_far())?)));
            run.pause().inspect(|&ended| *status = ended).is_none()
        })
    };
    let thresholds = [shapes.threshold, shapes.threshold.max(THRESHOLD_OF_DIFFERENCES)];
    let thresholds = thresholds.map(Shrinkage::Threshold);
    let task = Task::Shrink(thresholds, NoiseLeft::Level(1.0));
    let plain = Input { samples: &noisy, guide: None, task };
    let mut clean = pass(0, &first, plain, &mut status);
    // A later pass that was ended leaves noise where it has not been, so it is not used.
    for number in 1..rounds {
        if status != Status::Converged {
            break;
        }
        let removed: Vec<f32> =
            noisy.iter().zip(&clean).map(|(y, x)| (1.0 - ADDED_BACK) * (y - x)).collect();
        let samples: Vec<f32> = noisy.iter().zip(&removed).map(|(y, r)| y - r).collect();
        let task = Task::Shrink(thresholds, NoiseLeft::After(&removed, NOISE_LEFT));
        let next =
            pass(number, &first, Input { samples: &samples, guide: None, task }, &mut status);
        if status == Status::Converged {
            clean = next;
        }
    }
    let mut mean: Vec<f32> = Vec::new();
    for (i, last) in last.iter().enumerate() {
        if status != Status::Converged {
            break;
        }
        let task = Task::Shrink([Shrinkage::Wiener; 2], NoiseLeft::Level(1.0));
        let input = Input { samples: &noisy, guide: Some(&clean), task };
        let next = pass(rounds + i, last, input, &mut status);
        if status == Status::Converged {
            mean.resize(next.len(), 0.0);
            let weight = 1.0 / (i + 1) as f32;
            mean.iter_mut().zip(&next).for_each(|(mean, x)| *mean += weight * (x - *mean));
        }
    }
    let result = if mean.is_empty() { clean } else { mean };
    Ok((unscaled(&result)?, status))
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
    match block_variance(noisy, extent) - 1.0 {
        signal if signal < WEAK_SIGNAL => &FOR_STRONG_NOISE,
        signal if signal < STRONG_SIGNAL => &USUAL,
        _ => &FOR_WEAK_NOISE,
    }
}

/// The median variance of the blocks of an image.
fn block_variance(samples: &[f32], extent: Extent) -> f64 {
    let [_, height, width] = extent.padded();
    let (rows, columns) = (BLOCK.min(height), BLOCK.min(width));
    let starts = |len: usize, size: usize| (0..=len - size).step_by(BLOCK / 2);
    let variance = |y: usize, x: usize| {
        let inside = (y..y + rows).flat_map(|y| &samples[y * width + x..][..columns]);
        let (sum, squares) = inside.fold((0.0, 0.0), |(sum, squares), &sample| {
            let sample = f64::from(sample);
            (sum + sample, squares + sample * sample)
        });
        let count = (rows * columns) as f64;
        (squares - sum * sum / count) / (count - 1.0).max(1.0)
    };
    let mut all: Vec<f64> = starts(height, rows)
        .flat_map(|y| starts(width, columns).map(move |x| (y, x)))
        .map(|(y, x)| variance(y, x))
        .collect();
    let middle = all.len() / 2;
    *all.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The first pass and the last ones.
fn passes(shapes: &Shapes, effort: Effort, extent: Extent) -> (Pass, Vec<Pass>) {
    let size = extent.padded();
    let count = if effort == Effort::Best { shapes.last.len() } else { 1 };
    let last = shapes.last[..count].iter().map(|&shape| Pass::new(size, shape));
    (Pass::new(size, shapes.first), last.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_between_flat_areas_is_not_taken_for_detail() {
        let extent = Extent::new(&[40, 40]).unwrap();
        let noise = |i: usize| (i.wrapping_mul(2_654_435_761) % 1009) as f32 / 1009.0 - 0.5;
        let image = |factor: f32, detail: f32| -> Vec<f32> {
            let sample = |i: usize| {
                let stripe = if i.is_multiple_of(3) { detail } else { 0.0 };
                factor * noise(i) + if i % 40 < 20 { 0.0 } else { 100.0 } + stripe
            };
            (0..1600).map(sample).collect()
        };
        let noisy = image(12f32.sqrt(), 0.0);
        let variance = block_variance(&noisy, extent);
        assert!((variance - 1.0).abs() < 0.2, "{variance}");
        let widest = |samples: &[f32]| shapes(samples, extent).last[1].patch[2];
        assert_eq!(widest(&noisy), 9);
        assert_eq!(widest(&image(12f32.sqrt(), 9.0)), 5);
    }
}
