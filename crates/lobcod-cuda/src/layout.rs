//! How kernels use memory on chip, and how many tiles share a block.

use crate::recipe::Recipe;
use crate::schedule::Schedule;
use lobcod::engine::Problem;

/// Threads of a block, as the kernels are compiled.
const MOST_THREADS: usize = 512;
/// Tiles up to this many positions get few warps each; larger ones many.
const SMALL_TILE: usize = 1024;
/// Bytes on chip that a block of several tiles may take: more than one block shall fit on a multiprocessor.
const SEVERAL_TILES: usize = 100 << 10;
/// Codes of a tile that a support sweep keeps on chip, in shares of its positions: 5 in 8.
const KEPT_CODES: (usize, usize) = (5, 8);

/// Memory and blocks of the sweeps of a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Do footprints fit on chip?
    pub(crate) shared: bool,
    /// Warps that share a tile in a discovery and in a support sweep.
    pub(crate) warps: (usize, usize),
    pub(crate) visit: Blocks,
    pub(crate) support: Blocks,
    pub(crate) synthesis: Blocks,
    /// What a discovery sweep keeps on chip: nothing, all atoms, or also their Gram matrix.
    pub(crate) atoms_on_chip: usize,
    /// Codes a support sweep keeps on chip.
    pub(crate) kept_codes: usize,
    /// Numbers of scratch memory of a tile; 0 where all is on chip.
    pub(crate) scratch: usize,
}

/// Blocks of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Blocks {
    /// Bytes that all tiles of a block share, and those of each.
    pub(crate) common: usize,
    pub(crate) group: usize,
    pub(crate) warps: usize,
    most_groups: usize,
}

impl Blocks {
    fn new(common: usize, group: usize, warps: usize, memory: usize) -> Self {
        let fitting = (SEVERAL_TILES.min(memory).saturating_sub(common) / group.max(1)).max(1);
        let most_groups = fitting.min(MOST_THREADS / (32 * warps)).min(15);
        Self { common, group, warps, most_groups: 1 << most_groups.ilog2() }
    }

    /// Tiles of a block for `tiles` in all: as many as leave every multiprocessor something to do.
    pub(crate) fn groups(&self, tiles: usize, multiprocessors: usize) -> usize {
        let mut groups = self.most_groups;
        while groups > 1 && tiles.div_ceil(groups) < 2 * multiprocessors {
            groups /= 2;
        }
        groups
    }

    pub(crate) fn bytes(&self, groups: usize) -> usize {
        self.common + groups * self.group
    }
}

impl Layout {
    /// The layout for blocks that may take `memory` bytes on chip.
    pub(crate) fn new(schedule: &Schedule, samples: usize, atoms: usize, memory: usize) -> Self {
        let small = schedule.most_needles <= SMALL_TILE;
        let warps: (usize, usize) = if small { (4, 1) } else { (16, 16) };
        let fours = samples.div_ceil(4);
        let stride = atoms.next_multiple_of(32);
        let (columns, gram) = (fours * (stride + 1) * 16, atoms * stride * 4);
        let patch = samples.div_ceil(4) * 16;
        let fields = schedule.footprint * if schedule.cut { 2 } else { 1 };
        let bench = 8 * schedule.most_needles + 4 * schedule.most_layers + 4 * fields + schedule.most_needles;
        let desk = 4 * fields + 4 * (schedule.most_needles + 1);
        let buffers = warps.0 * fours * 16 + 4 * (4 + warps.0);
        let kept_codes = (schedule.most_needles * KEPT_CODES.0 / KEPT_CODES.1).max(32);
        let shares = 16 * warps.1.div_ceil(4);
        // Which code every group of lanes has in every step: two bytes each.
        let lanes = samples.div_ceil(8).next_power_of_two().clamp(4, 32);
        let steps = 2 * kept_codes * (32 / lanes);
        let shared = patch + buffers + bench <= memory && shares + 16 * kept_codes + desk + steps <= memory;
        let on_chip = |bytes: usize| if shared { bytes } else { 0 };
        let group = (buffers + on_chip(bench)).next_multiple_of(16);
        let room = SEVERAL_TILES.min(memory).saturating_sub(patch + group);
        let atoms_on_chip = usize::from(columns <= room) + usize::from(columns + gram <= room);
        let common = patch + [0, columns, columns + gram][atoms_on_chip];
        let kept_codes = if shared { kept_codes } else { 0 };
        let support = (shares + on_chip(16 * kept_codes + desk + steps)).next_multiple_of(16);
        Self {
            shared,
            warps,
            visit: Blocks::new(common, group, warps.0, memory),
            support: Blocks::new(0, support, warps.1, memory),
            synthesis: Blocks::new(0, on_chip(desk + steps).next_multiple_of(16), warps.1, memory),
            atoms_on_chip,
            kept_codes,
            scratch: if shared { 0 } else { bench.max(desk).div_ceil(4).next_multiple_of(4) },
        }
    }

    /// What the kernels of a problem are compiled for.
    pub(crate) fn recipe(&self, problem: &Problem<f32>, schedule: &Schedule) -> Recipe {
        let [row, slice, channel] = schedule.strides;
        Recipe {
            atom: problem.dictionary.extent().padded(),
            channels: problem.dictionary.channels(),
            atoms: problem.dictionary.len(),
            strides: [row, slice, channel, schedule.footprint],
            unit_weights: problem.atom_weights.iter().all(|&w| w == 1.0),
            shared: self.shared,
            cut: schedule.cut,
            capped: problem.cap.is_some() || problem.planes.iter().any(|p| p.position_caps.is_some()),
            warps: self.warps,
        }
    }
}
