//! Splits a picture into a smooth layer and texture.
//!
//! `cargo run --release --example separate`

use lobcod::tasks::separate::SeparateParams;
use lobcod::{Dictionary, Penalty, Result, Signal, procedural};

/// Root of the mean square.
fn size(layer: &Signal<f32>) -> f64 {
    let energy: f64 = layer.data().iter().map(|x| f64::from(*x).powi(2)).sum();
    (energy / layer.data().len() as f64).sqrt()
}

fn main() -> Result<()> {
    let picture = procedural::grey_still_life(96)?;
    let separator = SeparateParams::new(Penalty::Absolute(5.0)).check()?;
    let layers = separator.run(&picture, &Dictionary::natural(), &mut ())?;
    let rest = picture.minus(&layers.base)?.minus(&layers.texture)?;
    println!("{} after {} turns", layers.report.status, layers.alternations);
    println!("smooth {:.2}, texture {:.2}, left over {:.2}", size(&layers.base), size(&layers.texture), size(&rest));
    Ok(())
}
