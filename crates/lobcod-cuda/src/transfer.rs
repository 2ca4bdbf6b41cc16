//! Conversion of codes between the device layout, by tile, and the host layout.

use crate::kernel_args::{CLIPPED_BIT, DeviceCode};
use crate::schedule::{Schedule, each, table_threads};
use lobcod::geometry::{self, Point};
use lobcod::grid::Locator;
use lobcod::{Code, parallel};
use std::array::from_fn;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Minimum number of tiles per thread.
const LEAST_TILES: usize = 1 << 10;

impl Schedule {
    /// All codes tile by tile, those of a tile in the order of its needles; and the start of every
    /// tile. Codes at positions outside all tiles are dropped.
    pub(crate) fn by_tile(&self, codes: &[Vec<Code<f32>>]) -> (Vec<i32>, Vec<DeviceCode>) {
        let numbers = self.needle_numbers();
        let mut places: Vec<Option<(u32, u32)>> = vec![None; codes.iter().map(Vec::len).sum()];
        let mut rest = &mut places[..];
        for ((codes, grid), plane) in codes.iter().zip(&self.grids).zip(&self.planes) {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(codes.len());
            rest = others;
            let locator = Locator::new(grid);
            each(own, |i, place| {
                *place = locator.locate(Point::from(codes[i].position)).map(|(tile, at)| {
                    let tile = plane.first_tile as usize + tile;
                    let shape = self.tiles[tile].shape as usize;
                    (tile as u32, numbers[shape][geometry::index(at, self.sizes.footprint)])
                });
            });
        }
        let mut first = vec![0i32; self.tiles.len() + 1];
        places.iter().flatten().for_each(|&(tile, _)| first[tile as usize + 1] += 1);
        (1..first.len()).for_each(|t| first[t] += first[t - 1]);
        let mut next = first.clone();
        let mut all = vec![DeviceCode::default(); first[self.tiles.len()] as usize];
        for (place, code) in places.iter().zip(codes.iter().flatten()) {
            if let &Some((tile, needle)) = place {
                let at = &mut next[tile as usize];
                all[*at as usize] =
                    DeviceCode { needle, atom: code.atom, value: code.value, curvature: 1.0 };
                *at += 1;
            }
        }
        let start = |tile: usize| first[tile] as usize;
        parallel::groups(
            &mut all,
            self.tiles.len(),
            start,
            LEAST_TILES,
            table_threads(),
            |tiles, mut part| {
                for count in tiles.map(|t| start(t + 1) - start(t)) {
                    let (own, others) = part.split_at_mut(count);
                    own.sort_unstable_by_key(|code| (code.needle, code.atom));
                    part = others;
                }
            },
        );
        (first, all)
    }

    /// The codes of a few tiles of one plane in the host layout; those of tile t start at
    /// `first[t]`.
    pub(crate) fn codes_of_tiles(
        &self,
        tiles: Range<usize>,
        first: &[i32],
        codes: &[DeviceCode],
        into: &mut [MaybeUninit<Code<f32>>],
    ) {
        let start = |group: usize| (first[tiles.start + group] - first[tiles.start]) as usize;
        parallel::groups(into, tiles.len(), start, LEAST_TILES, table_threads(), |groups, part| {
            let mut codes = codes[start(groups.start)..].iter().zip(part);
            for group in groups {
                let tile = &self.tiles[tiles.start + group];
                let origin = self.grids[tile.plane as usize]
                    .to_signal(Point::new(tile.origin.map(i64::from)))
                    .at;
                let needles = &self.needles[self.shapes[tile.shape as usize].needles_at as usize..];
                for (code, place) in codes.by_ref().take(start(group + 1) - start(group)) {
                    let local = geometry::cell(
                        needles[code.needle as usize] as usize,
                        self.sizes.footprint,
                    );
                    let position = from_fn(|a| origin[a] as i32 + local[a] as i32);
                    place.write(Code {
                        position,
                        atom: code.atom & !CLIPPED_BIT,
                        channel: 0,
                        value: code.value,
                    });
                }
            }
        });
    }
}
