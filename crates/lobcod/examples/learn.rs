//! Learns a dictionary from a picture, and codes the picture with it and with the one it started from.
//!
//! `cargo run --release --example learn`

use lobcod::base::Base;
use lobcod::{Dictionary, Extent, LearnParams, Observed, Penalty, PursuitParams, Result, procedural};

const PENALTY: Penalty = Penalty::Absolute(20.0);

/// Objective of the best codes.
fn cost(details: &[Observed<f32>], dictionary: &Dictionary<f32>) -> Result<f64> {
    Ok(PursuitParams::new(PENALTY).check()?.run(details, dictionary, &mut ())?.report.total.objective)
}

fn main() -> Result<()> {
    let picture = procedural::grey_still_life(96)?;
    let size = Extent::new(&[8, 8])?;
    let details = [Observed::from(picture.minus(&Base::LocalMean.layer(&picture, None, size)?)?)];
    let first = Dictionary::random(size, 1, 32, 0)?;
    let learner = LearnParams { passes: 10, tolerance: 1e-3, ..LearnParams::new(PENALTY) }.check()?;
    let learnt = learner.run(&details, &first, &mut ())?;
    println!("{} passes over the picture", learnt.report.passes);
    for (name, dictionary) in [("random atoms", &first), ("natural", &Dictionary::natural()), ("learnt", &learnt.dictionary)] {
        println!("{name:14} objective {:.3e}", cost(&details, dictionary)?);
    }
    Ok(())
}
