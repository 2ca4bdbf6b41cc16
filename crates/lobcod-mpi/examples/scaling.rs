//! A large image on all ranks: `mpirun -n 2 target/release/examples/scaling SIDE [THREADS
//! [REPEATS]]`.
//!
//! Every rank generates only its part of the image. Prints the seconds of the pursuit (the slowest
//! rank, median), the memory of the session on every rank, and the bytes sent per sweep, counted
//! and by the formula of docs/how-to/cluster.md.

use lobcod::engine::ranks::{RankEngine, World as _, wire};
use lobcod::engine::{Context, Discovery, Engine as _, Plane, Problem, Visit};
use lobcod::geometry::{Point, Region};
use lobcod::grid::Grouping;
use lobcod::pursuit::{Local, PartOf};
use lobcod::run::Clock;
use lobcod::{Answer, Border, Dictionary, Extent, Observed, Penalty, PursuitParams, Signal};
use lobcod_conformance::gratings::grating;
use lobcod_mpi::MpiWorld;
use std::ops::Range;
use std::rc::Rc;

const PENALTY: f64 = 20.0;

fn main() -> lobcod::Result<()> {
    let words: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let side = words.first().copied().unwrap_or(1024);
    let threads = words.get(1).copied().unwrap_or(1);
    let repeats = words.get(2).copied();
    let world = MpiWorld::join()?;
    let dictionary = Dictionary::<f32>::dct(Extent::new(&[8, 8])?, 1, 81)?;
    let pursuit = PursuitParams::new(Penalty::Absolute(PENALTY)).check()?;
    let engine = RankEngine::new(Rc::clone(&world) as Rc<_>, threads)?
        .with_process_grid([1, world.ranks(), 1])
        .with_own_codes();
    let whole = Extent::new(&[side, side])?;
    let rows = engine.part(&pursuit, whole, dictionary.extent())?.range(1);
    let observed = [part(whole, &rows)?];
    let mut seconds = Vec::new();
    let mut last: Option<Answer<f32>> = None;
    for _ in 0..repeats.unwrap_or(1) {
        drop(last.take());
        world.reduce(&mut [0], &mut []);
        let clock = Clock::start();
        last = Some(pursuit.run(&engine, &observed, &dictionary, &mut ())?);
        let mut slowest = [clock.elapsed().as_secs_f64()];
        world.reduce(&mut [], &mut slowest);
        seconds.push(slowest[0]);
    }
    seconds.sort_by(f64::total_cmp);
    let report = last.expect("at least one run").report;
    let sent = bytes_of_a_sweep(&world, &engine, &observed[0], &dictionary)?;
    let of_rank = [
        report.working_memory_bytes,
        sent,
        formula(side, &dictionary, world.rank(), world.ranks()),
    ];
    let mut message = Vec::new();
    wire::put(&mut message, &of_rank);
    let all = world.gather(message);
    if world.rank() == 0 {
        let (ranks, median) = (world.ranks(), seconds[seconds.len() / 2]);
        let (discovery, support) = (report.discovery_sweeps, report.support_sweeps);
        print!(
            "{side} x {side}, {ranks} ranks x {threads} threads: {median:.3} s, {discovery} + \
             {support} sweeps, "
        );
        println!("objective {}", report.total.objective);
        for (rank, message) in all.iter().enumerate() {
            let mut of_rank = [0u64; 3];
            wire::take(&mut &message[..], &mut of_rank);
            let [memory, sent, formula] = of_rank;
            println!(
                "rank {rank}: {:.1} MiB; a sweep sends {sent} bytes, {formula} by the formula",
                memory as f64 / 1048576.0
            );
        }
    }
    Ok(())
}

/// Some rows of the image: stripes and grain.
fn part(whole: Extent, rows: &Range<i64>) -> lobcod::Result<Observed<f32>> {
    let side = whole.axes()[1];
    let extent = Extent::new(&[(rows.end - rows.start) as usize, side])?;
    let samples = (rows.start as usize * side..rows.end as usize * side)
        .map(|i| grating(side, i).detail as f32)
        .collect();
    let part = Some(PartOf { whole, start: Point::new([0, rows.start, 0]) });
    Ok(Observed { part, ..Signal::from_planar(extent, 1, samples)?.into() })
}

/// Number of bytes this rank sends in one sweep.
fn bytes_of_a_sweep(
    world: &MpiWorld,
    engine: &RankEngine,
    observed: &Observed<f32>,
    dictionary: &Dictionary<f32>,
) -> lobcod::Result<u64> {
    let start = observed.part.map_or(Point::default(), |part| part.start);
    let plane = Plane {
        extent: observed.extent(),
        target: observed.signal.data().to_vec(),
        weights: None,
        position_weights: None,
        coefficient_weights: None,
        position_caps: None,
        held: Some(Region::new(start, observed.signal.extent().padded())),
    };
    let problem = Problem {
        planes: vec![plane],
        dictionary: dictionary.clone(),
        border: Border::Free,
        grouping: Grouping::default_tiles(2),
        atom_weights: vec![1.0; dictionary.len()],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    };
    let mut session = engine.open(problem, None)?;
    let before = world.sent();
    let sweep =
        Discovery { penalty: PENALTY, visit: Visit::All, local_tolerance: 1e-3, layer_seed: None };
    session.discover(&sweep, &Context::default())?;
    Ok(world.sent() - before)
}

/// The same by the formula for blocks of rows.
///
/// Each side with a neighbour has `(h - 1) (W + tiles (w - 1))` numbers of 4 bytes, where the first
/// and the last tile of a row extend beyond the image, and 16 bytes per tile.
fn formula(side: usize, dictionary: &Dictionary<f32>, rank: usize, ranks: usize) -> u64 {
    let (h, w) = (dictionary.extent().axes()[0], dictionary.extent().axes()[1]);
    let tiles = (side + w - 1).div_ceil(32);
    let neighbours = usize::from(rank > 0) + usize::from(rank + 1 < ranks);
    (neighbours * (4 * (h - 1) * (side + tiles * (w - 1)) + 16 * tiles)) as u64
}
