//! The engine on the threads of this machine.

mod atom_pass;
mod atoms;
mod borders;
mod bounds;
mod canvas;
mod changes;
mod cut;
mod discovery;
mod exchange;
mod fetched;
mod field;
mod footprint;
mod gather;
mod gradient;
mod local_dual;
mod look;
mod measure;
mod plane;
mod rims;
mod scratch;
mod session;
mod shares;
mod sums;
mod support;
mod sweeps;
mod team;
mod threads;
mod tile;

use super::ranks::{RankEngine, Traffic};
use super::{Engine, Plane, Problem, Session};
use crate::error::{Error, Result};
use crate::grid::{Grid, TileRange};
use crate::needles::Code;
use crate::real::Real;
use crate::simd::{BATCH, Level};
use atoms::Atoms;
use canvas::Canvas;
use changes::Changes;
use exchange::Exchange;
use plane::{PlaneState, Tiles};
use session::CpuSession;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use threads::Threads;
use tile::{Candidate, LocalCode, TileState};

/// Threads of this machine, with the vectors it has.
pub struct CpuEngine {
    threads: Arc<Threads>,
    manner: Manner,
}

/// How the work is done; nothing here changes what comes out but for rounding.
#[derive(Clone, Copy)]
struct Manner {
    level: Level,
    /// Tiles of a colour in reverse order?
    reversed: bool,
    /// Are needles that cannot wake up passed over?
    skipping: bool,
}

impl CpuEngine {
    /// An engine with this many threads; 0 means all cores.
    pub fn new(threads: usize) -> Result<Self> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = if threads == 0 { cores() } else { threads };
        let refused = |e| Error::Unavailable(format!("{count} threads could not be started ({e}); ask for fewer"));
        let threads = Arc::new(Threads::new(count).map_err(refused)?);
        Ok(Self { threads, manner: Manner { level: Level::detect(), reversed: false, skipping: true } })
    }

    /// The same engine with other vector instructions. Answers of different levels agree to rounding only.
    pub fn with_level(self, level: Level) -> Self {
        Self { manner: Manner { level, ..self.manner }, ..self }
    }

    /// The same engine visiting also the needles that cannot wake up; the answer is the same to the last bit.
    pub fn without_skipping(self) -> Self {
        Self { manner: Manner { skipping: false, ..self.manner }, ..self }
    }

    /// The same engine running the tiles of a colour in reverse order; the answer is the same to the last bit.
    pub fn with_reversed_tiles(self) -> Self {
        Self { manner: Manner { reversed: true, ..self.manner }, ..self }
    }
}

impl<T: Real> Engine<T> for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn threads(&self) -> usize {
        self.threads.count()
    }

    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let (dictionary, real) = (&problem.dictionary, size_of::<T>());
        let stride = dictionary.len().next_multiple_of(self.manner.level.lanes::<T>());
        let row = dictionary.extent().padded()[2].next_multiple_of(self.manner.level.lanes::<T>());
        let mut bytes = (2 * dictionary.data().len() + dictionary.data().len() / dictionary.extent().padded()[2] * row) * real
            + dictionary.len() * stride * real;
        let (mut footprint, mut largest_tile) = (0, 0);
        for plane in &problem.planes {
            let grid = Grid::new(plane.extent, dictionary.extent(), problem.border, problem.grouping)?;
            let (samples, positions) = (grid.domain.iter().product::<usize>() * dictionary.channels(), grid.position_count());
            // Target, residual, the residual last measured, weights.
            let fields = 3 + usize::from(plane.weights.is_some());
            let maps = usize::from(plane.position_weights.is_some()) * real + 4 * usize::from(plane.position_caps.is_some());
            bytes += samples * fields * real + positions * (maps + real) + dictionary.atom_len() * 4;
            // Vectors grow by doubling and hold four entries at least; one needle in four is a candidate at times.
            let entry = 4.0 * grid.tiles.len() as f64;
            bytes += (entry + 2.0 * density * positions as f64) as usize * size_of::<LocalCode<T>>();
            bytes += (entry + 0.5 * positions as f64) as usize * size_of::<Candidate>();
            // The codes when they are fetched.
            bytes += (density * positions as f64) as usize * size_of::<Code<T>>();
            bytes += grid.tiles.len() * (size_of::<TileState<T>>() + Changes::BYTES);
            let tile = grid.largest_tile();
            let size = (0..2).map(|a| tile[a] + grid.atom[a] - 1).product::<usize>() * (tile[2] + row);
            footprint = footprint.max(size * dictionary.channels());
            if problem.learning {
                let whole = (0..2).map(|a| grid.positions[a] + grid.atom[a] - 1).product::<usize>() * (grid.positions[2] + row);
                bytes += 2 * whole * dictionary.channels() * real;
                bytes += 8 * grid.atom.iter().map(|h| 2 * h - 1).product::<usize>() + 12 * dictionary.atom_len() * row;
                // Codes by atom, those of the last pass, and those of the codes at the beginning of this one.
                bytes += (density * positions as f64) as usize * (12 + real + 2 * size_of::<Code<T>>());
            }
            largest_tile = largest_tile.max(tile.iter().product());
        }
        let visits = 2 * largest_tile * (size_of::<Candidate>() + size_of::<(u32, u32)>() + size_of::<u32>());
        let codes = 4 * (64 + (density * largest_tile as f64) as usize) * size_of::<LocalCode<T>>();
        // Residual, weights, the residual last measured, and bounds.
        let scratch = (6 * footprint + BATCH * stride) * real + footprint + visits + codes;
        Ok((bytes + scratch * Engine::<T>::threads(self)) as u64)
    }

    fn open(&self, problem: Problem<T>) -> Result<Box<dyn Session<T>>> {
        T::open_on_cpu(self, problem, None)
    }

    fn open_part(&self, problem: Problem<T>, positions: &[Range<i64>; 3]) -> Result<Box<dyn Session<T>>> {
        T::open_on_cpu(self, problem, Some(positions))
    }
}

/// Positions that codes may be at, relative to the signal; `None`: all there are.
pub type OpenPositions<'a> = Option<&'a [Range<i64>; 3]>;

/// Opens sessions for one precision. Implemented here for each, so that the kernels are compiled once, with this crate, and not
/// again wherever a generic caller is.
pub trait OpenOnCpu: Sized {
    #[doc(hidden)]
    fn open_on_cpu(engine: &CpuEngine, problem: Problem<Self>, positions: OpenPositions) -> Result<Box<dyn Session<Self>>>;
    #[doc(hidden)]
    fn open_on_ranks(engine: &RankEngine, problem: Problem<Self>) -> Result<Box<dyn Session<Self>>>;
}

impl OpenOnCpu for f32 {
    fn open_on_cpu(engine: &CpuEngine, problem: Problem<f32>, positions: OpenPositions) -> Result<Box<dyn Session<f32>>> {
        let tiles = positions.map_or(Tiles::All, Tiles::Positions);
        engine.open_session(problem, |_| tiles, Exchange::alone())
    }

    fn open_on_ranks(engine: &RankEngine, problem: Problem<f32>) -> Result<Box<dyn Session<f32>>> {
        open_on_ranks(engine, problem)
    }
}

impl OpenOnCpu for f64 {
    fn open_on_cpu(engine: &CpuEngine, problem: Problem<f64>, positions: OpenPositions) -> Result<Box<dyn Session<f64>>> {
        let tiles = positions.map_or(Tiles::All, Tiles::Positions);
        engine.open_session(problem, |_| tiles, Exchange::alone())
    }

    fn open_on_ranks(engine: &RankEngine, problem: Problem<f64>) -> Result<Box<dyn Session<f64>>> {
        open_on_ranks(engine, problem)
    }
}

fn open_on_ranks<T: Real>(engine: &RankEngine, problem: Problem<T>) -> Result<Box<dyn Session<T>>> {
    let (world, blocks) = (engine.world(), engine.blocks(&problem)?);
    let own: Vec<TileRange> = blocks.iter().map(|blocks| blocks.of(world.rank())).collect();
    let exchange = Exchange::new(Rc::clone(world), Traffic::new(&blocks, world.rank()), engine.gives_own_codes());
    engine.cpu().open_session(problem, |plane| Tiles::Block(&own[plane]), exchange)
}

impl CpuEngine {
    /// Opens a session that works on the given tiles of every plane.
    fn open_session<'a, T: Real>(
        &self,
        mut problem: Problem<T>,
        tiles: impl Fn(usize) -> Tiles<'a>,
        exchange: Exchange,
    ) -> Result<Box<dyn Session<T>>> {
        if problem.dictionary.len() > usize::from(u16::MAX) {
            return Err(Error::parameter("the number of atoms", problem.dictionary.len(), "at most 65535"));
        }
        let atoms = Atoms::new(problem.dictionary.clone(), &problem.atom_weights, self.manner.level);
        let planes: Vec<Plane<T>> = std::mem::take(&mut problem.planes);
        let planes = planes.into_iter().enumerate().map(|(i, p)| PlaneState::new(p, tiles(i), &problem, atoms.rows.width));
        let planes = planes.collect::<Result<Vec<PlaneState<T>>>>()?;
        let learnt = if problem.learning { &planes[..] } else { &[] }.iter().enumerate();
        let here = learnt.filter(|(_, plane)| !plane.grid.tiles.is_empty());
        let canvases = here.map(|(number, plane)| Canvas::of_plane(number, plane, &atoms.rows));
        let canvases = canvases.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let threads = Arc::clone(&self.threads);
        Ok(Box::new(CpuSession::new(threads, self.manner, &problem, atoms, planes, canvases, exchange)))
    }
}
