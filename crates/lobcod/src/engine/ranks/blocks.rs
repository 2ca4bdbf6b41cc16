//! Which rank works on which tiles.

use crate::grid::{Frame, TileRange};

/// Planes of fewer tiles are not cut: their borders would cost more than the work.
const FEW_TILES: usize = 64;

/// The tiles of a plane, cut into blocks along every axis, one a rank.
#[derive(Clone, Debug)]
pub struct Blocks {
    frame: Frame,
    /// Where the blocks begin along every axis, and the end.
    splits: [Vec<usize>; 3],
    /// Rank of the first block; the others follow, around the corner.
    first: usize,
    ranks: usize,
}

impl Blocks {
    /// Blocks of about the same size, this many along every axis, on ranks from `first` on.
    pub fn new(frame: Frame, grid: [usize; 3], first: usize, ranks: usize) -> Self {
        let counts = frame.tile_counts();
        let splits = std::array::from_fn(|a| (0..=grid[a]).map(|i| i * counts[a] / grid[a]).collect());
        Self { frame, splits, first, ranks }
    }

    /// The plane.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Blocks along every axis.
    pub fn grid(&self) -> [usize; 3] {
        self.splits.each_ref().map(|splits| splits.len() - 1)
    }

    /// The tiles of a rank; none where it has no block of this plane.
    pub fn of(&self, rank: usize) -> TileRange {
        let [gz, gy, gx] = self.grid();
        let block = (rank + self.ranks - self.first) % self.ranks;
        if block >= gz * gy * gx {
            return [0..0, 0..0, 0..0];
        }
        let at = [block / (gy * gx), block / gx % gy, block % gx];
        std::array::from_fn(|a| self.splits[a][at[a]]..self.splits[a][at[a] + 1])
    }

    /// The rank that works on a tile.
    pub fn owner(&self, tile: [usize; 3]) -> usize {
        let [z, y, x]: [usize; 3] = std::array::from_fn(|a| self.splits[a].partition_point(|&start| start <= tile[a]) - 1);
        let [_, gy, gx] = self.grid();
        (self.first + (z * gy + y) * gx + x) % self.ranks
    }
}

/// Shares planes out over ranks: those that hold much of the whole are cut into blocks for all ranks, the others are given as a whole
/// to the rank with the least work. `grid`: all are cut into this many blocks. `whole`: none is cut.
pub fn share_out(frames: Vec<Frame>, ranks: usize, grid: Option<[usize; 3]>, whole: bool) -> Vec<Blocks> {
    let tiles = |frame: &Frame| frame.tile_counts().iter().product::<usize>();
    let share = frames.iter().map(tiles).sum::<usize>().div_ceil(ranks);
    let is_cut = |frame: &Frame| !whole && (grid.is_some() || tiles(frame) > share.max(FEW_TILES));
    // The largest planes first, so that the small ones even out what they leave.
    let mut order: Vec<usize> = (0..frames.len()).filter(|&p| !is_cut(&frames[p])).collect();
    order.sort_by_key(|&p| std::cmp::Reverse(tiles(&frames[p])));
    let mut work = vec![0; ranks];
    let mut place = vec![0; frames.len()];
    for p in order {
        let rank = (0..ranks).min_by_key(|&rank| work[rank]).unwrap_or(0);
        work[rank] += tiles(&frames[p]);
        place[p] = rank;
    }
    let blocks = |(p, frame): (usize, Frame)| {
        if !is_cut(&frame) {
            return Blocks::new(frame, [1; 3], place[p], ranks);
        }
        let counts = frame.tile_counts();
        let grid = grid.map_or_else(|| best_grid(&frame, ranks), |grid| std::array::from_fn(|a| grid[a].min(counts[a])));
        assert!(grid.iter().product::<usize>() <= ranks, "no more blocks than ranks");
        Blocks::new(frame, grid, 0, ranks)
    };
    frames.into_iter().enumerate().map(blocks).collect()
}

/// Blocks along every axis: as many as ranks where the tiles allow it, with the shortest borders.
fn best_grid(frame: &Frame, ranks: usize) -> [usize; 3] {
    let counts = frame.tile_counts();
    let area = |axis: usize| (0..3).filter(|&a| a != axis).map(|a| frame.domain[a] as f64).product::<f64>();
    let border = |grid: [usize; 3]| -> f64 {
        let cuts = |a: usize| if frame.periodic && grid[a] > 1 { grid[a] } else { grid[a] - 1 };
        (0..3).map(|a| cuts(a) as f64 * area(a) * frame.atom[a].saturating_sub(1) as f64).sum()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Border;
    use crate::extent::Extent;
    use crate::grid::Grouping;

    fn frame(signal: &[usize], atom: &[usize], border: Border) -> Frame {
        Frame::new(Extent::new(signal).unwrap(), Extent::new(atom).unwrap(), border, Grouping::Tiles(8)).unwrap()
    }

    #[test]
    fn every_tile_has_one_rank() {
        for border in Border::ALL {
            for ranks in [1, 2, 3, 4, 6, 7] {
                let frames =
                    vec![frame(&[200, 130], &[4, 4], border), frame(&[30, 30], &[4, 4], border), frame(&[9, 9], &[4, 4], border)];
                for blocks in share_out(frames, ranks, None, false) {
                    let mut seen = 0;
                    for rank in 0..ranks {
                        let [z, y, x] = blocks.of(rank);
                        for tile in
                            z.flat_map(|z| y.clone().map(move |y| (z, y))).flat_map(|(z, y)| x.clone().map(move |x| [z, y, x]))
                        {
                            assert_eq!(blocks.owner(tile), rank);
                            seen += 1;
                        }
                    }
                    assert_eq!(seen, blocks.frame().tile_counts().iter().product::<usize>());
                }
            }
        }
    }

    #[test]
    fn large_planes_are_cut_and_small_ones_spread() {
        let large = share_out(vec![frame(&[400, 400], &[4, 4], Border::Free)], 6, None, false);
        assert_eq!(large[0].grid().iter().product::<usize>(), 6);
        assert_eq!(large[0].grid()[1].max(large[0].grid()[2]), 3, "the borders are short");
        let small = share_out((0..6).map(|_| frame(&[40, 40], &[4, 4], Border::Free)).collect(), 3, None, false);
        let owners: Vec<usize> = small.iter().map(|blocks| blocks.owner([0, 0, 0])).collect();
        assert!(small.iter().all(|blocks| blocks.grid() == [1; 3]));
        assert!((0..3).all(|rank| owners.iter().filter(|&&owner| owner == rank).count() == 2));
    }
}
