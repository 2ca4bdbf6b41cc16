//! Planes distributed over ranks: assignment of tiles, and exchange between neighbours.
//!
//! Every rank runs the same pursuit on blocks of whole tiles. The samples around a block boundary
//! are stored on both sides; after every colour of a sweep a rank sends the residual that its tiles
//! changed there. All ranks make the same decisions, from exact sums.

mod blocks;
mod exchange;
mod traffic;
#[doc(hidden)]
pub mod wire;
mod world;

#[doc(hidden)]
pub use blocks::{Blocks, share_out};
pub(crate) use exchange::Exchange;
#[doc(hidden)]
pub use traffic::{BorderSamples, Neighbour, Parcel, Traffic};
pub use world::World;

use super::cpu::{CpuEngine, Scope};
use super::{Agreement, Engine, Problem, Session, Share};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{self, InSignal, Region};
use crate::grid::{TileRange, Tiling};
use crate::pursuit::Pursuit;
use crate::real::Real;
use std::rc::Rc;

/// An engine whose sessions each work on one rank's part of the problem.
pub struct RankEngine {
    cpu: CpuEngine,
    world: Rc<dyn World>,
    process_grid: Option<[usize; 3]>,
    answers: Share,
}

impl RankEngine {
    /// An engine over all ranks of a world, with this many threads in each; 0 means all cores.
    pub fn new(world: Rc<dyn World>, threads: usize) -> Result<Self> {
        Ok(Self { cpu: CpuEngine::new(threads)?, world, process_grid: None, answers: Share::All })
    }

    /// Splits all planes into up to this many blocks along each axis.
    pub fn with_process_grid(self, grid: [usize; 3]) -> Self {
        Self { process_grid: Some(grid), ..self }
    }

    /// Restricts answers to the codes of this rank's tiles.
    pub fn with_own_codes(self) -> Self {
        Self { answers: Share::Own, ..self }
    }

    /// The world of the ranks.
    pub fn world(&self) -> &Rc<dyn World> {
        &self.world
    }

    /// The samples that this rank works on, possibly none. They may extend past the end of a
    /// periodic signal.
    pub fn part(
        &self,
        pursuit: &Pursuit,
        signal: Extent,
        atom: Extent,
    ) -> Result<Region<InSignal>> {
        let tiling = Tiling::new(
            signal,
            atom,
            pursuit.params().border,
            pursuit.params().grouping(signal.rank()),
        )?;
        let blocks =
            share_out(vec![tiling], self.world.ranks(), self.process_grid, false).remove(0);
        let touched = blocks.tiling().footprint(&blocks.of(self.world.rank()));
        let all = signal.region();
        Ok(if blocks.tiling().periodic {
            touched
        } else {
            Region::of(|a| {
                touched.start[a].clamp(0, all.end(a))..touched.end(a).clamp(0, all.end(a))
            })
        })
    }

    /// The blocks of every plane and their ranks.
    pub fn blocks<T: Real>(&self, problem: &Problem<T>) -> Result<Vec<Blocks>> {
        let atom = problem.dictionary.extent();
        let planes = problem
            .planes
            .iter()
            .map(|plane| Tiling::new(plane.extent, atom, problem.border, problem.grouping));
        let planes = planes.collect::<Result<Vec<Tiling>>>()?;
        // A pass over the atoms works in bands.
        Ok(share_out(planes, self.world.ranks(), self.process_grid, problem.learning))
    }
}

impl<T: Real> Engine<T> for RankEngine {
    fn name(&self) -> &'static str {
        self.world.name()
    }

    fn threads(&self) -> usize {
        Engine::<T>::threads(&self.cpu)
    }

    fn agreement(&self) -> Agreement {
        Agreement::of_ranks(Rc::clone(&self.world), self.answers)
    }

    /// Bytes on this rank: proportional to its fraction of the tiles.
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let count =
            |tiles: &TileRange| geometry::volume(tiles.each_ref().map(|range| range.len())) as f64;
        let blocks = self.blocks(problem)?;
        let own: f64 = blocks.iter().map(|blocks| count(&blocks.of(self.world.rank()))).sum();
        let all: f64 = blocks.iter().map(|blocks| count(&blocks.tiling().all())).sum();
        Ok((self.cpu.estimate_memory(problem, density)? as f64 * own / all) as u64)
    }

    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>> {
        if positions.is_some() {
            let cure = "distribute the signal over more ranks, or use the cpu engine";
            return Err(Error::Unavailable(format!(
                "the {} engine does not code signals in bands; {cure}",
                self.world.name()
            )));
        }
        let blocks = self.blocks(&problem)?;
        let exchange =
            Exchange::new(Rc::clone(&self.world), Traffic::new(&blocks, self.world.rank()));
        let own = blocks.iter().map(|blocks| blocks.of(self.world.rank())).collect();
        T::open_on_cpu(&self.cpu, problem, Scope::Blocks(own, exchange))
    }
}
