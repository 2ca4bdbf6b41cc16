//! Learns from a stream that changes: stripes at one angle, then at another, and the objective of
//! either kind with the current dictionary.
//!
//! `cargo run --release --example stream`

use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, LearnParams, Observed, Penalty, PursuitParams, Result, Signal};

const SIDE: usize = 48;
const PENALTY: Penalty = Penalty::Absolute(0.4);
const UPRIGHT: f64 = 0.3;
const LEVEL: f64 = 1.9;

/// Stripes across the direction `angle`; every `number` has its own phase.
fn stripes(angle: f64, number: usize) -> Result<Observed<f32>> {
    let sample = |i: usize| {
        let (y, x) = ((i / SIDE) as f64, (i % SIDE) as f64);
        (1.1 * (x * angle.cos() + y * angle.sin()) + number as f64).sin() as f32
    };
    Ok(Signal::from_planar(Extent::new(&[SIDE, SIDE])?, 1, (0..SIDE * SIDE).map(sample).collect())?
        .into())
}

/// Objective of the best codes of stripes that were not learnt from.
fn cost(dictionary: &Dictionary<f32>, angle: f64) -> Result<f64> {
    let answer = PursuitParams::new(PENALTY).check()?.run(
        &CpuEngine::new(0)?,
        &[stripes(angle, 99)?],
        dictionary,
        &mut (),
    )?;
    Ok(answer.report.total.objective)
}

fn main() -> Result<()> {
    let first = Dictionary::random(Extent::new(&[6, 6])?, 1, 6, 1)?;
    let params = LearnParams::new(PENALTY).with(|p| p.stream_memory = 4);
    let mut stream = params.check()?.stream(&first)?;
    println!("{:24} {:>8} {:>8}", "cost of stripes", "upright", "level");
    let row = |name: &str, dictionary: &Dictionary<f32>| -> Result<()> {
        println!("{name:24} {:8.1} {:8.1}", cost(dictionary, UPRIGHT)?, cost(dictionary, LEVEL)?);
        Ok(())
    };
    row("at first", stream.dictionary())?;
    for (name, angle) in [("after 8 upright ones", UPRIGHT), ("after 8 level ones", LEVEL)] {
        for number in 0..8 {
            stream.partial_fit(&CpuEngine::new(0)?, &[stripes(angle, number)?], &mut ())?;
        }
        row(name, stream.dictionary())?;
    }
    Ok(())
}
