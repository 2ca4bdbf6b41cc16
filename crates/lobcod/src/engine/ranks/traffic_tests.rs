//! Exchanges on a toy: samples that know who wrote them last.

use super::*;
use crate::border::Border;
use crate::extent::Extent;
use crate::grid::{Grid, Grouping};
use proptest::prelude::*;

/// Every rank's copy of the samples, addressed as in the whole domain.
struct Copies {
    grids: Vec<Grid>,
    values: Vec<Vec<u64>>,
}

impl Copies {
    fn place(grid: &Grid, at: [usize; 3]) -> usize {
        (at[0] * grid.domain[1] + at[1]) * grid.domain[2] + at[2]
    }

    /// Calls `f(value, sample of the whole domain)` for all samples of a rank that a tile touches, or for all.
    fn each(&mut self, rank: usize, whole: [usize; 3], tile: Option<usize>, mut f: impl FnMut(&mut u64, usize)) {
        let grid = &self.grids[rank];
        let span: [Vec<usize>; 3] = std::array::from_fn(|a| {
            let Some(tile) = tile.map(|t| grid.tiles[t]) else { return (0..grid.domain[a]).collect() };
            let range = tile.origin[a]..tile.origin[a] + (tile.size[a] + grid.atom[a]) as i64 - 1;
            let l = grid.domain[a] as i64;
            let mut at: Vec<usize> = if grid.periodic[a] {
                range.map(|p| p.rem_euclid(l) as usize).collect()
            } else {
                range.filter(|p| (0..l).contains(p)).map(|p| p as usize).collect()
            };
            at.sort_unstable();
            at.dedup();
            at
        });
        for &z in &span[0] {
            for &y in &span[1] {
                for &x in &span[2] {
                    let at = [z, y, x];
                    let w: [usize; 3] =
                        std::array::from_fn(|a| (grid.start[a] + at[a] as i64).rem_euclid(whole[a] as i64) as usize);
                    f(&mut self.values[rank][Self::place(grid, at)], (w[0] * whole[1] + w[1]) * whole[2] + w[2]);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn after_every_colour_all_copies_agree(
        size in prop::collection::vec(1usize..40, 1..=3), atom in 1usize..5, tile in 1usize..9,
        border in 0usize..3, grid in prop::collection::vec(1usize..4, 3), spare in 0usize..2,
    ) {
        let border = Border::ALL[border];
        let size: Vec<usize> = if size.len() == 3 { size.iter().map(|s| s % 14 + 1).collect() } else { size };
        let atoms = vec![atom; size.len()];
        prop_assume!(border != Border::Periodic || size.iter().all(|&s| s >= atom));
        let frame = Frame::new(Extent::new(&size).unwrap(), Extent::new(&atoms).unwrap(), border, Grouping::Tiles(tile)).unwrap();
        let counts = frame.tile_counts();
        let grid: [usize; 3] = std::array::from_fn(|a| grid[a].min(counts[a]));
        let ranks = grid.iter().product::<usize>() + spare;
        let planes = [Blocks::new(frame.clone(), grid, ranks - 1, ranks)];
        let traffic: Vec<Traffic> = (0..ranks).map(|rank| Traffic::new(&planes, rank)).collect();
        let grids: Vec<Grid> = (0..ranks).map(|rank| frame.block(&planes[0].of(rank))).collect();
        let values = grids.iter().map(|g| vec![0; g.domain.iter().product()]).collect();
        let mut copies = Copies { grids, values };
        let mut truth = vec![0u64; frame.domain.iter().product()];
        let mut counters: Vec<Vec<u64>> = traffic.iter().map(|t| vec![0; t.slots]).collect();
        for (round, colour) in (0..2).flat_map(|round| (0..frame.colours()).map(move |colour| (round, colour))) {
            // Every tile of the colour writes what only it can have written, and only on its own rank.
            for (rank, own) in counters.iter_mut().enumerate() {
                let tiles = copies.grids[rank].tiles.clone();
                for (index, _) in tiles.iter().enumerate().filter(|(_, tile)| tile.colour == colour) {
                    let mark = 1 + ((round * 100 + rank) * 10_000 + index) as u64;
                    copies.each(rank, frame.domain, Some(index), |value, at| { *value = mark; truth[at] = mark });
                    own[index] = mark;
                }
            }
            for rank in 0..ranks {
                for neighbour in &traffic[rank].neighbours {
                    let back = traffic[neighbour.rank].neighbours.iter().find(|n| n.rank == rank).expect("neighbours know each other");
                    let (out, into) = (&neighbour.colours[colour], &back.colours[colour]);
                    prop_assert_eq!((out.send.len(), out.tell.len()), (into.receive.len(), into.hear.len()));
                    for (from, to) in out.send.iter().zip(&into.receive) {
                        prop_assert_eq!(from.size, to.size);
                        for i in 0..from.volume() {
                            let at = [i / (from.size[1] * from.size[2]), i / from.size[2] % from.size[1], i % from.size[2]];
                            let place = |s: &Strip, g: &Grid| Copies::place(g, std::array::from_fn(|a| s.at[a] + at[a]));
                            let value = copies.values[rank][place(from, &copies.grids[rank])];
                            let to = place(to, &copies.grids[neighbour.rank]);
                            copies.values[neighbour.rank][to] = value;
                        }
                    }
                    for (&from, &to) in out.tell.iter().zip(&into.hear) {
                        counters[neighbour.rank][to as usize] = counters[rank][from as usize];
                    }
                }
            }
            for rank in 0..ranks {
                let mut right = true;
                copies.each(rank, frame.domain, None, |value, at| right &= *value == truth[at]);
                prop_assert!(right, "rank {} after colour {} of {:?}", rank, colour, frame);
            }
        }
        // What a rank knows of the tiles around its own is what their ranks know, in the order of the whole grid.
        for rank in 0..ranks {
            let own = planes[0].of(rank);
            for (tile, around) in tiles_of(&own).zip(&traffic[rank].around) {
                let known: Vec<u64> = around.iter().map(|&slot| counters[rank][slot as usize]).collect();
                let real: Vec<u64> = frame.neighbours(tile).into_iter().map(|near| {
                    let owner = planes[0].owner(near);
                    counters[owner][inside(&planes[0].of(owner), near).unwrap()]
                }).collect();
                prop_assert_eq!(known, real);
            }
        }
    }
}
