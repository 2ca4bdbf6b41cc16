//! Correlated noise: coarse scales first, each whitened by its spectrum.

use super::level::check_size;
use super::local;
use super::params::DenoiseParams;
use super::spectrum::Spectrum;
use lobcod::base::box_mean;
use lobcod::run::Run;
use lobcod::{Dictionary, Extent, Result, Signal, Status};

/// Minimum side of an image that is also denoised at half the resolution.
const COARSEST: usize = 96;
/// Side of the windows in which the removed part is compared with the noise, and its maximum
/// standard deviation there, in units of the noise level.
const WINDOW: usize = 17;
const MOST_REMOVED: f32 = 1.2;

/// Removes correlated noise from one channel; returns it with the status.
///
/// Patches are too small for slowly varying noise, so the image at half the resolution is denoised
/// first and the difference is added back. What is removed is nowhere stronger than the noise: the
/// rest would be texture with the spectrum of the noise.
pub(super) fn denoise(
    params: &DenoiseParams,
    threads: usize,
    channel: &Signal<f32>,
    factor: f64,
    dictionary: &Dictionary<f32>,
    run: &mut Run,
) -> Result<(Signal<f32>, Dictionary<f32>, Status)> {
    let spectrum = spectrum_of(channel)?;
    denoise_scale(params, threads, channel, (&spectrum, factor), dictionary, run)
}

/// The same at one scale and the coarser ones, with a bound of the spectrum.
fn denoise_scale(
    params: &DenoiseParams,
    threads: usize,
    channel: &Signal<f32>,
    (bound, factor): (&Spectrum, f64),
    dictionary: &Dictionary<f32>,
    run: &mut Run,
) -> Result<(Signal<f32>, Dictionary<f32>, Status)> {
    let [_, height, width] = channel.extent().padded();
    let mut input = channel.clone();
    if height.min(width) >= COARSEST {
        let coarse = halved(channel)?;
        let spectrum = spectrum_of(&coarse)?.at_most(&bound.bound_of_half());
        let spectrum = (&spectrum, factor);
        let (clean, _, status) =
            denoise_scale(params, threads, &coarse, spectrum, dictionary, run)?;
        add_enlarged(&mut input, &clean.minus(&coarse)?);
        if status != Status::Converged {
            return Ok((input, dictionary.clone(), status));
        }
    }
    let spectrum = spectrum_of(&input)?.at_most(bound).scaled(factor);
    let noise = local::NoiseModel::Spectrum(&spectrum);
    let (mut clean, atoms, status) =
        local::denoise(params, threads, &input, noise, dictionary, run)?;
    let most = MOST_REMOVED * (factor * bound.level()) as f32;
    limit_removed(channel, &mut clean, most, threads);
    Ok((clean, atoms, status))
}

fn spectrum_of(channel: &Signal<f32>) -> Result<Spectrum> {
    check_size(channel)?;
    let [_, height, width] = channel.extent().padded();
    Ok(Spectrum::of(channel.data(), [height, width], 1))
}

/// Moves the clean image towards the noisy one where the root mean square of their difference in a
/// window exceeds a limit.
fn limit_removed(noisy: &Signal<f32>, clean: &mut Signal<f32>, most: f32, threads: usize) {
    let [_, height, width] = noisy.extent().padded();
    let removed = noisy.data().iter().zip(clean.data());
    let mut squares: Vec<f32> = removed.map(|(x, c)| (x - c).powi(2)).collect();
    box_mean(&mut squares, [height, width], WINDOW, threads);
    for ((c, x), mean) in clean.data_mut().iter_mut().zip(noisy.data()).zip(squares) {
        let level = mean.max(0.0).sqrt();
        if level > most {
            *c = x + (*c - x) * (most / level);
        }
    }
}

/// The means of 2x2 samples; an odd last row or column is dropped.
fn halved(channel: &Signal<f32>) -> Result<Signal<f32>> {
    let [_, height, width] = channel.extent().padded();
    let (rows, columns) = (height / 2, width / 2);
    let samples = channel.data();
    let mean = |i: usize| {
        let corner = 2 * (i / columns) * width + 2 * (i % columns);
        0.25 * (samples[corner]
            + samples[corner + 1]
            + samples[corner + width]
            + samples[corner + width + 1])
    };
    Signal::from_planar(Extent::new(&[rows, columns])?, 1, (0..rows * columns).map(mean).collect())
}

/// Adds an image of half the resolution, upscaled linearly.
fn add_enlarged(channel: &mut Signal<f32>, coarse: &Signal<f32>) {
    let [_, height, width] = channel.extent().padded();
    let [_, rows, columns] = coarse.extent().padded();
    let split = |i: usize, length: usize| {
        let at = (0.5 * i as f32 - 0.25).clamp(0.0, (length - 1) as f32);
        (at as usize, (at as usize + 1).min(length - 1), at.fract())
    };
    for y in 0..height {
        let (top, bottom, down) = split(y, rows);
        for x in 0..width {
            let (left, right, across) = split(x, columns);
            let row = |r: usize| {
                let line = &coarse.data()[r * columns..][..columns];
                (1.0 - across) * line[left] + across * line[right]
            };
            channel.data_mut()[y * width + x] += (1.0 - down) * row(top) + down * row(bottom);
        }
    }
}
