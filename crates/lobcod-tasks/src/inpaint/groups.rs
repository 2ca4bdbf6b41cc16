//! The average of the answers, improved by groups of similar patches.
//!
//! The holes hold the average; its error is treated as noise of a level that falls from round to
//! round. A round shrinks groups of similar patches and puts the known samples back.

use super::scene::{Scene, Use};
use crate::nonlocal::{Input, NoiseLeft, Pass, Shape, Shrinkage};
use lobcod::run::Run;
use lobcod::{Extent, Real, Result, Signal};

/// Sizes of patches and groups.
const SHAPE: Shape =
    Shape { patch: [1, 8, 8], window: [0, 20, 20], count: 60, others: 60, step: [1, 4, 4] };
/// The last level of noise, as a fraction of the first.
const LAST_LEVEL: f64 = 1.0 / 8.0;
/// Factor of the change of missing samples in a round: larger than 1, because shrunk groups move
/// them too little.
const OVERSHOOT: f32 = 1.9;
/// Rounds at the last level with the held-out samples included again.
const REFITS: usize = 2;

/// Improves an image, given with its errors at the held-out samples; returns the new image and the
/// new errors.
pub fn improve<T: Real>(
    rounds: usize,
    threads: usize,
    scene: &Scene<T>,
    image: &Signal<T>,
    errors: &[f64],
    run: &mut Run,
) -> Result<(Signal<T>, Vec<f64>)> {
    let level = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    if level == 0.0 {
        return Ok((image.clone(), errors.to_vec()));
    }
    // In units of the first level, so that numbers are of moderate size.
    let scaled = |x: T| (x.to_f64() / level) as f32;
    let given: Vec<f32> = scene.signal.data().iter().map(|&x| scaled(x)).collect();
    let mut samples: Vec<f32> = image.data().iter().map(|&x| scaled(x)).collect();
    put_back(&mut samples, &given, scene.weights(Use::Fitted));
    for (&i, error) in scene.held_out.iter().zip(errors) {
        samples[i] = given[i] + (error / level) as f32;
    }
    let mut errors = errors.to_vec();
    let pass = Pass::new(image.extent().padded(), SHAPE, Shrinkage::Subtract);
    for round in 0..rounds + REFITS {
        let fall = round.min(rounds - 1) as f64 / (rounds - 1).max(1) as f64;
        let noise = NoiseLeft::Level(LAST_LEVEL.powf(fall) as f32);
        let mut ended = false;
        let mut proceed = |part: f64| {
            run.advance((round as f64 + part) / (rounds + REFITS) as f64);
            ended = run.pause().is_some();
            !ended
        };
        let input = Input { samples: &samples, guide: None, noise };
        let shrunk = pass.run(input, threads, &mut proceed);
        if ended {
            break;
        }
        samples.iter_mut().zip(&shrunk).for_each(|(x, s)| *x += OVERSHOOT * (s - *x));
        let refit = round >= rounds;
        let of = if refit { Use::Known } else { Use::Fitted };
        put_back(&mut samples, &given, scene.weights(of));
        if !refit {
            let error = |&i: &usize| level * f64::from(samples[i] - given[i]);
            errors = scene.held_out.iter().map(error).collect();
        }
    }
    put_back(&mut samples, &given, scene.weights(Use::Known));
    let data = samples.iter().map(|&x| T::from_f64(level * f64::from(x))).collect();
    Ok((Signal::from_planar(image.extent(), image.channels(), data)?, errors))
}

/// Working memory in bytes.
pub fn memory(extent: Extent, channels: usize, threads: usize) -> u64 {
    let pass = Pass::new(extent.padded(), SHAPE, Shrinkage::Subtract);
    pass.memory(channels, threads) + (2 * channels * extent.volume() * size_of::<f32>()) as u64
}

/// Replaces known samples by the given ones.
fn put_back<T: Real>(samples: &mut [f32], given: &[f32], weights: &[T]) {
    for ((sample, given), weight) in samples.iter_mut().zip(given).zip(weights) {
        if *weight != T::ZERO {
            *sample = *given;
        }
    }
}
