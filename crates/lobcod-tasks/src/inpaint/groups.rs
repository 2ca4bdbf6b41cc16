//! The average of the answers, improved by groups of similar patches.
//!
//! The holes hold the average at first. A round groups similar patches, estimates the mean and the
//! covariance of every group, and predicts the missing samples of its patches from the known ones.
//! Rounds take turns between two sizes of patches, and the last two are averaged.

use super::scene::{Scene, Use};
use crate::nonlocal::{Input, Pass, Shape, Task};
use lobcod::run::Run;
use lobcod::{Extent, Real, Result, Signal};

/// How the average of the answers is improved.
#[derive(Clone, Copy)]
pub struct Improvement {
    /// Sizes of patches and groups, in turns.
    shapes: [Shape; 2],
    /// Rounds at the last level with the held-out samples included again.
    refits: usize,
    /// Of this many patches of a group, one is used.
    one_of: usize,
}

/// Two sizes of patches, and a final round of each.
pub const THOROUGH: Improvement =
    Improvement { shapes: [square(6, 40, 30, 3), square(8, 60, 30, 4)], refits: 2, one_of: 2 };
/// Fewer and smaller patches from the close surroundings: a fraction of the time.
pub const QUICK: Improvement =
    Improvement { shapes: [square(5, 30, 12, 3); 2], refits: 1, one_of: 4 };
/// Noise that the known samples are taken to have in the first round and in the last, as fractions
/// of the error of the average: it limits the principal components that are used.
const LEVELS: [f64; 2] = [0.5, 0.1];
/// Factor of the change of missing samples in a round: larger than 1, because covariances follow
/// the old estimate.
const OVERSHOOT: f32 = 1.5;

/// Groups of this many square patches of a window, at this distance from each other.
const fn square(side: usize, count: usize, window: usize, step: usize) -> Shape {
    Shape {
        patch: [1, side, side],
        window: [0, window, window],
        count,
        others: count,
        step: [1, step, step],
    }
}

/// Improves an image, given with its errors at the held-out samples; returns the new image and the
/// new errors.
pub fn improve<T: Real>(
    (improvement, rounds): (Improvement, usize),
    threads: usize,
    scene: &Scene<T>,
    image: &Signal<T>,
    errors: &[f64],
    run: &mut Run,
) -> Result<(Signal<T>, Vec<f64>)> {
    let scale = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    if scale == 0.0 {
        return Ok((image.clone(), errors.to_vec()));
    }
    run.note_memory(memory(improvement, image.extent(), image.channels(), threads));
    // In units of that error, so that numbers are of moderate size.
    let scaled = |x: T| (x.to_f64() / scale) as f32;
    let unscaled = |samples: &[f32]| {
        let data = samples.iter().map(|&x| T::from_f64(scale * f64::from(x))).collect();
        Signal::from_planar(image.extent(), image.channels(), data)
    };
    let known = |of: Use| scene.weights(of).iter().map(|&w| w != T::ZERO).collect::<Vec<bool>>();
    let given: Vec<f32> = scene.signal.data().iter().map(|&x| scaled(x)).collect();
    let mut samples: Vec<f32> = image.data().iter().map(|&x| scaled(x)).collect();
    put_back(&mut samples, &given, &known(Use::Fitted));
    for (&i, error) in scene.held_out.iter().zip(errors) {
        samples[i] = given[i] + (error / scale) as f32;
    }
    let mut errors = errors.to_vec();
    let mut fitted = known(Use::Fitted);
    let passes = improvement.shapes.map(|shape| Pass::new(image.extent().padded(), shape));
    let mut before = samples.clone();
    let total = rounds + improvement.refits;
    for round in 0..total {
        if round == rounds {
            fitted = known(Use::Known);
            put_back(&mut samples, &given, &fitted);
        }
        let fall = round.min(rounds - 1) as f64 / (rounds - 1).max(1) as f64;
        let level = LEVELS[0] * (LEVELS[1] / LEVELS[0]).powf(fall);
        let mut ended = false;
        let mut proceed = |part: f64, so_far: &dyn Fn() -> Vec<f32>| {
            run.advance((round as f64 + part) / total as f64);
            run.observer().preview(&mut || scene.preview(&unscaled(&so_far())?));
            ended = run.pause().is_some();
            !ended
        };
        let task = Task::Fill(&fitted, level as f32, improvement.one_of);
        let pass = &passes[round % passes.len()];
        let filled =
            pass.run(Input { samples: &samples, guide: None, task }, threads, &mut proceed);
        if ended {
            break;
        }
        before.copy_from_slice(&samples);
        let unknown = samples.iter_mut().zip(&filled).zip(&fitted).filter(|(_, known)| !**known);
        unknown.for_each(|((x, new), _)| *x += OVERSHOOT * (new - *x));
        if round < rounds {
            let mean = |i: usize| 0.5 * (samples[i] + before[i]);
            let error = |&i: &usize| scale * f64::from(mean(i) - given[i]);
            errors = scene.held_out.iter().map(error).collect();
        }
    }
    samples.iter_mut().zip(&before).for_each(|(x, before)| *x = 0.5 * (*x + before));
    put_back(&mut samples, &given, &known(Use::Known));
    Ok((unscaled(&samples)?, errors))
}

/// Working memory in bytes.
pub fn memory(improvement: Improvement, extent: Extent, channels: usize, threads: usize) -> u64 {
    let pass = |shape| Pass::new(extent.padded(), shape).memory(channels, threads);
    let most = improvement.shapes.map(pass).into_iter().fold(0, u64::max);
    most + (4 * channels * extent.volume() * size_of::<f32>()) as u64
}

/// Replaces known samples by the given ones.
fn put_back(samples: &mut [f32], given: &[f32], known: &[bool]) {
    let known = samples.iter_mut().zip(given).zip(known).filter(|(_, known)| **known);
    known.for_each(|((sample, given), _)| *sample = *given);
}
