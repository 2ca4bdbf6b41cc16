//! Learning from a stream of many images.

use crate::workloads;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, LearnParams, Observed, Penalty, PursuitParams, Result};
use std::time::Instant;

const SIDE: usize = 256;
const PENALTY: Penalty = Penalty::Absolute(20.0);
/// Images between two evaluations, and number of evaluation images.
const STEP: usize = 100;
const JUDGES: usize = 4;

/// Crops of one large procedural image, minus their local means.
fn cuts(count: usize) -> Result<Vec<Observed<f32>>> {
    let across = (count as f64).sqrt().ceil() as usize;
    let whole = workloads::procedural(across * SIDE)?.signals.remove(0).signal;
    let cut = |i: usize| {
        let (top, left) = (i / across * SIDE, i % across * SIDE);
        let row = |y: usize| &whole.data()[(top + y) * across * SIDE + left..][..SIDE];
        let data = (0..SIDE).flat_map(row).copied().collect();
        Ok(lobcod::Signal::from_planar(Extent::new(&[SIDE, SIDE])?, 1, data)?.into())
    };
    (0..count).map(cut).collect()
}

/// Two passes over `count` images of 256x256: images per second, and the objective of images that
/// were not learnt from.
pub fn stream(count: usize) -> Result<()> {
    let mut images = cuts(count + JUDGES)?;
    let judges = images.split_off(count);
    let first = Dictionary::random(Extent::new(&[8, 8])?, 1, 81, 0)?;
    let judge = PursuitParams::new(PENALTY).with(|p| p.tolerance = 1e-2).check()?;
    let cost = |dictionary: &Dictionary<f32>| {
        Ok(judge.run(&CpuEngine::new(0)?, &judges, dictionary, &mut ())?.report.total.objective)
    };
    let mut stream = LearnParams::new(PENALTY).check()?.stream(&first)?;
    println!(
        "{count} images {SIDE}x{SIDE}, 81 atoms 8x8 from random, all cores; {JUDGES} other images \
         cost {:.4e}",
        cost(&first)?
    );
    for pass in 1..=2 {
        let mut seconds = 0.0;
        for (number, image) in images.iter().enumerate() {
            let clock = Instant::now();
            stream.partial_fit(&CpuEngine::new(0)?, std::slice::from_ref(image), &mut ())?;
            seconds += clock.elapsed().as_secs_f64();
            if (number + 1) % STEP == 0 || number + 1 == count {
                let (seen, cost) = (number + 1, cost(stream.dictionary())?);
                println!(
                    "pass {pass}, {seen:>5} images, {seconds:7.1} s, {:6.1} a second: {cost:.4e}",
                    seen as f64 / seconds
                );
            }
        }
    }
    Ok(())
}
