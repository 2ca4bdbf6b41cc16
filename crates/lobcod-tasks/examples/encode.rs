//! Codes an image, and reconstructs the image from its codes.
//!
//! `cargo run --release --example encode`

use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Penalty, PursuitParams, Result};
use lobcod_tasks::{metrics, synthetic};

fn main() -> Result<()> {
    let image = synthetic::grey_still_life(128)?;
    let dictionary = Dictionary::natural();
    let base = Base::LocalMean.layer(&image, None, dictionary.extent())?;
    let pursuit = PursuitParams::new(Penalty::Absolute(20.0)).check()?;
    let answer =
        pursuit.run(&CpuEngine::new(0)?, &[image.minus(&base)?.into()], &dictionary, &mut ())?;
    let again = answer.needles[0].synthesise(&dictionary)?.plus(&base)?;
    let total = answer.report.total;
    println!(
        "{}: objective {:.4e}, gap below 1e-3: {}",
        answer.report.status,
        total.objective,
        total.relative_gap() <= 1e-3
    );
    println!("{} non-zero codes for {} pixels", total.nonzeros, total.pixels);
    println!("{:.2} dB", metrics::psnr(&again, &image, 255.0)?);
    Ok(())
}
