//! The tables say what the grid says.

use super::*;
use lobcod::engine::Plane as Given;
use lobcod::grid::axis_order;
use lobcod::{Dictionary, Extent, Local};

fn problem(sizes: &[&[usize]], atom: &[usize], channels: usize, border: Border, grouping: Grouping) -> Problem<f32> {
    let plane = |axes: &&[usize]| {
        let extent = Extent::new(axes).unwrap();
        let target = vec![0.0; extent.volume() * channels];
        Given { extent, target, weights: None, position_weights: None, position_caps: None, held: None }
    };
    Problem {
        planes: sizes.iter().map(plane).collect(),
        dictionary: Dictionary::random(Extent::new(atom).unwrap(), channels, 5, 0).unwrap(),
        border,
        grouping,
        atom_weights: vec![1.0; 5],
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    }
}

/// Sizes of the planes, box of an atom, channels.
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
                    let mut open: [_; 3] = std::array::from_fn(|a| if a + rank < 3 { 0..1 } else { -2..7 });
                    open[3 - rank] = 1..8;
                    check(&problem, &Schedule::new(&problem, Some(&open)).unwrap());
                }
            }
        }
    }
}

#[test]
fn needles_of_every_tile_stand_in_the_order_of_its_layers() {
    all(|_, schedule| {
        let [row, slice, _] = schedule.sizes.strides;
        for tile in &schedule.tiles {
            let (grid, shape) = (&schedule.grids[tile.plane as usize], schedule.shapes[tile.shape as usize]);
            let from = shape.needles_at as usize;
            let needles = &schedule.needles[from..from + shape.needle_count as usize];
            assert_eq!(needles.len(), tile.size.iter().product::<i32>() as usize);
            let mut order: Vec<[[usize; 3]; 2]> = Vec::new();
            for (q, &offset) in needles.iter().enumerate() {
                let at = [offset as usize / slice, offset as usize % slice / row, offset as usize % row];
                let size = tile.size.map(|s| s as usize);
                assert!((0..3).all(|a| at[a] < size[a]));
                let place: [(usize, usize); 3] =
                    std::array::from_fn(|a| axis_order(at[a], size[a], grid.period[a], grid.wraps[a]));
                order.push([place.map(|p| p.0), place.map(|p| p.1)]);
                let layer = schedule.needle_layers[from + q] as usize;
                let layers = &schedule.layers[shape.layers_at as usize..][..shape.layer_count as usize + 1];
                assert!(layers[layer] <= q as i32 && (q as i32) < layers[layer + 1]);
            }
            assert!(order.is_sorted());
            let numbers = &schedule.needle_numbers()[tile.shape as usize];
            assert!(needles.iter().enumerate().all(|(q, &offset)| numbers[offset as usize] == q as u32));
        }
    });
}

#[test]
fn every_tile_has_one_colour_and_every_sample_one_part() {
    all(|problem, schedule| {
        let mut tiles = schedule.coloured.clone();
        tiles.sort_unstable();
        assert!(tiles.iter().enumerate().all(|(i, &t)| i as i32 == t) && tiles.len() == schedule.tiles.len());
        for (c, ends) in schedule.colours.windows(2).enumerate() {
            for &t in &schedule.coloured[ends[0]..ends[1]] {
                let tile = schedule.tiles[t as usize];
                let grid = &schedule.grids[tile.plane as usize];
                let index = t as usize - schedule.planes[tile.plane as usize].first_tile as usize;
                assert_eq!(grid.tiles[index].colour, c);
                assert_eq!(grid.tiles[index].origin, tile.origin.map(i64::from));
                let near = &schedule.neighbours[tile.neighbours_at as usize..][..tile.neighbour_count as usize];
                let first = schedule.planes[tile.plane as usize].first_tile;
                let mut near: Vec<usize> = near.iter().map(|n| (n - first) as usize).collect();
                near.sort_unstable();
                assert_eq!(near, grid.neighbours(index));
            }
        }
        let mut next = 0;
        for part in &schedule.parts {
            assert_eq!(part.from, next);
            next += i64::from(part.length);
        }
        assert_eq!(next as usize, schedule.sizes.samples);
        assert_eq!(schedule.first_part.len(), problem.planes.len() + 1);
    });
}

#[test]
fn sizes_are_those_of_what_is_listed() {
    all(|_, schedule| {
        let sizes = &schedule.sizes;
        assert_eq!(sizes.tiles, schedule.tiles.len());
        assert_eq!(sizes.positions, schedule.grids.iter().map(Grid::position_count).sum::<usize>());
        assert_eq!(sizes.positions, schedule.tiles.iter().map(|t| t.size.iter().product::<i32>() as usize).sum::<usize>());
        assert_eq!(Some(sizes.most_needles as i32), schedule.shapes.iter().map(|shape| shape.needle_count).max());
        assert_eq!(Some(sizes.most_layers as i32), schedule.shapes.iter().map(|shape| shape.layer_count).max());
        assert_eq!(sizes.cut, schedule.tiles.iter().any(|tile| tile.cut == 1));
    });
}

#[test]
fn strides_hold_every_tile_and_divide_each_other() {
    // Kernels take places of a footprint apart by division: every number below its size must be one place.
    all(|problem, schedule| {
        let [row, slice, channel] = schedule.sizes.strides;
        assert!(slice.is_multiple_of(row) && channel.is_multiple_of(slice));
        assert_eq!(schedule.sizes.footprint, problem.dictionary.channels() * channel);
        let atom = problem.dictionary.extent().padded();
        for tile in &schedule.tiles {
            let size: [usize; 3] = std::array::from_fn(|a| tile.size[a] as usize + atom[a] - 1);
            assert!(size[2] <= row && size[1] <= slice / row && size[0] <= channel / slice);
        }
    });
}

#[test]
fn regions_cover_all_positions() {
    all(|problem, schedule| {
        let recipe = Recipe {
            atom: problem.dictionary.extent().padded(),
            channels: problem.dictionary.channels(),
            atoms: 5,
            strides: [1, 1, 1, 1],
            unit_weights: true,
            shared: true,
            cut: false,
            capped: false,
            warps: 1,
        };
        let size = recipe.region_step();
        for (p, grid) in schedule.grids.iter().enumerate() {
            let regions: Vec<Region> = schedule.regions(&recipe).into_iter().filter(|r| r.plane == p as i32).collect();
            let covered =
                |region: &Region| (0..3).map(|a| (grid.positions[a] - region.at[a] as usize).min(size[a])).product::<usize>();
            assert_eq!(regions.iter().map(covered).sum::<usize>(), grid.position_count());
        }
    });
}

#[test]
fn codes_are_put_where_their_tiles_are_and_found_again() {
    all(|_, schedule| {
        let mut codes: Vec<Vec<lobcod::Code<f32>>> = Vec::new();
        for grid in &schedule.grids {
            let [depth, height, width] = grid.positions;
            let position = |i: usize| -> [i32; 3] {
                let at = [i / (height * width), i / width % height, i % width];
                std::array::from_fn(|a| (grid.first[a] + at[a] as i64 - grid.signal_at[a] as i64) as i32)
            };
            let code = |i: usize| lobcod::Code { position: position(i), atom: (i % 5) as u32, channel: 0, value: i as f32 };
            let mut plane: Vec<_> = (0..depth * height * width).filter(|i| i % 3 != 1).map(code).collect();
            plane.extend((0..depth * height * width).step_by(7).map(|i| lobcod::Code { atom: 9, ..code(i) }));
            codes.push(plane);
        }
        let (first, device) = schedule.by_tile(&codes);
        assert_eq!((first.len(), first[first.len() - 1] as usize), (schedule.tiles.len() + 1, device.len()));
        for (t, two) in first.windows(2).enumerate() {
            let own = &device[two[0] as usize..two[1] as usize];
            let shape = schedule.shapes[schedule.tiles[t].shape as usize];
            assert!(own.iter().all(|code| (code.needle as i32) < shape.needle_count));
            assert!(own.windows(2).all(|two| (two[0].needle, two[0].atom) < (two[1].needle, two[1].atom)));
        }
        for (plane, mut given) in schedule.planes.iter().zip(codes) {
            let tiles = plane.first_tile as usize..(plane.first_tile + plane.tile_count) as usize;
            let own = &device[first[tiles.start] as usize..first[tiles.end] as usize];
            let mut found = Vec::with_capacity(own.len());
            schedule.codes_of_tiles(tiles, &first, own, &mut found.spare_capacity_mut()[..own.len()]);
            // SAFETY: all of them were written.
            unsafe { found.set_len(own.len()) };
            let key = |code: &lobcod::Code<f32>| (code.position, code.atom);
            given.sort_by_key(key);
            found.sort_by_key(key);
            assert_eq!(found, given);
        }
    });
}
