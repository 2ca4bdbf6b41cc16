//! The residual scaled by a field that varies over the signal.

use crate::buffers::{Address, empty, up};
use crate::session::{CudaSession, launch, must};
use crate::world::{Region, SampleBox, Scales};
use cudarc::driver::CudaSlice;
use lobcod::engine::{Exceeding, Part, ScaledResidual, ScaledSums, Scaling};
use lobcod::grid::Grid;

/// Blocks that add up a plane: always as many, so that sums are the same from run to run.
const BLOCKS: u32 = 1024;

/// The scaled residual of a plane, and the reach of its needles there.
pub(crate) struct Scaled {
    pub(crate) residual: CudaSlice<f32>,
    pub(crate) reach: CudaSlice<f32>,
}

/// The tiles in which the reach exceeds the penalty.
fn exceeding_tiles(grid: &Grid, largest: &[f32], penalty: f64) -> impl Iterator<Item = Exceeding> {
    let ratios = largest.iter().map(move |&largest| f64::from(largest) / penalty);
    grid.tiles.iter().zip(ratios).filter(|(_, ratio)| *ratio > 1.0).map(|(tile, ratio)| {
        let first = std::array::from_fn(|a| tile.origin[a] - grid.signal_at[a] as i64);
        Exceeding { first, last: std::array::from_fn(|a| first[a] + tile.size[a] as i64 - 1), ratio }
    })
}

impl CudaSession {
    /// The scales as the kernels see them, and the buffer that holds their values.
    fn scales(&self, plane: usize, scaling: Scaling) -> (Scales, CudaSlice<f32>) {
        let (lattice, at) = (scaling.field.lattice(), self.schedule.grids[plane].signal_at);
        let values = must(up(&self.device.stream, scaling.field.values()));
        let scales = Scales {
            values: Address(&self.device).of(&values),
            start: std::array::from_fn(|a| (lattice.start[a] - scaling.origin[a] + at[a] as i64) as i32),
            length: lattice.length.map(|x| x as i32),
            counts: lattice.counts.map(|x| x as i32),
            periodic: i32::from(lattice.periodic),
        };
        (scales, values)
    }

    /// A part of the signal of a plane in samples of its domain; all of that for `None`.
    fn domain_box(&self, plane: usize, part: Option<&Part>) -> SampleBox {
        let grid = &self.schedule.grids[plane];
        let range = |a: usize| part.map_or(0..grid.domain[a], |p| p[a].start + grid.signal_at[a]..p[a].end + grid.signal_at[a]);
        SampleBox { from: std::array::from_fn(|a| range(a).start as i32), size: std::array::from_fn(|a| range(a).len() as i32) }
    }

    /// Where the regions of a plane begin among all, and how many they are.
    fn regions_of(&self, plane: usize) -> (usize, usize) {
        let step = self.recipe.region_step();
        let count = |p: usize| (0..3).map(|a| self.schedule.grids[p].positions[a].div_ceil(step[a])).product::<usize>();
        ((0..plane).map(count).sum(), count(plane))
    }

    /// Largest reach of the needles of a plane in its scaled residual.
    fn largest_scaled_reach(&mut self, plane: usize, scaling: Scaling) -> f64 {
        let stream = self.device.stream.clone();
        let sizes = &self.schedule.sizes;
        if self.buffers.scaled.is_none() {
            let (residual, reach) = (must(empty(&stream, sizes.plane_samples)), must(empty(&stream, sizes.plane_positions)));
            self.buffers.scaled = Some(Scaled { residual, reach });
        }
        let largest = must(empty::<u32>(&stream, self.schedule.planes.len()));
        let (scales, _values) = self.scales(plane, scaling);
        let (number, all) = (plane as i32, self.domain_box(plane, None));
        let (at, b, place) = (Address(&self.device), &self.buffers, &self.schedule.planes[plane]);
        let scaled = b.scaled.as_ref().expect("just made");
        let (world, field) = (self.world, at.of(&scaled.residual));
        launch!(self, "scale_residual", BLOCKS, 256, 0, world, scales, number, all, field);
        // The kernel counts samples and positions from the first of all planes.
        let mut of_plane = self.world;
        of_plane.residual = field.wrapping_sub(4 * place.samples_at as u64);
        of_plane.reach = at.of(&scaled.reach).wrapping_sub(4 * place.positions_at as u64);
        let (first, count) = self.regions_of(plane);
        let regions = at.of(&b.regions) + (first * size_of::<Region>()) as u64;
        let (taps, largest_at) = (at.of(&b.taps), at.of(&largest));
        let (threads, bytes) = self.recipe.region();
        let threads = threads.iter().product::<usize>() as u32;
        launch!(self, "find_reach", count as u32, threads, bytes as u32, of_plane, regions, taps, largest_at);
        f64::from(f32::from_bits(must(stream.clone_dtoh(&largest))[plane]))
    }
}

impl ScaledResidual<f32> for CudaSession {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) {
        self.reach();
        let tiles = self.schedule.tiles.len();
        let largest = must(empty::<f32>(&self.device.stream, tiles));
        let (world, largest_at) = (self.world, Address(&self.device).of(&largest));
        launch!(self, "reach_of_tiles", tiles.div_ceil(8) as u32, 256, 0, world, largest_at);
        let largest = must(self.device.stream.clone_dtoh(&largest));
        let schedule = &self.schedule;
        for (number, (plane, grid)) in schedule.planes.iter().zip(&schedule.grids).enumerate() {
            let own = plane.first_tile as usize..(plane.first_tile + plane.tile_count) as usize;
            for found in exceeding_tiles(grid, &largest[own], penalty) {
                each(number, found);
            }
        }
    }

    fn scaled_sums(&mut self, plane: usize, scaling: Scaling, part: Option<&Part>) -> ScaledSums {
        let stream = self.device.stream.clone();
        let (scales, _values) = self.scales(plane, scaling);
        let sums = must(empty::<f64>(&stream, 2 * BLOCKS as usize));
        let (world, number, sums_at) = (self.world, plane as i32, Address(&self.device).of(&sums));
        let samples = self.domain_box(plane, part);
        launch!(self, "tally_scaled", BLOCKS, 256, 0, world, scales, number, samples, sums_at);
        let sums = must(stream.clone_dtoh(&sums));
        let pairs = sums.as_chunks::<2>().0;
        ScaledSums { energy: pairs.iter().map(|pair| pair[0]).sum(), dot: pairs.iter().map(|pair| pair[1]).sum() }
    }

    fn scaled_reach(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> f64 {
        self.largest_scaled_reach(plane, scaling).max(penalty)
    }

    fn residual_part(&mut self, plane: usize, part: &Part) -> Vec<f32> {
        let (grid, first) = (&self.schedule.grids[plane], self.schedule.planes[plane].samples_at as usize);
        let SampleBox { from, size } = self.domain_box(plane, Some(part));
        let (from, size) = (from.map(|x| x as usize), size.map(|x| x as usize));
        let [depth, height, width] = grid.domain;
        // Rows that are whole follow each other without a gap.
        let (runs, length) = if size[2] == width { (1, size[1] * width) } else { (size[1], size[2]) };
        let mut out = Vec::with_capacity(self.dictionary.channels() * size.iter().product::<usize>());
        for c in 0..self.dictionary.channels() {
            for z in from[0]..from[0] + size[0] {
                for y in from[1]..from[1] + runs {
                    let start = first + ((c * depth + z) * height + y) * width + from[2];
                    if length > 0 {
                        out.extend(must(self.device.stream.clone_dtoh(&self.buffers.residual.slice(start..start + length))));
                    }
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::exceeding_tiles;
    use lobcod::grid::{Grid, Grouping};
    use lobcod::{Border, Extent};

    #[test]
    fn every_tile_that_exceeds_lies_in_a_box_and_no_box_is_large() {
        for border in Border::ALL {
            let (signal, atom) = (Extent::new(&[90, 110]).unwrap(), Extent::new(&[5, 4]).unwrap());
            let grid = Grid::new(signal, atom, border, Grouping::Tiles(8)).unwrap();
            let largest: Vec<f32> = (0..grid.tiles.len()).map(|i| (i * 7 % 23) as f32).collect();
            let found: Vec<_> = exceeding_tiles(&grid, &largest, 15.0).collect();
            for (tile, &largest) in grid.tiles.iter().zip(&largest).filter(|(_, largest)| **largest > 15.0) {
                let first: [i64; 3] = std::array::from_fn(|a| tile.origin[a] - grid.signal_at[a] as i64);
                let holds = |b: &&lobcod::engine::Exceeding| {
                    (0..3).all(|a| b.first[a] <= first[a] && first[a] + tile.size[a] as i64 - 1 <= b.last[a])
                };
                assert!(found.iter().filter(holds).any(|b| b.ratio >= f64::from(largest) / 15.0));
            }
            assert!(found.iter().all(|b| (0..3).all(|a| b.last[a] - b.first[a] < 40)));
        }
    }
}
