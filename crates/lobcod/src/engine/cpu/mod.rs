//! The engine on the threads of this machine.

mod data;
mod learning;
mod measure;
mod session;
mod sweep;
mod workers;

use super::ranks::Exchange;
use super::{Engine, Plane, Problem, Session};
use crate::error::{Error, Result};
use crate::geometry::{self, InSignal, Region};
use crate::grid::{Grid, TileRange, Tiling};
use crate::needles::Code;
use crate::parallel;
use crate::real::Real;
use crate::simd::{BATCH, Level};
use data::atoms::Atoms;
use data::changes::Changes;
use data::plane::PlaneState;
use data::tile::{Candidate, LocalCode, TileState};
use learning::canvas::Canvas;
use session::CpuSession;
use std::sync::Arc;
use workers::pool::Threads;

/// More threads than any machine has; a larger number is a mistake.
const MOST_THREADS: usize = 4096;

/// Engine on the threads and vector instructions of this machine.
pub struct CpuEngine {
    threads: Arc<Threads>,
    options: Options,
}

/// Execution options; they affect the answer at most by rounding.
#[derive(Clone, Copy)]
struct Options {
    level: Level,
    /// Whether to process the tiles of a colour in reverse order.
    reversed: bool,
    /// Whether to skip needles that cannot become active.
    skipping: bool,
}

impl CpuEngine {
    /// Creates an engine with this many threads; 0 means all cores.
    pub fn new(threads: usize) -> Result<Self> {
        if threads > MOST_THREADS {
            return Err(Error::parameter("the number of threads", threads, "at most 4096"));
        }
        let count = parallel::count(threads);
        let refused = |e| {
            Error::Unavailable(format!("{count} threads could not be started ({e}); use fewer"))
        };
        let threads = Arc::new(Threads::new(count).map_err(refused)?);
        Ok(Self {
            threads,
            options: Options { level: Level::detect(), reversed: false, skipping: true },
        })
    }

    /// Creates an engine for signals with this many samples in total, channels counted. Where
    /// `threads` is 0, the size decides: see [`parallel::count_for`].
    ///
    /// Starting and synchronising threads takes longer than coding a small signal, so use this
    /// instead of `CpuEngine::new(0)` where signals may be small. The answer is the same.
    ///
    /// ```
    /// use lobcod::engine::{CpuEngine, Engine};
    ///
    /// let small = CpuEngine::for_samples(0, 8 * 8)?;
    /// assert_eq!(Engine::<f32>::threads(&small), 1);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn for_samples(threads: usize, samples: usize) -> Result<Self> {
        Self::new(parallel::count_for(threads, samples))
    }

    /// The same engine with other vector instructions. Answers of different levels agree to
    /// rounding only.
    #[doc(hidden)]
    pub fn with_level(self, level: Level) -> Self {
        Self { options: Options { level, ..self.options }, ..self }
    }

    /// The same engine without skipping needles; the answer is the same bit for bit.
    #[doc(hidden)]
    pub fn without_skipping(self) -> Self {
        Self { options: Options { skipping: false, ..self.options }, ..self }
    }

    /// The same engine with the tiles of a colour reversed; the answer is the same bit for bit.
    #[doc(hidden)]
    pub fn with_reversed_tiles(self) -> Self {
        Self { options: Options { reversed: true, ..self.options }, ..self }
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
        let stride = dictionary.len().next_multiple_of(self.options.level.lanes::<T>());
        let row = dictionary.extent().padded()[2].next_multiple_of(self.options.level.lanes::<T>());
        let mut bytes = (2 * dictionary.data().len()
            + dictionary.data().len() / dictionary.extent().padded()[2] * row)
            * real
            + dictionary.len() * stride * real;
        let mut footprint = 0;
        let mut largest_tile = 0;
        let mut most_codes = 1;
        for plane in &problem.planes {
            let grid =
                Grid::new(plane.extent, dictionary.extent(), problem.border, problem.grouping)?;
            let channels = problem.channels(plane);
            let (samples, positions) = (grid.raster(channels).len(), grid.position_count());
            // Target, residual, the residual last measured, weights.
            let fields = 3 + usize::from(plane.weights.is_some());
            let maps = usize::from(plane.position_weights.is_some()) * real
                + 4 * usize::from(plane.position_caps.is_some())
                + 4 * usize::from(plane.coefficient_weights.is_some());
            if let Some(weights) = &plane.coefficient_weights {
                bytes += weights.rows.len() / weights.atoms * (stride + 1) * real;
            }
            bytes +=
                samples * fields * real + positions * (maps + real) + dictionary.atom_len() * 4;
            // Vectors grow by doubling and hold at least four entries; up to a quarter of the
            // needles are candidates.
            let entry = 4.0 * grid.tiles.len() as f64;
            bytes +=
                (entry + 2.0 * density * positions as f64) as usize * size_of::<LocalCode<T>>();
            bytes += (entry + 0.5 * positions as f64) as usize * size_of::<Candidate>();
            // The codes when they are returned.
            bytes += (density * positions as f64) as usize * size_of::<Code<T>>();
            bytes += grid.tiles.len() * (size_of::<TileState<T>>() + Changes::BYTES);
            let (tile, positions_along) = (grid.largest_tile(), grid.positions.size);
            let padded = |size: [usize; 3]| {
                (0..2).map(|a| size[a] + grid.atom[a] - 1).product::<usize>() * (size[2] + row)
            };
            let size = padded(tile);
            footprint = footprint.max(size * channels);
            most_codes = most_codes.max(problem.codes_of_atom(plane));
            if problem.learning {
                bytes += 2 * padded(positions_along) * channels * real;
                bytes += 8 * grid.atom.iter().map(|h| 2 * h - 1).product::<usize>()
                    + 12 * dictionary.atom_len() * row;
                // Codes by atom, those of the last pass, and those at the start of this one.
                bytes +=
                    (density * positions as f64) as usize * (12 + real + 2 * size_of::<Code<T>>());
            }
            largest_tile = largest_tile.max(geometry::volume(tile));
        }
        let visits = 2
            * largest_tile
            * (size_of::<Candidate>() + size_of::<(u32, u32)>() + size_of::<u32>());
        let codes = 4 * (64 + (density * largest_tile as f64) as usize) * size_of::<LocalCode<T>>();
        // Residual, weights, the residual last measured, and bounds.
        let scratch =
            (6 * footprint + BATCH * stride * most_codes) * real + footprint + visits + codes;
        Ok((bytes + scratch * Engine::<T>::threads(self)) as u64)
    }

    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>> {
        T::open_on_cpu(
            self,
            problem,
            positions.map_or(Scope::All, |positions| Scope::Positions(*positions)),
        )
    }
}

/// What a session works on.
pub enum Scope {
    /// The whole problem.
    All,
    /// Codes at these positions.
    Positions(Region<InSignal>),
    /// These tiles of every plane; borders are exchanged with other ranks.
    #[allow(private_interfaces)]
    Blocks(Vec<TileRange>, Exchange),
}

/// Opens sessions for one precision, so that the kernels are compiled once, with this crate.
#[doc(hidden)]
pub trait OpenOnCpu: Sized {
    #[doc(hidden)]
    fn open_on_cpu(
        engine: &CpuEngine,
        problem: Problem<Self>,
        scope: Scope,
    ) -> Result<Box<dyn Session<Self>>>;
}

macro_rules! open_on_cpu {
    ($($t:ident)*) => {
        $(impl OpenOnCpu for $t {
            fn open_on_cpu(engine: &CpuEngine, problem: Problem<$t>, scope: Scope) -> Result<Box<dyn Session<$t>>> {
                engine.open_session(problem, scope)
            }
        })*
    };
}
open_on_cpu!(f32 f64);

impl CpuEngine {
    fn open_session<T: Real>(
        &self,
        mut problem: Problem<T>,
        scope: Scope,
    ) -> Result<Box<dyn Session<T>>> {
        let most_codes = problem.planes.iter().map(|plane| problem.codes_of_atom(plane)).max();
        let codes_of_atom = most_codes.unwrap_or(1);
        if problem.dictionary.len() * codes_of_atom > usize::from(u16::MAX) {
            let (name, count) = match problem.joint {
                None => ("the number of atoms", problem.dictionary.len()),
                Some(_) => {
                    ("the number of atoms times channels", problem.dictionary.len() * codes_of_atom)
                }
            };
            return Err(Error::parameter(name, count, "at most 65535"));
        }
        let atoms = Atoms::new(
            problem.dictionary.clone(),
            &problem.atom_weights,
            problem.elastic,
            problem.joint.map(|norm| (norm, codes_of_atom)),
            self.options.level,
        );
        let (positions, mut blocks, exchange) = match scope {
            Scope::All => (None, None, Exchange::default()),
            Scope::Positions(positions) => (Some(positions), None, Exchange::default()),
            Scope::Blocks(tiles, exchange) => (None, Some(tiles.into_iter()), exchange),
        };
        let planes = std::mem::take(&mut problem.planes);
        let open = |plane: Plane<T>| {
            let (extent, atom) = (plane.extent, problem.dictionary.extent());
            let tiling = match &positions {
                Some(positions) => Tiling::of_positions(extent, atom, positions, problem.grouping),
                None => Tiling::new(extent, atom, problem.border, problem.grouping)?,
            };
            let tiles = blocks.as_mut().map(|blocks| blocks.next().expect("one block per plane"));
            PlaneState::new(plane, tiling, tiles, &problem, &atoms, self.threads.count())
        };
        let planes = planes.into_iter().map(open).collect::<Result<Vec<PlaneState<T>>>>()?;
        let learnt = if problem.learning { &planes[..] } else { &[] }.iter().enumerate();
        let here = learnt.filter(|(_, plane)| !plane.grid.tiles.is_empty());
        let canvases = here.map(|(number, plane)| Canvas::of_plane(number, plane, &atoms.rows));
        let canvases = canvases.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let threads = Arc::clone(&self.threads);
        Ok(Box::new(CpuSession::new(
            threads,
            self.options,
            &problem,
            atoms,
            planes,
            canvases,
            exchange,
        )))
    }
}
