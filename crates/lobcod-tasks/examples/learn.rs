//! Learns a dictionary from an image, and codes the image with it and with the initial dictionary.
//!
//! `cargo run --release --example learn`

use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, LearnParams, Observed, Penalty, PursuitParams, Result};
use lobcod_tasks::synthetic;

const PENALTY: Penalty = Penalty::Absolute(20.0);

/// Objective of the best codes.
fn cost(details: &[Observed<f32>], dictionary: &Dictionary<f32>) -> Result<f64> {
    Ok(PursuitParams::new(PENALTY)
        .check()?
        .run(&CpuEngine::new(0)?, details, dictionary, &mut ())?
        .report
        .total
        .objective)
}

fn main() -> Result<()> {
    let image = synthetic::grey_still_life(96)?;
    let size = Extent::new(&[8, 8])?;
    let details = [Observed::from(image.minus(&Base::LocalMean.layer(&image, None, size)?)?)];
    let first = Dictionary::random(size, 1, 32, 0)?;
    let learner = LearnParams::new(PENALTY).with(|p| p.passes = 10).check()?;
    let learnt = learner.run(&CpuEngine::new(0)?, &details, &first, &mut ())?;
    println!("{} passes over the image", learnt.report.passes);
    for (name, dictionary) in [
        ("random atoms", &first),
        ("natural", &Dictionary::natural()),
        ("learnt", &learnt.dictionary),
    ] {
        println!("{name:14} objective {:.3e}", cost(&details, dictionary)?);
    }
    Ok(())
}
