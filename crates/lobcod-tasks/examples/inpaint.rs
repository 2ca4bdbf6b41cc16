//! Fills an image in which about half of the pixels are missing.
//!
//! `cargo run --release --example inpaint`

use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Mask, Result};
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::{metrics, synthetic};

const SIZE: usize = 96;

fn main() -> Result<()> {
    let image = synthetic::grey_still_life(SIZE)?;
    let known: Vec<bool> = (0..SIZE * SIZE)
        .map(|i| (i / SIZE * 31 + i % SIZE * 17 + (i / SIZE * (i % SIZE)) % 13).is_multiple_of(2))
        .collect();
    let mut damaged = image.clone();
    damaged
        .data_mut()
        .iter_mut()
        .zip(&known)
        .filter(|(_, known)| !**known)
        .for_each(|(x, _)| *x = 0.0);
    let mask = Mask::from_known(image.extent(), &known)?;
    let filled = InpaintParams::default().check()?.run(
        &CpuEngine::new(0)?,
        &damaged,
        &mask,
        &[Dictionary::natural()],
        &mut (),
    )?;
    println!("{} of {} pixels known", known.iter().filter(|k| **k).count(), known.len());
    println!("damaged {:.2} dB", metrics::psnr(&damaged, &image, 255.0)?);
    println!(
        "filled {:.2} dB at penalty {:.3}",
        metrics::psnr(&filled.image, &image, 255.0)?,
        filled.report.penalty
    );
    Ok(())
}
