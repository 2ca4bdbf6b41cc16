//! Codes as the device keeps them, tile after tile, and as everybody else does.

use crate::parallel;
use crate::schedule::Schedule;
use crate::world::{CUT_BIT, DeviceCode, Plane};
use lobcod::Code;
use lobcod::grid::Grid;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Along an axis of a plane: the tile of every position, and where in it the position lies.
struct AxisPlaces {
    first: i64,
    places: Vec<(u32, u32)>,
}

impl AxisPlaces {
    fn new(grid: &Grid, axis: usize) -> Self {
        let stride: usize = grid.tile_counts[axis + 1..].iter().product();
        let along = (0..grid.tile_counts[axis]).map(|cell| &grid.tiles[cell * stride]);
        let places = along.zip(0..).flat_map(|(tile, cell)| (0..tile.size[axis] as u32).map(move |at| (cell, at)));
        Self { first: grid.tiles.first().map_or(0, |tile| tile.origin[axis]), places: places.collect() }
    }
}

impl Schedule {
    /// All codes tile after tile, those of a tile in the order of its needles; and where every tile begins.
    pub(crate) fn by_tile(&self, codes: &[Vec<Code<f32>>]) -> (Vec<i32>, Vec<DeviceCode>) {
        let numbers = self.needle_numbers();
        let mut places: Vec<(u32, u32)> = vec![(0, 0); codes.iter().map(Vec::len).sum()];
        let mut rest = &mut places[..];
        for ((codes, grid), plane) in codes.iter().zip(&self.grids).zip(&self.planes) {
            let own = rest.split_off_mut(..codes.len()).expect("a place for every code");
            let axes: [AxisPlaces; 3] = std::array::from_fn(|axis| AxisPlaces::new(grid, axis));
            parallel::parts(own, |range, own| {
                own.iter_mut()
                    .zip(&codes[range])
                    .for_each(|(place, code)| *place = self.place(plane, grid, &axes, &numbers, code));
            });
        }
        let mut first = vec![0i32; self.tiles.len() + 1];
        places.iter().for_each(|&(tile, _)| first[tile as usize + 1] += 1);
        (1..first.len()).for_each(|t| first[t] += first[t - 1]);
        let mut next = first.clone();
        let mut all = vec![DeviceCode::default(); places.len()];
        for (&(tile, needle), code) in places.iter().zip(codes.iter().flatten()) {
            let at = &mut next[tile as usize];
            all[*at as usize] = DeviceCode { needle, atom: code.atom, value: code.value, curvature: 1.0 };
            *at += 1;
        }
        parallel::groups(&mut all, &first, |tiles, mut part| {
            for count in tiles.map(|t| (first[t + 1] - first[t]) as usize) {
                let own = part.split_off_mut(..count).expect("the codes of every tile");
                own.sort_unstable_by_key(|code| (code.needle, code.atom));
            }
        });
        (first, all)
    }

    /// Tile and needle of a code.
    fn place(&self, plane: &Plane, grid: &Grid, axes: &[AxisPlaces; 3], numbers: &[Vec<u32>], code: &Code<f32>) -> (u32, u32) {
        let [(cell_z, z), (cell_y, y), (cell_x, x)]: [(u32, u32); 3] = std::array::from_fn(|a| {
            let at = i64::from(code.position[a]) + grid.signal_at[a] as i64;
            axes[a].places[(at - axes[a].first) as usize]
        });
        let counts = grid.tile_counts.map(|count| count as u32);
        let tile = plane.first_tile as u32 + (cell_z * counts[1] + cell_y) * counts[2] + cell_x;
        let [row, slice, _] = self.sizes.strides;
        let place = z as usize * slice + y as usize * row + x as usize;
        (tile, numbers[self.tiles[tile as usize].shape as usize][place])
    }

    /// The codes of a few tiles of one plane as everybody keeps them; tile t has those from `first[t]` on.
    pub(crate) fn codes_of_tiles(
        &self,
        tiles: Range<usize>,
        first: &[i32],
        codes: &[DeviceCode],
        into: &mut [MaybeUninit<Code<f32>>],
    ) {
        let (start, own) = (tiles.start, &first[tiles.start..=tiles.end]);
        let [row, slice, _] = self.sizes.strides;
        parallel::groups(into, own, |groups, part| {
            let mut codes = codes[(own[groups.start] - own[0]) as usize..].iter().zip(part);
            for group in groups {
                let tile = &self.tiles[start + group];
                let signal_at = self.grids[tile.plane as usize].signal_at;
                let needles = &self.needles[self.shapes[tile.shape as usize].needles_at as usize..];
                for (code, place) in codes.by_ref().take((own[group + 1] - own[group]) as usize) {
                    let offset = needles[code.needle as usize] as usize;
                    let local = [offset / slice, offset % slice / row, offset % row];
                    let position = std::array::from_fn(|a| tile.origin[a] + local[a] as i32 - signal_at[a] as i32);
                    place.write(Code { position, atom: code.atom & !CUT_BIT, channel: 0, value: code.value });
                }
            }
        });
    }
}
