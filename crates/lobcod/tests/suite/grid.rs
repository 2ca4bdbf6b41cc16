//! Tiles, colours, layers and neighbours of a grid.

use lobcod::geometry::{self, Point};
use lobcod::grid::{AxisLayers, Grid, Grouping, Locator, Tiling, split_axis};
use lobcod::{Border, Extent};
use proptest::prelude::*;

proptest! {
    #[test]
    fn tiles_cover_the_axis_and_footprints_of_a_colour_are_disjoint(
        positions in 1usize..400,
        atom in 1usize..40,
        target in 1usize..80,
        periodic: bool,
    ) {
        prop_assume!(!periodic || positions >= atom);
        let cut = split_axis(positions, atom, target, periodic);
        let mut next = 0;
        for t in &cut.tiles {
            prop_assert_eq!(t.start, next);
            prop_assert!(t.length > 0 && t.colour < cut.colours);
            next += t.length;
        }
        prop_assert_eq!(next, positions);
        if cut.wraps {
            prop_assert!(periodic && cut.tiles.len() == 1);
            return Ok(());
        }
        let room = if periodic { positions } else { positions + atom - 1 };
        for colour in 0..cut.colours {
            let mut touched = vec![false; room];
            for t in cut.tiles.iter().filter(|t| t.colour == colour) {
                for sample in t.start..t.start + t.length + atom - 1 {
                    prop_assert!(!std::mem::replace(&mut touched[sample % room], true));
                }
            }
        }
    }

    #[test]
    fn every_position_is_in_one_layer_and_patches_of_a_layer_are_apart(
        length in 1usize..60,
        atom in 1usize..12,
        wraps: bool,
    ) {
        prop_assume!(!wraps || length >= atom);
        let mut seen = vec![0; length];
        for (l, layer) in AxisLayers::new(length, atom, wraps).iter().enumerate() {
            let at: Vec<usize> = (0..layer.count).map(|i| layer.start + i * layer.step).collect();
            for (i, &p) in at.iter().enumerate() {
                seen[p] += 1;
                prop_assert_eq!(AxisLayers::new(length, atom, wraps).order(p), (l, i));
                for &q in &at[..i] {
                    prop_assert!(p - q >= atom && (!wraps || q + length - p >= atom));
                }
            }
        }
        prop_assert!(seen.iter().all(|&s| s == 1));
    }

    #[test]
    fn neighbours_are_those_of_the_tiling(
        size in prop::array::uniform3(1usize..30),
        atom in prop::array::uniform3(1usize..4),
        tile in 1usize..7,
        border in 0usize..4,
    ) {
        let border = Border::ALL[border];
        prop_assume!(
            matches!(border, Border::Free | Border::Zero) || (0..3).all(|a| size[a] >= atom[a])
        );
        let tiling = Tiling::new(
            Extent::new(&size).unwrap(),
            Extent::new(&atom).unwrap(),
            border,
            Grouping::Tiles(tile),
        )
        .unwrap();
        let (grid, counts) = (tiling.block(&tiling.all()), tiling.tile_counts());
        let table = grid.neighbours(7, 2);
        prop_assert_eq!(table.starts.len(), grid.tiles.len() + 1);
        for index in 0..grid.tiles.len() {
            let listed =
                &table.list[table.starts[index] as usize..table.starts[index + 1] as usize];
            let expected = tiling
                .neighbours(geometry::cell(index, counts))
                .map(|at| 7 + tiling.number(at) as u32);
            prop_assert!(listed.iter().copied().eq(expected));
            prop_assert!(listed.is_sorted());
        }
    }

    #[test]
    fn every_position_is_found_in_its_tile(
        size in prop::array::uniform3(1usize..12),
        atom in prop::array::uniform3(1usize..4),
        tile in 1usize..5,
        border in 0usize..4,
    ) {
        let border = Border::ALL[border];
        prop_assume!(
            matches!(border, Border::Free | Border::Zero) || (0..3).all(|a| size[a] >= atom[a])
        );
        let grid = Grid::new(
            Extent::new(&size).unwrap(),
            Extent::new(&atom).unwrap(),
            border,
            Grouping::Tiles(tile),
        )
        .unwrap();
        let locator = Locator::new(&grid);
        for at in grid.positions.points() {
            let (tile, within) = locator.locate(grid.to_signal(at)).unwrap();
            prop_assert_eq!(grid.tiles[tile].region.first() + within.map(|x| x as i64), at);
            prop_assert!(grid.tiles[tile].region.contains(at));
        }
        for axis in 0..3 {
            let mut outside = grid.positions.first().at;
            outside[axis] -= 1;
            prop_assert!(locator.locate(grid.to_signal(Point::new(outside))).is_none());
            outside[axis] = grid.positions.end(axis);
            prop_assert!(locator.locate(grid.to_signal(Point::new(outside))).is_none());
        }
    }
}
