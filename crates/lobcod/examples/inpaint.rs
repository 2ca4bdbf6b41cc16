//! Fills a picture of which every other pixel or so is missing.
//!
//! `cargo run --release --example inpaint`

use lobcod::tasks::inpaint::InpaintParams;
use lobcod::{Dictionary, Mask, Result, metrics, procedural};

const SIZE: usize = 96;

fn main() -> Result<()> {
    let picture = procedural::grey_still_life(SIZE)?;
    let known: Vec<bool> =
        (0..SIZE * SIZE).map(|i| (i / SIZE * 31 + i % SIZE * 17 + (i / SIZE * (i % SIZE)) % 13).is_multiple_of(2)).collect();
    let mut damaged = picture.clone();
    damaged.data_mut().iter_mut().zip(&known).filter(|(_, known)| !**known).for_each(|(x, _)| *x = 0.0);
    let mask = Mask::from_known(picture.extent(), &known)?;
    let filled = InpaintParams::default().check()?.run(&damaged, &mask, &[Dictionary::natural()], &mut ())?;
    println!("{} of {} pixels known", known.iter().filter(|k| **k).count(), known.len());
    println!("damaged {:.2} dB", metrics::psnr(&damaged, &picture, 255.0)?);
    println!("filled {:.2} dB at penalty {:.3}", metrics::psnr(&filled.picture, &picture, 255.0)?, filled.report.penalty);
    Ok(())
}
