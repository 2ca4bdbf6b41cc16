//! Assignment of tiles, and exchange in a toy model whose samples record who wrote them last.

use lobcod::engine::ranks::{Blocks, Traffic, share_out};
use lobcod::geometry::{self, InDomain, Point};
use lobcod::grid::{Grid, Grouping, TileRange, Tiling};
use lobcod::{Border, Extent};
use proptest::prelude::*;

fn tiling(signal: &[usize], atom: &[usize], border: Border) -> Tiling {
    Tiling::new(
        Extent::new(signal).unwrap(),
        Extent::new(atom).unwrap(),
        border,
        Grouping::Tiles(8),
    )
    .unwrap()
}

#[test]
fn every_tile_has_one_rank() {
    for border in Border::ALL {
        for ranks in [1, 2, 3, 4, 6, 7] {
            let planes = vec![
                tiling(&[200, 130], &[4, 4], border),
                tiling(&[30, 30], &[4, 4], border),
                tiling(&[9, 9], &[4, 4], border),
            ];
            for blocks in share_out(planes, ranks, None, false) {
                let mut seen = 0;
                for rank in 0..ranks {
                    let [z, y, x] = blocks.of(rank);
                    for tile in z
                        .flat_map(|z| y.clone().map(move |y| (z, y)))
                        .flat_map(|(z, y)| x.clone().map(move |x| [z, y, x]))
                    {
                        assert_eq!(blocks.owner(tile), rank);
                        seen += 1;
                    }
                }
                assert_eq!(seen, blocks.tiling().tile_counts().iter().product::<usize>());
            }
        }
    }
}

#[test]
fn large_planes_are_cut_and_small_ones_spread() {
    let large = share_out(vec![tiling(&[400, 400], &[4, 4], Border::Free)], 6, None, false);
    assert_eq!(large[0].grid().iter().product::<usize>(), 6);
    assert_eq!(large[0].grid()[1].max(large[0].grid()[2]), 3, "the borders are short");
    let small = share_out(
        (0..6).map(|_| tiling(&[40, 40], &[4, 4], Border::Free)).collect(),
        3,
        None,
        false,
    );
    let owners: Vec<usize> = small.iter().map(|blocks| blocks.owner([0, 0, 0])).collect();
    assert!(small.iter().all(|blocks| blocks.grid() == [1; 3]));
    assert!((0..3).all(|rank| owners.iter().filter(|&&owner| owner == rank).count() == 2));
}

/// The tiles of a range, in order.
fn tiles_of(range: &TileRange) -> impl Iterator<Item = [usize; 3]> + '_ {
    let counts = range.each_ref().map(|range| range.len());
    (0..geometry::volume(counts)).map(move |i| {
        let at = geometry::cell(i, counts);
        std::array::from_fn(|a| range[a].start + at[a])
    })
}

/// Index of a tile in a range, if it is inside.
fn inside(range: &TileRange, tile: [usize; 3]) -> Option<usize> {
    let at: [usize; 3] = std::array::from_fn(|a| tile[a].wrapping_sub(range[a].start));
    (0..3)
        .all(|a| at[a] < range[a].len())
        .then(|| geometry::index(at, range.each_ref().map(|range| range.len())))
}

/// Every rank's copy of the samples, addressed as in the whole domain.
struct Copies {
    grids: Vec<Grid>,
    values: Vec<Vec<u64>>,
}

impl Copies {
    fn place(grid: &Grid, at: Point<InDomain>) -> usize {
        grid.raster(1).index(0, at)
    }

    /// Calls `f(value, sample of the whole domain)` for all samples of a rank that a tile touches,
    /// or for all.
    fn each(
        &mut self,
        rank: usize,
        tiling: &Tiling,
        tile: Option<usize>,
        mut f: impl FnMut(&mut u64, usize),
    ) {
        let (whole, start) = (tiling.domain.size, tiling.domain.start);
        let grid = &self.grids[rank];
        let span: [Vec<usize>; 3] = std::array::from_fn(|a| {
            let Some(tile) = tile.map(|t| grid.tiles[t]) else {
                return (0..grid.domain[a]).collect();
            };
            let range = tile.region.touched(grid.atom).range(a);
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
                    let w: [usize; 3] = std::array::from_fn(|a| {
                        (grid.origin.at[a] - start[a] + at[a] as i64).rem_euclid(whole[a] as i64)
                            as usize
                    });
                    f(
                        &mut self.values[rank][Self::place(grid, Point::new(at.map(|x| x as i64)))],
                        (w[0] * whole[1] + w[1]) * whole[2] + w[2],
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn after_every_colour_all_copies_agree(
        size in prop::collection::vec(1usize..40, 1..=3),
        atom in 1usize..5,
        tile in 1usize..9,
        border in 0usize..3,
        grid in prop::collection::vec(1usize..4, 3),
        spare in 0usize..2,
    ) {
        let border = Border::ALL[border];
        let size: Vec<usize> =
            if size.len() == 3 { size.iter().map(|s| s % 14 + 1).collect() } else { size };
        let atoms = vec![atom; size.len()];
        prop_assume!(border != Border::Periodic || size.iter().all(|&s| s >= atom));
        let tiling = Tiling::new(
            Extent::new(&size).unwrap(),
            Extent::new(&atoms).unwrap(),
            border,
            Grouping::Tiles(tile),
        )
        .unwrap();
        let counts = tiling.tile_counts();
        let grid: [usize; 3] = std::array::from_fn(|a| grid[a].min(counts[a]));
        let ranks = grid.iter().product::<usize>() + spare;
        let planes = [Blocks::new(tiling.clone(), grid, ranks - 1, ranks)];
        let traffic: Vec<Traffic> = (0..ranks).map(|rank| Traffic::new(&planes, rank)).collect();
        let grids: Vec<Grid> = (0..ranks).map(|rank| tiling.block(&planes[0].of(rank))).collect();
        let values = grids.iter().map(|g| vec![0; g.domain.iter().product()]).collect();
        let mut copies = Copies { grids, values };
        let mut truth = vec![0u64; tiling.domain.volume()];
        let mut counters: Vec<Vec<u64>> = traffic.iter().map(|t| vec![0; t.slots]).collect();
        for (round, colour) in
            (0..2).flat_map(|round| (0..tiling.colours()).map(move |colour| (round, colour)))
        {
            // Every tile of the colour writes unique values, only on its own rank.
            for (rank, own) in counters.iter_mut().enumerate() {
                let tiles = copies.grids[rank].tiles.clone();
                for (index, _) in tiles.iter().enumerate().filter(|(_, tile)| tile.colour == colour)
                {
                    let mark = 1 + ((round * 100 + rank) * 10_000 + index) as u64;
                    copies.each(rank, &tiling, Some(index), |value, at| {
                        *value = mark;
                        truth[at] = mark
                    });
                    own[index] = mark;
                }
            }
            for rank in 0..ranks {
                for neighbour in &traffic[rank].neighbours {
                    let back = traffic[neighbour.rank]
                        .neighbours
                        .iter()
                        .find(|n| n.rank == rank)
                        .expect("neighbours know each other");
                    let (out, into) = (&neighbour.colours[colour], &back.colours[colour]);
                    prop_assert_eq!(
                        (out.send.len(), out.send_counters.len()),
                        (into.receive.len(), into.receive_counters.len())
                    );
                    for (from, to) in out.send.iter().zip(&into.receive) {
                        prop_assert_eq!(from.region.size, to.region.size);
                        for (from, to) in from.region.points().zip(to.region.points()) {
                            let value =
                                copies.values[rank][Copies::place(&copies.grids[rank], from)];
                            let to = Copies::place(&copies.grids[neighbour.rank], to);
                            copies.values[neighbour.rank][to] = value;
                        }
                    }
                    for (&from, &to) in out.send_counters.iter().zip(&into.receive_counters) {
                        counters[neighbour.rank][to as usize] = counters[rank][from as usize];
                    }
                }
            }
            for rank in 0..ranks {
                let mut right = true;
                copies.each(rank, &tiling, None, |value, at| right &= *value == truth[at]);
                prop_assert!(right, "rank {} after colour {} of {:?}", rank, colour, tiling);
            }
        }
        // A rank's view of neighbouring tiles agrees with that of their ranks, in the order of the
        // whole grid.
        for rank in 0..ranks {
            let own = planes[0].of(rank);
            for (tile, around) in tiles_of(&own).zip(&traffic[rank].around) {
                let known: Vec<u64> =
                    around.iter().map(|&slot| counters[rank][slot as usize]).collect();
                let real: Vec<u64> = tiling
                    .neighbours(tile)
                    .map(|near| {
                        let owner = planes[0].owner(near);
                        counters[owner][inside(&planes[0].of(owner), near).unwrap()]
                    })
                    .collect();
                prop_assert_eq!(known, real);
            }
        }
    }
}
