//! The residual scaled by a field that varies over the signal.

use crate::kernel_args::{ReachBlock, SampleBox, Scales};
use crate::session::{CudaSession, launch};
use cudarc::driver::CudaSlice;
use lobcod::Result;
use lobcod::engine::{Exceeding, ScaledResidual, ScaledSums, Scaling};
use lobcod::geometry::{InSignal, Region};
use lobcod::grid::Grid;
use std::array::from_fn;

/// Blocks that sum a plane: a fixed number, so that sums are bit-identical from run to run.
const BLOCKS: usize = 1024;

/// The scaled residual of a plane, and the largest correlations of its needles there.
pub(crate) struct Scaled {
    pub(crate) residual: CudaSlice<f32>,
    pub(crate) reach: CudaSlice<f32>,
}

/// The tiles in which a correlation exceeds the penalty.
fn exceeding_tiles(grid: &Grid, largest: &[f32], penalty: f64) -> impl Iterator<Item = Exceeding> {
    let ratios = largest.iter().map(move |&largest| f64::from(largest) / penalty);
    grid.tiles.iter().zip(ratios).filter(|(_, ratio)| *ratio > 1.0).map(|(tile, ratio)| {
        let start = grid.to_signal(tile.region.first());
        Exceeding { region: Region::new(start, tile.region.size), ratio }
    })
}

impl CudaSession {
    /// The scales in the form the kernels read, and the buffer of their values.
    fn scales(&self, plane: usize, scaling: Scaling) -> Result<(Scales, CudaSlice<f32>)> {
        let (lattice, origin) = (scaling.field.lattice(), self.schedule.grids[plane].origin.at);
        let values = self.device.up(scaling.field.values())?;
        let scales = Scales {
            values: self.device.at(&values),
            start: from_fn(|a| {
                (lattice.region.start[a] - scaling.origin.first.at[a] - origin[a]) as i32
            }),
            length: lattice.region.size.map(|x| x as i32),
            counts: lattice.counts.map(|x| x as i32),
            periodic: i32::from(lattice.periodic),
        };
        Ok((scales, values))
    }

    /// Converts a part of the signal of a plane to its domain; the whole domain for `None`.
    fn domain_box(&self, plane: usize, part: Option<&Region<InSignal>>) -> SampleBox {
        let grid = &self.schedule.grids[plane];
        let region = part.map_or(grid.raster(1).region, |part| grid.region_to_domain(part));
        SampleBox { from: region.start.map(|x| x as i32), size: region.size.map(|x| x as i32) }
    }
}

impl ScaledResidual<f32> for CudaSession {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) -> Result<()> {
        self.follow()?;
        self.correlate()?;
        let tiles = self.schedule.tiles.len();
        let largest = self.device.empty::<f32>(tiles)?;
        launch!(
            self,
            "reach_of_tiles",
            tiles.div_ceil(8),
            256,
            0,
            self.args,
            self.device.at(&largest)
        );
        let largest = self.device.down(&largest)?;
        for (number, (plane, grid)) in
            self.schedule.planes.iter().zip(&self.schedule.grids).enumerate()
        {
            let own = &largest[plane.first_tile as usize..][..plane.tile_count as usize];
            exceeding_tiles(grid, own, penalty).for_each(|found| each(number, found));
        }
        Ok(())
    }

    fn scaled_sums(
        &mut self,
        plane: usize,
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> Result<ScaledSums> {
        self.follow()?;
        let (scales, _values) = self.scales(plane, scaling)?;
        let sums = self.device.empty::<f64>(2 * BLOCKS)?;
        let (samples, at) = (self.domain_box(plane, part), self.device.at(&sums));
        launch!(self, "tally_scaled", BLOCKS, 256, 0, self.args, scales, plane as i32, samples, at);
        let sums = self.device.down(&sums)?;
        let pairs = sums.as_chunks::<2>().0;
        Ok(ScaledSums {
            energy: pairs.iter().map(|pair| pair[0]).sum(),
            dot: pairs.iter().map(|pair| pair[1]).sum(),
        })
    }

    fn scaled_correlation(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> Result<f64> {
        self.follow()?;
        let sizes = &self.schedule.sizes;
        let scaled = match self.buffers.scaled.take() {
            Some(scaled) => scaled,
            None => Scaled {
                residual: self.device.empty(sizes.plane_samples)?,
                reach: self.device.empty(sizes.plane_positions)?,
            },
        };
        let largest = self.device.empty::<u32>(self.schedule.planes.len())?;
        let (scales, _values) = self.scales(plane, scaling)?;
        let (all, field) = (self.domain_box(plane, None), self.device.at(&scaled.residual));
        launch!(
            self,
            "scale_residual",
            BLOCKS,
            256,
            0,
            self.args,
            scales,
            plane as i32,
            all,
            field
        );
        // The kernel numbers samples and positions across all planes.
        let (mut args, own) = (self.args, &self.schedule.planes[plane]);
        args.residual = field.wrapping_sub(4 * own.samples_at as u64);
        args.reach = self.device.at(&scaled.reach).wrapping_sub(4 * own.positions_at as u64);
        let blocks_of =
            |plane: usize| self.schedule.reach_blocks(plane, self.recipe.reach_step()).len();
        let before = (0..plane).map(blocks_of).sum::<usize>() * size_of::<ReachBlock>();
        let (blocks, (threads, bytes)) =
            (self.buffers.reach_blocks + before as u64, self.recipe.reach_threads());
        let at = self.device.at(&largest);
        launch!(
            self,
            "find_reach",
            blocks_of(plane),
            threads,
            bytes,
            args,
            blocks,
            self.buffers.taps,
            at
        );
        self.buffers.scaled = Some(scaled);
        Ok(f64::from(f32::from_bits(self.device.down(&largest)?[plane])).max(penalty))
    }

    fn residual_part(&mut self, plane: usize, part: &Region<InSignal>) -> Result<Vec<f32>> {
        self.follow()?;
        let grid = &self.schedule.grids[plane];
        let (channel, region) = (grid.raster(1), grid.region_to_domain(part));
        let (mut first, mut end) = (usize::MAX, 0);
        channel.rows(&region, |at, length| (first, end) = (first.min(at), end.max(at + length)));
        let mut out = Vec::new();
        for c in 0..if region.is_empty() { 0 } else { self.dictionary.channels() } {
            let from = self.schedule.planes[plane].samples_at as usize + c * channel.len();
            let samples =
                self.device.down(&self.buffers.residual.slice(from + first..from + end))?;
            if out.is_empty() && samples.len() == region.volume() {
                out = samples;
            } else {
                channel.rows(&region, |at, length| {
                    out.extend_from_slice(&samples[at - first..][..length])
                });
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::exceeding_tiles;
    use lobcod::geometry::Region;
    use lobcod::grid::{Grid, Grouping};
    use lobcod::{Border, Extent};

    #[test]
    fn every_tile_that_exceeds_is_in_a_box_and_no_box_is_large() {
        for border in Border::ALL {
            let (signal, atom) = (Extent::new(&[90, 110]).unwrap(), Extent::new(&[5, 4]).unwrap());
            let grid = Grid::new(signal, atom, border, Grouping::Tiles(8)).unwrap();
            let largest: Vec<f32> = (0..grid.tiles.len()).map(|i| (i * 7 % 23) as f32).collect();
            let found: Vec<_> = exceeding_tiles(&grid, &largest, 15.0).collect();
            for (tile, &largest) in
                grid.tiles.iter().zip(&largest).filter(|(_, largest)| **largest > 15.0)
            {
                let own = Region::new(grid.to_signal(tile.region.first()), tile.region.size);
                let mut holding = found.iter().filter(|found| found.region.holds(&own));
                assert!(holding.any(|found| found.ratio >= f64::from(largest) / 15.0));
            }
            assert!(found.iter().all(|found| found.region.size.iter().all(|&size| size < 40)));
        }
    }
}
