//! Measures the overhead of a call whose kernels have nothing to do: launches and readback.

use super::{PENALTY, dictionary, image};
use lobcod::engine::{Context, Discovery, Engine, Plane, Problem, Session, Support, Visit};
use lobcod::grid::Grouping;
use lobcod::pursuit::Local;
use lobcod::{Border, Result};
use lobcod_conformance::fruit;
use lobcod_cuda::CudaEngine;
use std::time::Instant;

const CALLS: usize = 400;

/// Support sweeps over a square image in which all tiles are skipped.
pub fn idle(engine: &CudaEngine, side: usize) -> Result<()> {
    let (dictionary, signal) = (dictionary(), fruit::less_mean(image(side)?)?.cast::<f32>());
    let plane = Plane { target: signal.data().to_vec(), ..Plane::empty(signal.extent()) };
    let problem = Problem {
        planes: vec![plane],
        atom_weights: vec![1.0; dictionary.len()],
        dictionary,
        border: Border::Zero,
        grouping: Grouping::default_tiles(2),
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    };
    let mut session: Box<dyn Session<f32>> = engine.open(problem, None)?;
    let context = Context::default();
    session.discover(
        &Discovery { penalty: PENALTY, visit: Visit::All, local_tolerance: 0.05, layer_seed: None },
        &context,
    )?;
    let sweep = Support { penalty: PENALTY, sweeps: 1, rounds: 2, tolerance: f64::from(f32::MAX) };
    session.support(&sweep, &context)?;
    let clock = Instant::now();
    let mut visited = 0;
    for _ in 0..CALLS {
        visited += session.support(&sweep, &context)?.visited;
    }
    let seconds = clock.elapsed().as_secs_f64();
    println!(
        "{side}x{side}: an idle support call takes {:.1} us (visited {visited})",
        1e6 * seconds / CALLS as f64
    );
    Ok(())
}
