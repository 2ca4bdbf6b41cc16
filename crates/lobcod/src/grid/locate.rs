//! Finds the tile that contains a position.

use super::Grid;
use crate::geometry::{self, InSignal, Point};
use std::array::from_fn;

/// The tile of each position along every axis, and the offset in that tile.
pub struct Locator {
    origin: Point<InSignal>,
    first: [i64; 3],
    axes: [Vec<(u32, u32)>; 3],
    counts: [usize; 3],
}

impl Locator {
    /// The positions of a grid.
    pub fn new(grid: &Grid) -> Self {
        let axes = from_fn(|axis| {
            let stride: usize = grid.tile_counts[axis + 1..].iter().product();
            let along = (0..if grid.tiles.is_empty() { 0 } else { grid.tile_counts[axis] })
                .map(|cell| &grid.tiles[cell * stride]);
            along
                .zip(0..)
                .flat_map(|(tile, cell)| {
                    (0..tile.region.size[axis] as u32).map(move |at| (cell, at))
                })
                .collect()
        });
        Self { origin: grid.origin, first: grid.positions.start, axes, counts: grid.tile_counts }
    }

    /// Index of the tile that contains this position, and the offset in the tile.
    #[inline]
    pub fn locate(&self, at: Point<InSignal>) -> Option<(usize, [usize; 3])> {
        let from = at - self.origin;
        let mut places = [(0, 0); 3];
        for (a, place) in places.iter_mut().enumerate() {
            *place = *self.axes[a].get(usize::try_from(from[a] - self.first[a]).ok()?)?;
        }
        let tile = geometry::index(places.map(|(cell, _)| cell as usize), self.counts);
        Some((tile, places.map(|(_, at)| at as usize)))
    }
}
