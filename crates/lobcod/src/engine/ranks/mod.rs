//! Planes cut over ranks: who works on which tiles, and what neighbours tell each other.
//!
//! Every rank runs the same pursuit on its own blocks of whole tiles. A block's samples are those its tiles touch, so the samples
//! around a cut are kept by the ranks on both sides. After every colour of a sweep each rank sends its neighbours the new residual where
//! its tiles of that colour touched samples of theirs. Decisions are made from sums that are exact, by every rank alike.

mod blocks;
mod traffic;
mod world;

pub use blocks::{Blocks, share_out};
pub use traffic::{Neighbour, Parcel, Strip, Traffic};
pub use world::World;

use super::cpu::CpuEngine;
use super::{Engine, Problem, Session};
use crate::error::Result;
use crate::grid::{Frame, TileRange};
use crate::real::Real;
use std::rc::Rc;

/// An engine whose sessions work on a part of the problem each, one a rank.
pub struct RankEngine {
    cpu: CpuEngine,
    world: Rc<dyn World>,
    process_grid: Option<[usize; 3]>,
    own_codes: bool,
}

impl RankEngine {
    /// Sessions over all ranks of a world, with this many threads in each; 0 means all cores.
    pub fn new(world: Rc<dyn World>, threads: usize) -> Result<Self> {
        Ok(Self { cpu: CpuEngine::new(threads)?, world, process_grid: None, own_codes: false })
    }

    /// The same engine with planes cut into this many blocks along each axis (fewer where there are fewer tiles), whatever their size.
    pub fn with_process_grid(self, grid: [usize; 3]) -> Self {
        Self { process_grid: Some(grid), ..self }
    }

    /// The same engine with answers that hold, on every rank, the codes of its own tiles alone.
    pub fn with_own_codes(self) -> Self {
        Self { own_codes: true, ..self }
    }

    /// The world of the ranks.
    pub fn world(&self) -> &Rc<dyn World> {
        &self.world
    }

    pub(crate) fn process_grid(&self) -> Option<[usize; 3]> {
        self.process_grid
    }

    pub(super) fn cpu(&self) -> &CpuEngine {
        &self.cpu
    }

    pub(super) fn gives_own_codes(&self) -> bool {
        self.own_codes
    }

    /// Which tiles of every plane each rank works on.
    pub fn blocks<T: Real>(&self, problem: &Problem<T>) -> Result<Vec<Blocks>> {
        let atom = problem.dictionary.extent();
        let frames = problem.planes.iter().map(|plane| Frame::new(plane.extent, atom, problem.border, problem.grouping));
        let frames = frames.collect::<Result<Vec<Frame>>>()?;
        // A pass over the atoms sees a plane as a whole.
        let whole = problem.learning;
        Ok(share_out(frames, self.world.ranks(), self.process_grid, whole))
    }
}

impl<T: Real> Engine<T> for RankEngine {
    fn name(&self) -> &'static str {
        self.world.name()
    }

    fn threads(&self) -> usize {
        Engine::<T>::threads(&self.cpu)
    }

    fn ranks(&self) -> usize {
        self.world.ranks()
    }

    /// Bytes on this rank: as much of those of the whole as it has of the tiles.
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let count = |tiles: &TileRange| tiles.iter().map(|range| range.len()).product::<usize>() as f64;
        let blocks = self.blocks(problem)?;
        let own: f64 = blocks.iter().map(|blocks| count(&blocks.of(self.world.rank()))).sum();
        let all: f64 = blocks.iter().map(|blocks| count(&blocks.frame().all())).sum();
        Ok((self.cpu.estimate_memory(problem, density)? as f64 * own / all) as u64)
    }

    fn open(&self, problem: Problem<T>) -> Result<Box<dyn Session<T>>> {
        T::open_on_ranks(self, problem)
    }
}
