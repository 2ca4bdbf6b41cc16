//! Splits an image into a smooth layer and texture.
//!
//! `cargo run --release --example separate`

use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Penalty, Result, Signal};
use lobcod_tasks::separate::SeparateParams;
use lobcod_tasks::synthetic;

/// Root mean square.
fn size(layer: &Signal<f32>) -> f64 {
    let energy: f64 = layer.data().iter().map(|x| f64::from(*x).powi(2)).sum();
    (energy / layer.data().len() as f64).sqrt()
}

fn main() -> Result<()> {
    let image = synthetic::grey_still_life(96)?;
    let separator = SeparateParams::new(Penalty::Absolute(5.0)).check()?;
    let layers = separator.run(&CpuEngine::new(0)?, &image, &Dictionary::natural(), &mut ())?;
    let rest = image.minus(&layers.base)?.minus(&layers.texture)?;
    println!("{} after {} turns", layers.report.status, layers.alternations);
    println!(
        "smooth {:.2}, texture {:.2}, left over {:.2}",
        size(&layers.base),
        size(&layers.texture),
        size(&rest)
    );
    Ok(())
}
