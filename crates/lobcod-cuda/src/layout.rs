//! Shared memory of kernels, and the number of tiles per block.

use crate::recipe::{Recipe, lanes_of_code};
use crate::sizes::Sizes;
use lobcod::engine::Problem;

/// Maximum number of threads of a block, as the kernels are compiled.
const MOST_THREADS: usize = 512;
/// Tiles up to this many positions get one warp each; larger ones many.
const SMALL_TILE: usize = 1024;
/// Maximum shared memory of a block of several tiles: two blocks must fit on a multiprocessor.
const SEVERAL_TILES: usize = 112 << 10;

/// Memory and blocks of the sweeps of a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Whether footprints fit into shared memory.
    pub(crate) shared: bool,
    /// Warps that share a tile in a discovery sweep.
    pub(crate) warps: usize,
    pub(crate) visit: Blocks,
    /// Blocks of support sweeps and synthesis, whose warps work on several tiles at once.
    pub(crate) support: Blocks,
    /// Atoms in shared memory in a discovery sweep: none, all, or also their Gram matrix.
    pub(crate) atoms_on_chip: usize,
    /// Codes of a tile that a support sweep stores in shared memory.
    pub(crate) kept_codes: usize,
    /// Scratch memory of a tile, in numbers; 0 if everything is in shared memory.
    pub(crate) scratch: usize,
}

/// Blocks of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Blocks {
    /// Shared memory in bytes: common to all tiles of a block, and per tile.
    pub(crate) common: usize,
    pub(crate) tile: usize,
    /// Warps per tile, or tiles per warp.
    warps: usize,
    tiles: usize,
    /// Maximum number of such units in a block.
    most: usize,
}

impl Blocks {
    fn new(common: usize, tile: usize, (warps, tiles): (usize, usize), memory: usize) -> Self {
        let fitting =
            (SEVERAL_TILES.min(memory).saturating_sub(common) / (tile * tiles).max(1)).max(1);
        let most = fitting.min(MOST_THREADS / (32 * warps)).min(15);
        Self { common, tile, warps, tiles, most: 1 << most.ilog2() }
    }

    /// Number of blocks, threads and bytes of shared memory for this many tiles: as many units per
    /// block as keep every multiprocessor busy.
    pub(crate) fn split(&self, tiles: usize, multiprocessors: usize) -> (usize, usize, usize) {
        let units = tiles.div_ceil(self.tiles);
        let mut together = self.most;
        while together > 1 && units.div_ceil(together) < 2 * multiprocessors {
            together /= 2;
        }
        let bytes = self.common + together * self.tiles * self.tile;
        (units.div_ceil(together), together * self.warps * 32, bytes)
    }
}

impl Layout {
    /// The layout for blocks with at most `memory` bytes of shared memory.
    pub(crate) fn new(sizes: &Sizes, samples: usize, atoms: usize, memory: usize) -> Self {
        let warps = if sizes.most_needles <= SMALL_TILE { 1 } else { 16 };
        let tiles_of_warp = 32 / lanes_of_code(samples);
        let (fours, stride) = (samples.div_ceil(4), atoms.next_multiple_of(32));
        let columns = fours * (stride + 1) * 16;
        let gram = atoms * stride * 4;
        let patch = fours * 16;
        let fields = 4 * sizes.strides[3] * if sizes.clipped { 2 } else { 1 };
        let bench = 8 * sizes.most_needles + 4 * sizes.most_layers + fields + sizes.most_needles;
        let buffers = warps * fours * 16 + 4 * (4 + warps).next_multiple_of(4);
        let kept = sizes.most_needles;
        let shared =
            patch + buffers + bench <= memory && tiles_of_warp * (16 * kept + fields) <= memory;
        let on_chip = |bytes: usize| if shared { bytes } else { 0 };
        let kept_codes = on_chip(kept);
        let bench_tile = (buffers + on_chip(bench)).next_multiple_of(16);
        let free = SEVERAL_TILES.min(memory).saturating_sub(patch + bench_tile);
        let atoms_on_chip = usize::from(columns <= free) + usize::from(columns + gram <= free);
        let common = patch + [0, columns, columns + gram][atoms_on_chip];
        let desk_tile = on_chip(16 * kept_codes + fields).next_multiple_of(16);
        Self {
            shared,
            warps,
            visit: Blocks::new(common, bench_tile, (warps, 1), memory),
            support: Blocks::new(0, desk_tile, (1, tiles_of_warp), memory),
            atoms_on_chip,
            kept_codes,
            scratch: if shared { 0 } else { bench.max(fields).div_ceil(4).next_multiple_of(4) },
        }
    }

    /// The compile-time parameters of the kernels of a problem.
    pub(crate) fn recipe(&self, problem: &Problem<f32>, sizes: &Sizes) -> Recipe {
        Recipe {
            atom: problem.dictionary.extent().padded(),
            channels: problem.dictionary.channels(),
            atoms: problem.dictionary.len(),
            strides: sizes.strides,
            unit_weights: problem.atom_weights.iter().all(|&w| w == 1.0),
            shared: self.shared,
            clipped: sizes.clipped,
            capped: problem.cap.is_some()
                || problem.planes.iter().any(|p| p.position_caps.is_some()),
            warps: self.warps,
        }
    }
}
