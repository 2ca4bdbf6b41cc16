//! Codes a picture, and makes the picture again from its codes.
//!
//! `cargo run --release --example encode`

use lobcod::base::Base;
use lobcod::{Dictionary, Penalty, PursuitParams, Result, metrics, procedural};

fn main() -> Result<()> {
    let picture = procedural::grey_still_life(128)?;
    let dictionary = Dictionary::natural();
    let base = Base::LocalMean.layer(&picture, None, dictionary.extent())?;
    let pursuit = PursuitParams::new(Penalty::Absolute(20.0)).check()?;
    let answer = pursuit.run(&[picture.minus(&base)?.into()], &dictionary, &mut ())?;
    let again = answer.needles[0].synthesise(&dictionary)?.plus(&base)?;
    let total = answer.report.total;
    println!("{}: objective {:.4e}, gap below 1e-3: {}", answer.report.status, total.objective, total.relative_gap() <= 1e-3);
    println!("{} non-zero codes for {} pixels", total.nonzeros, total.pixels);
    println!("{:.2} dB", metrics::psnr(&again, &picture, 255.0)?);
    Ok(())
}
