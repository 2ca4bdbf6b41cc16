//! Fuses two images, each sharp in one half.
//!
//! `cargo run --release --example fuse`

use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Result, Signal};
use lobcod_tasks::fuse::FuseParams;
use lobcod_tasks::{metrics, synthetic};

const SIZE: usize = 96;
/// Radius of the blur.
const REACH: usize = 2;

/// The mean of a box around every pixel, wrapped around the edges.
fn blurred(image: &Signal<f32>) -> Result<Signal<f32>> {
    let pixel = |i: usize| {
        let mut sum = 0.0;
        for y in 0..=2 * REACH {
            for x in 0..=2 * REACH {
                let row = (i / SIZE + SIZE + y - REACH) % SIZE;
                sum += f64::from(image.data()[row * SIZE + (i % SIZE + SIZE + x - REACH) % SIZE]);
            }
        }
        (sum / (2 * REACH + 1).pow(2) as f64) as f32
    };
    Signal::from_planar(image.extent(), 1, (0..SIZE * SIZE).map(pixel).collect())
}

fn main() -> Result<()> {
    // Integers, whose sums are exact in any order.
    let mut sharp = synthetic::grey_still_life(SIZE)?;
    sharp.data_mut().iter_mut().for_each(|x| *x = x.round_ties_even());
    let blurred = blurred(&sharp)?;
    let half = |left: bool| {
        let pixel = |i: usize| {
            if (i % SIZE < SIZE / 2) == left { sharp.data()[i] } else { blurred.data()[i] }
        };
        Signal::from_planar(sharp.extent(), 1, (0..SIZE * SIZE).map(pixel).collect())
    };
    let mut frames = vec![half(true)?, half(false)?];
    let psnr = frames
        .iter()
        .map(|frame| metrics::psnr(frame, &sharp, 255.0))
        .collect::<Result<Vec<_>>>()?;
    let fused = FuseParams::default().check()?.run(
        &CpuEngine::new(0)?,
        &mut frames,
        &Dictionary::natural(),
        &mut (),
    )?;
    let second = fused.decision.data().iter().filter(|k| **k == 1.0).count();
    println!("frames {:.2} dB and {:.2} dB", psnr[0], psnr[1]);
    println!(
        "fused {:.2} dB, {second} of {} pixels from the second",
        metrics::psnr(&fused.image, &sharp, 255.0)?,
        SIZE * SIZE
    );
    Ok(())
}
