//! Learning from many pictures, one after the other.

use crate::workloads;
use lobcod::{Dictionary, Extent, LearnParams, Observed, Penalty, PursuitParams, Result};
use std::time::Instant;

const SIDE: usize = 256;
const PENALTY: Penalty = Penalty::Absolute(20.0);
/// Pictures between two judgements, and pictures that judge.
const STEP: usize = 100;
const JUDGES: usize = 4;

/// Cuts of one large procedural picture, less their local means.
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

/// Two passes over `count` pictures of 256x256: pictures a second, and what pictures never learnt from cost meanwhile.
pub fn stream(count: usize) -> Result<()> {
    let mut pictures = cuts(count + JUDGES)?;
    let judges = pictures.split_off(count);
    let first = Dictionary::random(Extent::new(&[8, 8])?, 1, 81, 0)?;
    let judge = PursuitParams { tolerance: 1e-2, ..PursuitParams::new(PENALTY) }.check()?;
    let cost = |dictionary: &Dictionary<f32>| Ok(judge.run(&judges, dictionary, &mut ())?.report.total.objective);
    let mut stream = LearnParams::new(PENALTY).check()?.stream(&first)?;
    println!(
        "{count} pictures {SIDE}x{SIDE}, 81 atoms 8x8 from random, all cores; {JUDGES} other pictures cost {:.4e}",
        cost(&first)?
    );
    for pass in 1..=2 {
        let mut seconds = 0.0;
        for (number, picture) in pictures.iter().enumerate() {
            let clock = Instant::now();
            stream.partial_fit(std::slice::from_ref(picture), &mut ())?;
            seconds += clock.elapsed().as_secs_f64();
            if (number + 1) % STEP == 0 || number + 1 == count {
                let (seen, cost) = (number + 1, cost(stream.dictionary())?);
                println!("pass {pass}, {seen:>5} pictures, {seconds:7.1} s, {:6.1} a second: {cost:.4e}", seen as f64 / seconds);
            }
        }
    }
    Ok(())
}
