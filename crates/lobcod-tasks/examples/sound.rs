//! Codes a one-dimensional signal: decaying tones, with atoms learnt from it.
//!
//! `cargo run --release --example sound`

use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, LearnParams, Observed, Penalty, PursuitParams, Result, Signal};

/// A tone that starts at `from`.
fn tone(t: usize, from: usize, pitch: f64) -> f64 {
    if t < from {
        return 0.0;
    }
    let since = (t - from) as f64;
    (-since / 12.0).exp() * (pitch * since).sin()
}

fn main() -> Result<()> {
    let sample = |t: usize| (0..12).map(|k| tone(t, 31 * k + 7, [0.6, 1.1, 1.7][k % 3])).sum();
    let sound: Signal<f64> =
        Signal::from_planar(Extent::new(&[400])?, 1, (0..400).map(sample).collect())?;
    let signals = [Observed::from(sound)];
    let first = Dictionary::random(Extent::new(&[40])?, 1, 6, 0)?;
    let params = LearnParams::new(Penalty::Relative(0.05)).with(|p| p.passes = 20);
    let learnt = params.check()?.run(&CpuEngine::new(0)?, &signals, &first, &mut ())?;
    let pursuit = PursuitParams::new(Penalty::Absolute(learnt.report.pursuit.penalty)).check()?;
    for (name, dictionary) in [("random atoms", &first), ("learnt atoms", &learnt.dictionary)] {
        let total = pursuit.run(&CpuEngine::new(0)?, &signals, dictionary, &mut ())?.report.total;
        println!("{name}: objective {:.3}, {} codes", total.objective, total.nonzeros);
    }
    Ok(())
}
