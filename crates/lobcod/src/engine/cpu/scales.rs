//! A scale of the residual that varies smoothly over the signal.

use crate::grid::Grid;

/// One value a tile, and between them the quadratic B-spline: smooth, so that it hardly varies over a patch.
pub(super) struct Scales {
    values: Vec<f64>,
    counts: [usize; 3],
    axes: [Vec<Place>; 3],
}

/// The three tiles whose values make the scale at a sample of an axis, and their shares.
#[derive(Clone, Copy)]
struct Place {
    tiles: [usize; 3],
    shares: [f64; 3],
}

impl Scales {
    /// Scales that bring what exceeds the penalty down to it: `largest` of every tile, in shares of the penalty, and nothing by more
    /// than its neighbourhood asks for.
    pub(super) fn new(grid: &Grid, largest: &[f64]) -> Self {
        let scale = |tile: usize| 1.0 / largest[tile].max(1.0);
        let lowest = |tile: usize| grid.neighbours(tile).into_iter().map(scale).fold(scale(tile), f64::min);
        let values = (0..grid.tiles.len()).map(lowest).collect();
        Self { values, counts: grid.tile_counts, axes: std::array::from_fn(|axis| places(grid, axis)) }
    }

    /// Are all scales 1 that reach into the footprint of a tile?
    pub(super) fn are_one_around(&self, tile: usize) -> bool {
        let [_, ny, nx] = self.counts;
        let at = [tile / (ny * nx), tile / nx % ny, tile % nx];
        let near = |axis: usize| {
            let count = self.counts[axis];
            // One tile before and two behind: footprints reach into the next tile. Around the corner for periodic borders.
            (0..4.min(count)).map(move |step| (at[axis] + count + step - 1) % count)
        };
        near(0).all(|z| near(1).all(|y| near(2).all(|x| self.values[(z * ny + y) * nx + x] == 1.0)))
    }

    /// The scales along the last axis, one a tile, at row `(z, y)` of the domain: what [`Scales::along`] reads.
    pub(super) fn row(&self, z: usize, y: usize, into: &mut Vec<f64>) {
        let (z, y) = (&self.axes[0][z], &self.axes[1][y]);
        into.clear();
        into.resize(self.counts[2], 0.0);
        for (&tz, &sz) in z.tiles.iter().zip(&z.shares) {
            for (&ty, &sy) in y.tiles.iter().zip(&y.shares) {
                let from = (tz * self.counts[1] + ty) * self.counts[2];
                let values = &self.values[from..from + self.counts[2]];
                into.iter_mut().zip(values).for_each(|(sum, value)| *sum += sz * sy * value);
            }
        }
    }

    /// The scale at sample `x` of a row.
    #[inline(always)]
    pub(super) fn along(&self, row: &[f64], x: usize) -> f64 {
        let Place { tiles, shares } = self.axes[2][x];
        shares[0] * row[tiles[0]] + shares[1] * row[tiles[1]] + shares[2] * row[tiles[2]]
    }
}

/// Where every sample of the domain stands along an axis.
fn places(grid: &Grid, axis: usize) -> Vec<Place> {
    let step = [grid.tile_counts[1] * grid.tile_counts[2], grid.tile_counts[2], 1][axis];
    let count = grid.tile_counts[axis];
    let tiles: Vec<_> = (0..count).map(|i| &grid.tiles[i * step]).collect();
    let beside = |tile: usize, by: i64| {
        let to = tile as i64 + by;
        if grid.periodic { to.rem_euclid(count as i64) as usize } else { to.clamp(0, count as i64 - 1) as usize }
    };
    let mut tile = 0;
    (0..grid.domain[axis] as i64)
        .map(|sample| {
            while tile + 1 < count && sample >= tiles[tile + 1].origin[axis] {
                tile += 1;
            }
            // The padding of the zero border lies behind the last tile.
            let along = (sample - tiles[tile].origin[axis]) as f64 + 0.5;
            let u = (along / tiles[tile].size[axis] as f64).min(1.0);
            let (before, behind) = (0.5 * (1.0 - u) * (1.0 - u), 0.5 * u * u);
            Place { tiles: [beside(tile, -1), tile, beside(tile, 1)], shares: [before, 1.0 - before - behind, behind] }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Border;
    use crate::extent::Extent;
    use crate::grid::Grouping;

    #[test]
    fn scales_are_one_far_away_and_low_enough_where_it_matters() {
        for border in [Border::Free, Border::Zero, Border::Periodic] {
            let (signal, atom) = (Extent::new(&[150, 140]).unwrap(), Extent::new(&[6, 5]).unwrap());
            let grid = Grid::new(signal, atom, border, Grouping::Tiles(16)).unwrap();
            let mut largest = vec![1.0; grid.tiles.len()];
            let bad = grid.tiles.len() / 2;
            largest[bad] = 1.25;
            let scales = Scales::new(&grid, &largest);
            let tile = grid.tiles[bad];
            let mut row = Vec::new();
            let mut ones = 0;
            for y in 0..grid.domain[1] {
                scales.row(0, y, &mut row);
                for x in 0..grid.domain[2] {
                    let scale = scales.along(&row, x);
                    assert!((0.8 - 1e-12..=1.0 + 1e-12).contains(&scale));
                    ones += usize::from(scale > 1.0 - 1e-12);
                    let inside = |at: usize, axis: usize| (0..tile.size[axis] as i64).contains(&(at as i64 - tile.origin[axis]));
                    assert!(!(inside(y, 1) && inside(x, 2)) || scale < 0.8 + 1e-12, "{scale} at {y}, {x}");
                }
            }
            assert!(ones > grid.domain[1] * grid.domain[2] / 2);
            assert!(!scales.are_one_around(bad) && scales.are_one_around(0));
        }
    }
}
