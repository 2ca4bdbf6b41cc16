//! Takes noise off a picture: every patch by itself, and by one pursuit of the whole picture.
//!
//! `cargo run --release --example denoise`

use lobcod::tasks::denoise::{DenoiseParams, Method, Noise};
use lobcod::{Dictionary, Result, metrics, procedural};

const SIZE: usize = 96;
const SIGMA: f64 = 20.0;

/// A number from 0 to 1 that looks drawn at random: the bits of `i`, mixed.
fn even(i: u32) -> f64 {
    let mut bits = i;
    for _ in 0..2 {
        bits = (bits >> 16 ^ bits).wrapping_mul(0x045d_9f3b);
    }
    f64::from(bits >> 16 ^ bits) / f64::from(u32::MAX)
}

/// Number `i` of a sequence that is nearly normal: four even numbers added up.
fn noise(i: u32) -> f64 {
    (even(4 * i + 1) + even(4 * i + 2) + even(4 * i + 3) + even(4 * i + 4) - 2.0) * 3f64.sqrt()
}

fn main() -> Result<()> {
    let picture = procedural::grey_still_life(SIZE)?;
    let mut noisy = picture.clone();
    noisy.data_mut().iter_mut().enumerate().for_each(|(i, x)| *x += (SIGMA * noise(i as u32)) as f32);
    println!("noisy {:.2} dB", metrics::psnr(&noisy, &picture, 255.0)?);
    for (name, method) in [("local", Method::Local), ("convolutional", Method::Convolutional)] {
        let params = DenoiseParams { method, ..DenoiseParams::new(Noise::Gaussian { sigma: Some(SIGMA) }) };
        let clean = params.check()?.run(&noisy, &Dictionary::natural(), &mut ())?.picture;
        println!("{name} {:.2} dB", metrics::psnr(&clean, &picture, 255.0)?);
    }
    Ok(())
}
