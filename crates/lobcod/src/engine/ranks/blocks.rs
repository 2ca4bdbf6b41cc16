//! Assignment of tiles to ranks.

use crate::geometry;
use crate::grid::{TileRange, Tiling};
use std::array::from_fn;

/// Planes with fewer tiles are not split.
const FEW_TILES: usize = 64;

/// The tiles of a plane, split into blocks along every axis, one per rank.
#[derive(Clone, Debug)]
pub struct Blocks {
    tiling: Tiling,
    /// Start of every block along each axis, and the end.
    splits: [Vec<usize>; 3],
    /// Rank of the first block; the others follow, modulo the number of ranks.
    first: usize,
    ranks: usize,
}

impl Blocks {
    /// Blocks of similar size, this many along every axis, on ranks from `first` on.
    pub fn new(tiling: Tiling, grid: [usize; 3], first: usize, ranks: usize) -> Self {
        let counts = tiling.tile_counts();
        let splits = from_fn(|a| (0..=grid[a]).map(|i| i * counts[a] / grid[a]).collect());
        Self { tiling, splits, first, ranks }
    }

    /// Blocks of whole [bands](Tiling::bands), of similar size.
    pub fn of_bands(tiling: Tiling, ranks: usize) -> Self {
        let (axis, bands) = (tiling.band_axis(), tiling.bands());
        let count = bands.len().min(ranks);
        let mut splits = tiling.tile_counts().map(|count| vec![0, count]);
        splits[axis] = (0..count)
            .map(|block| bands[block * bands.len() / count].start)
            .chain([tiling.tile_counts()[axis]])
            .collect();
        Self { tiling, splits, first: 0, ranks }
    }

    /// The tiling of the plane.
    pub fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// Number of blocks along every axis.
    pub fn grid(&self) -> [usize; 3] {
        self.splits.each_ref().map(|splits| splits.len() - 1)
    }

    /// The tiles of a rank; none if it has no block of this plane.
    pub fn of(&self, rank: usize) -> TileRange {
        let block = (rank + self.ranks - self.first) % self.ranks;
        if block >= geometry::volume(self.grid()) {
            return [0..0, 0..0, 0..0];
        }
        let at = geometry::cell(block, self.grid());
        from_fn(|a| self.splits[a][at[a]]..self.splits[a][at[a] + 1])
    }

    /// The rank that works on a tile.
    pub fn owner(&self, tile: [usize; 3]) -> usize {
        let block = from_fn(|a| self.splits[a].partition_point(|&start| start <= tile[a]) - 1);
        (self.first + geometry::index(block, self.grid())) % self.ranks
    }
}

/// Distributes planes over ranks: large ones are split into blocks (`grid`: all planes, into this
/// many; `bands`: only between bands), the others go to the rank with the least work.
pub fn share_out(
    planes: Vec<Tiling>,
    ranks: usize,
    grid: Option<[usize; 3]>,
    bands: bool,
) -> Vec<Blocks> {
    let tiles = |tiling: &Tiling| geometry::volume(tiling.tile_counts());
    let share = planes.iter().map(tiles).sum::<usize>().div_ceil(ranks);
    let is_cut = |tiling: &Tiling| {
        let large = grid.is_some() || tiles(tiling) > share.max(FEW_TILES);
        large && (!bands || tiling.bands().len() > 1)
    };
    // The largest planes first, so that the small ones balance the rest.
    let mut order: Vec<usize> = (0..planes.len()).filter(|&p| !is_cut(&planes[p])).collect();
    order.sort_by_key(|&p| std::cmp::Reverse(tiles(&planes[p])));
    let mut work = vec![0; ranks];
    let mut place = vec![0; planes.len()];
    for p in order {
        let rank = (0..ranks).min_by_key(|&rank| work[rank]).unwrap_or(0);
        work[rank] += tiles(&planes[p]);
        place[p] = rank;
    }
    let blocks = |(p, tiling): (usize, Tiling)| {
        if !is_cut(&tiling) {
            return Blocks::new(tiling, [1; 3], place[p], ranks);
        }
        if bands {
            return Blocks::of_bands(tiling, ranks);
        }
        let counts = tiling.tile_counts();
        let grid = grid
            .map_or_else(|| best_grid(&tiling, ranks), |grid| from_fn(|a| grid[a].min(counts[a])));
        assert!(grid.iter().product::<usize>() <= ranks, "at most one block per rank");
        Blocks::new(tiling, grid, 0, ranks)
    };
    planes.into_iter().enumerate().map(blocks).collect()
}

/// Number of blocks along every axis: up to one per rank, with the shortest borders.
fn best_grid(tiling: &Tiling, ranks: usize) -> [usize; 3] {
    let counts = tiling.tile_counts();
    let area = |axis: usize| {
        (0..3).filter(|&a| a != axis).map(|a| tiling.domain.size[a] as f64).product::<f64>()
    };
    let border = |grid: [usize; 3]| -> f64 {
        let seams = |a: usize| if tiling.periodic && grid[a] > 1 { grid[a] } else { grid[a] - 1 };
        (0..3).map(|a| seams(a) as f64 * area(a) * tiling.atom[a].saturating_sub(1) as f64).sum()
    };
    let mut best = [1; 3];
    for z in 1..=counts[0].min(ranks) {
        for y in 1..=counts[1].min(ranks / z) {
            let x = counts[2].min(ranks / (z * y));
            let (grid, all) = ([z, y, x], z * y * x);
            let most = best.iter().product::<usize>();
            if all > most || (all == most && border(grid) < border(best)) {
                best = grid;
            }
        }
    }
    best
}
