//! The tables agree with the grid.

use super::*;
use lobcod::pursuit::Local;
use lobcod::{Border, Code, Dictionary, Extent};

fn problem(
    sizes: &[&[usize]],
    atom: &[usize],
    channels: usize,
    border: Border,
    grouping: Grouping,
) -> Problem<f32> {
    let plane = |axes: &&[usize]| {
        let extent = Extent::new(axes).unwrap();
        engine::Plane {
            target: vec![0.0; extent.volume() * channels],
            ..engine::Plane::empty(extent)
        }
    };
    Problem {
        planes: sizes.iter().map(plane).collect(),
        dictionary: Dictionary::random(Extent::new(atom).unwrap(), channels, 5, 0).unwrap(),
        border,
        grouping,
        atom_weights: vec![1.0; 5],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    }
}

/// Sizes of the planes, extent of an atom, channels.
type Sizes = (&'static [&'static [usize]], &'static [usize], usize);

fn all(check: impl Fn(&Problem<f32>, &Schedule)) {
    let sizes: [Sizes; 4] = [
        (&[&[700], &[40]], &[7], 1),
        (&[&[50, 61], &[9, 8], &[50, 61]], &[8, 5], 3),
        (&[&[9, 12, 14]], &[2, 3, 4], 1),
        (&[&[130, 8]], &[8, 8], 1),
    ];
    for (sizes, atom, channels) in sizes {
        for border in Border::ALL {
            for grouping in [Grouping::Tiles(32), Grouping::WholeLayers, Grouping::SingleNeedles] {
                let problem = problem(sizes, atom, channels, border, grouping);
                check(&problem, &Schedule::new(&problem, None).unwrap());
                if border == Border::Free && sizes.len() == 1 {
                    let rank = atom.len();
                    let axis = |a: usize| if a + rank < 3 { 0..1 } else { -2..7 };
                    let positions = Region::of(axis).with_range(3 - rank, 1..8);
                    check(&problem, &Schedule::new(&problem, Some(&positions)).unwrap());
                }
            }
        }
    }
}

#[test]
fn needles_of_every_tile_are_sorted_by_layer() {
    all(|_, schedule| {
        for (t, tile) in schedule.tiles.iter().enumerate() {
            let (grid, shape) =
                (&schedule.grids[tile.plane as usize], schedule.shapes[tile.shape as usize]);
            let listed = &grid.tiles[t - schedule.planes[tile.plane as usize].first_tile as usize];
            let of_grid = Layers::of(grid, listed);
            let from = shape.needles_at as usize;
            let needles = &schedule.needles[from..from + shape.needle_count as usize];
            assert_eq!(needles.len(), tile.size.iter().product::<i32>() as usize);
            let mut order: Vec<[[usize; 3]; 2]> = Vec::new();
            for (q, &offset) in needles.iter().enumerate() {
                let at = cell(offset as usize, schedule.sizes.footprint);
                assert!((0..3).all(|a| at[a] < listed.region.size[a]));
                order.push(of_grid.order(at));
                let layer = schedule.needle_layers[from + q] as usize;
                assert_eq!(layer, of_grid.layer_of(at));
                let layers =
                    &schedule.layers[shape.layers_at as usize..][..shape.layer_count as usize + 1];
                assert!(layers[layer] <= q as i32 && (q as i32) < layers[layer + 1]);
            }
            assert!(order.is_sorted());
            let numbers = &schedule.needle_numbers()[tile.shape as usize];
            assert!(
                needles.iter().enumerate().all(|(q, &offset)| numbers[offset as usize] == q as u32)
            );
        }
    });
}

#[test]
fn every_tile_has_one_colour_and_every_sample_one_run() {
    all(|problem, schedule| {
        let mut tiles = schedule.coloured.clone();
        tiles.sort_unstable();
        assert!(
            tiles.iter().enumerate().all(|(i, &t)| i as i32 == t)
                && tiles.len() == schedule.tiles.len()
        );
        for (c, ends) in schedule.colours.windows(2).enumerate() {
            for &t in &schedule.coloured[ends[0]..ends[1]] {
                let tile = schedule.tiles[t as usize];
                let grid = &schedule.grids[tile.plane as usize];
                let index = t as usize - schedule.planes[tile.plane as usize].first_tile as usize;
                assert_eq!(grid.tiles[index].colour, c);
                assert_eq!(grid.tiles[index].region.start, tile.origin.map(i64::from));
                let near = &schedule.neighbours[tile.neighbours_at as usize..]
                    [..tile.neighbour_count as usize];
                let Neighbours { starts, list } = grid.neighbours(t as usize - index, 1);
                assert_eq!(near, &list[starts[index] as usize..starts[index + 1] as usize]);
            }
        }
        let mut next = 0;
        for run in &schedule.runs {
            assert_eq!(run.from, next);
            next += i64::from(run.length);
        }
        assert_eq!(next as usize, schedule.sizes.samples);
        assert_eq!(schedule.first_run.len(), problem.planes.len() + 1);
    });
}

#[test]
fn sizes_match_the_listed_tiles() {
    all(|_, schedule| {
        let sizes = &schedule.sizes;
        assert_eq!(sizes.tiles, schedule.tiles.len());
        assert_eq!(sizes.positions, schedule.grids.iter().map(Grid::position_count).sum::<usize>());
        assert_eq!(
            sizes.positions,
            schedule.tiles.iter().map(|t| t.size.iter().product::<i32>() as usize).sum::<usize>()
        );
        assert_eq!(
            Some(sizes.most_needles as i32),
            schedule.shapes.iter().map(|shape| shape.needle_count).max()
        );
        assert_eq!(
            Some(sizes.most_layers as i32),
            schedule.shapes.iter().map(|shape| shape.layer_count).max()
        );
        assert_eq!(sizes.clipped, schedule.tiles.iter().any(|tile| tile.clipped == 1));
    });
}

#[test]
fn strides_hold_every_tile_and_divide_each_other() {
    // Kernels decode offsets of a footprint by division: every number below its size must be a
    // valid offset.
    all(|problem, schedule| {
        let [row, slice, channel, all] = schedule.sizes.strides;
        assert!(slice.is_multiple_of(row) && channel.is_multiple_of(slice));
        assert_eq!(all, problem.dictionary.channels() * channel);
        let atom = problem.dictionary.extent().padded();
        for tile in &schedule.tiles {
            let size: [usize; 3] = from_fn(|a| tile.size[a] as usize + atom[a] - 1);
            assert!(size[2] <= row && size[1] <= slice / row && size[0] <= channel / slice);
        }
    });
}

#[test]
fn reach_blocks_cover_all_positions() {
    all(|_, schedule| {
        let step = [2, 3, 5];
        for (p, grid) in schedule.grids.iter().enumerate() {
            let along = |block: &ReachBlock, a: usize| {
                (grid.positions.size[a] - block.at[a] as usize).min(step[a])
            };
            let covered = |block: ReachBlock| (0..3).map(|a| along(&block, a)).product::<usize>();
            assert_eq!(
                schedule.reach_blocks(p, step).map(covered).sum::<usize>(),
                grid.position_count()
            );
        }
    });
}

#[test]
fn codes_round_trip_through_their_tiles() {
    all(|_, schedule| {
        let mut codes: Vec<Vec<Code<f32>>> = Vec::new();
        for grid in &schedule.grids {
            let positions: Vec<_> =
                grid.positions.points().map(|at| grid.to_signal(at).at.map(|x| x as i32)).collect();
            let code = |i: usize| Code {
                position: positions[i],
                atom: (i % 5) as u32,
                channel: 0,
                value: i as f32,
            };
            let mut plane: Vec<_> = (0..positions.len()).filter(|i| i % 3 != 1).map(code).collect();
            plane.extend((0..positions.len()).step_by(7).map(|i| Code { atom: 9, ..code(i) }));
            codes.push(plane);
        }
        let (first, device) = schedule.by_tile(&codes);
        assert_eq!(
            (first.len(), first[first.len() - 1] as usize),
            (schedule.tiles.len() + 1, device.len())
        );
        for (t, two) in first.windows(2).enumerate() {
            let own = &device[two[0] as usize..two[1] as usize];
            let shape = schedule.shapes[schedule.tiles[t].shape as usize];
            assert!(own.iter().all(|code| (code.needle as i32) < shape.needle_count));
            assert!(
                own.windows(2)
                    .all(|two| (two[0].needle, two[0].atom) < (two[1].needle, two[1].atom))
            );
        }
        for (plane, mut given) in schedule.planes.iter().zip(codes) {
            let tiles = plane.first_tile as usize..(plane.first_tile + plane.tile_count) as usize;
            let own = &device[first[tiles.start] as usize..first[tiles.end] as usize];
            let mut found = Vec::with_capacity(own.len());
            schedule.codes_of_tiles(
                tiles,
                &first,
                own,
                &mut found.spare_capacity_mut()[..own.len()],
            );
            // SAFETY: all of them were written.
            unsafe { found.set_len(own.len()) };
            let key = |code: &Code<f32>| (code.position, code.atom);
            given.sort_by_key(key);
            found.sort_by_key(key);
            assert_eq!(found, given);
        }
    });
}
