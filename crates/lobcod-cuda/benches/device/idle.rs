//! What a verb costs when its kernels have nothing to do: launches, and the answer's way back.

use super::{PENALTY, dictionary, picture};
use lobcod::engine::{Discovery, Engine, Plane, Problem, Session, Support, Visit};
use lobcod::grid::Grouping;
use lobcod::{Border, Local, Result};
use lobcod_conformance::fruit;
use lobcod_cuda::CudaEngine;
use std::time::Instant;

const CALLS: usize = 400;

/// Support sweeps over a square picture in which all tiles are passed over.
pub fn idle(engine: &CudaEngine, side: usize) -> Result<()> {
    let (dictionary, signal) = (dictionary(), fruit::less_mean(picture(side)?)?.cast::<f32>());
    let plane = Plane {
        extent: signal.extent(),
        target: signal.data().to_vec(),
        weights: None,
        position_weights: None,
        position_caps: None,
        held: None,
    };
    let mut session: Box<dyn Session<f32>> = engine.open(Problem {
        planes: vec![plane],
        atom_weights: vec![1.0; dictionary.len()],
        dictionary,
        border: Border::Zero,
        grouping: Grouping::default_tiles(2),
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    })?;
    session.discover(&Discovery { penalty: PENALTY, visit: Visit::All, local_tolerance: 0.05, layer_seed: None });
    let sweep = Support { penalty: PENALTY, sweeps: 1, rounds: 2, tolerance: f64::from(f32::MAX) };
    session.support(&sweep);
    let clock = Instant::now();
    let visited: usize = (0..CALLS).map(|_| session.support(&sweep).visited).sum();
    let seconds = clock.elapsed().as_secs_f64();
    println!("{side}x{side}: an idle support call takes {:.1} us (visited {visited})", 1e6 * seconds / CALLS as f64);
    Ok(())
}
