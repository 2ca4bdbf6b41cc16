//! Denoises an image: by groups of similar patches, patch by patch, and by one pursuit of the whole
//! image.
//!
//! `cargo run --release --example denoise`

use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Result};
use lobcod_tasks::denoise::{DenoiseParams, Effort, Method, Noise};
use lobcod_tasks::{metrics, synthetic};

const SIZE: usize = 96;
const SIGMA: f64 = 20.0;

/// A pseudo-random number from 0 to 1: the bits of `i`, mixed.
fn even(i: u32) -> f64 {
    let mut bits = i;
    for _ in 0..2 {
        bits = (bits >> 16 ^ bits).wrapping_mul(0x045d_9f3b);
    }
    f64::from(bits >> 16 ^ bits) / f64::from(u32::MAX)
}

/// Approximately normal noise: the sum of four uniform numbers.
fn noise(i: u32) -> f64 {
    (even(4 * i + 1) + even(4 * i + 2) + even(4 * i + 3) + even(4 * i + 4) - 2.0) * 3f64.sqrt()
}

fn main() -> Result<()> {
    let image = synthetic::grey_still_life(SIZE)?;
    let mut noisy = image.clone();
    noisy
        .data_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x += (SIGMA * noise(i as u32)) as f32);
    println!("noisy {:.2} dB", metrics::psnr(&noisy, &image, 255.0)?);
    for (name, method) in [
        ("groups", Method::Groups(Effort::Standard)),
        ("local", Method::Local),
        ("convolutional", Method::Convolutional),
    ] {
        let params =
            DenoiseParams::new(Noise::Gaussian { sigma: Some(SIGMA) }).with(|p| p.method = method);
        let clean = params
            .check()?
            .run(&CpuEngine::new(0)?, &noisy, &Dictionary::natural(), &mut ())?
            .image;
        println!("{name} {:.2} dB", metrics::psnr(&clean, &image, 255.0)?);
    }
    Ok(())
}
