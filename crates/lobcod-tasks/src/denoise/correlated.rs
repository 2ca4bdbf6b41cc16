//! Correlated noise: coarse scales first, each whitened by its spectrum.

use super::level::check_size;
use super::local;
use super::params::DenoiseParams;
use super::spectrum::Spectrum;
use lobcod::run::Run;
use lobcod::{Dictionary, Extent, Result, Signal, Status};

/// Minimum side of an image that is also denoised at half the resolution.
const COARSEST: usize = 96;

/// Removes correlated noise from one channel; returns it with the status.
///
/// Patches are too small for slowly varying noise, so the image at half the resolution is denoised
/// first and the difference is added back.
pub(super) fn denoise(
    params: &DenoiseParams,
    threads: usize,
    channel: &Signal<f32>,
    factor: f64,
    dictionary: &Dictionary<f32>,
    run: &mut Run,
) -> Result<(Signal<f32>, Dictionary<f32>, Status)> {
    let [_, height, width] = channel.extent().padded();
    let mut input = channel.clone();
    if height.min(width) >= COARSEST {
        let coarse = halved(channel)?;
        let (clean, _, status) = denoise(params, threads, &coarse, factor, dictionary, run)?;
        add_enlarged(&mut input, &clean.minus(&coarse)?);
        if status != Status::Converged {
            return Ok((input, dictionary.clone(), status));
        }
    }
    check_size(&input)?;
    let spectrum = Spectrum::of(input.data(), [height, width], 1).scaled(factor);
    local::denoise(params, threads, &input, local::NoiseModel::Spectrum(&spectrum), dictionary, run)
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
