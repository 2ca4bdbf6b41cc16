//! Three fixed small runs for counting instructions: `cargo xtask instructions`.

use lobcod::engine::CpuEngine;
use lobcod::{
    Dictionary, Extent, LearnParams, Mask, Observed, Penalty, PursuitParams, Result, Signal,
};
use lobcod_simd::Level;

fn image(side: usize) -> Result<Signal<f32>> {
    let value = |i: usize| {
        let (y, x) = ((i / side) as f32, (i % side) as f32);
        let grain = (i * 2654435761 % 1000) as f32 / 1000.0 - 0.5;
        30.0 * (0.9 * x + 0.3 * y).sin()
            + 20.0 * (0.25 * y).cos() * (x / side as f32)
            + 12.0 * grain
    };
    Signal::from_planar(Extent::new(&[side, side])?, 1, (0..side * side).map(value).collect())
}

fn pursue(observed: Observed<f32>) -> Result<f64> {
    let dictionary = Dictionary::random(Extent::new(&[8, 8])?, 1, 81, 0)?;
    let pursuit = PursuitParams::new(Penalty::Absolute(15.0)).check()?;
    Ok(pursuit.run(&CpuEngine::new(1)?, &[observed], &dictionary, &mut ())?.report.total.objective)
}

fn learn() -> Result<f64> {
    let first = Dictionary::random(Extent::new(&[8, 8])?, 1, 32, 0)?;
    let params = LearnParams::new(Penalty::Absolute(15.0)).with(|p| {
        p.passes = 2;
        p.tolerance = 1e-2;
    });
    let learner = params.check()?;
    Ok(learner
        .run(&CpuEngine::new(1)?, &[image(40)?.into()], &first, &mut ())?
        .report
        .pursuit
        .total
        .objective)
}

fn main() -> Result<()> {
    // Without arguments, as run by `cargo bench`, there is nothing to count.
    let Some(name) = std::env::args().skip(1).find(|word| !word.starts_with("--")) else {
        return Ok(());
    };
    let known: Vec<bool> = (0..48 * 48).map(|i| i * 31 % 7 > 2).collect();
    let objective = match name.as_str() {
        "pursuit" => pursue(image(64)?.into())?,
        "masked" => pursue(Observed {
            mask: Some(Mask::from_known(Extent::new(&[48, 48])?, &known)?),
            ..image(48)?.into()
        })?,
        "learning" => learn()?,
        other => panic!("unknown run {other}"),
    };
    println!("{} {objective}", Level::detect());
    Ok(())
}
