//! Sums over planes.

use crate::buffers::Address;
use crate::session::{CudaSession, launch, must};

/// Sums over one plane.
pub(crate) struct PlaneSums {
    pub(crate) residual_energy: f64,
    pub(crate) target_dot_residual: f64,
    pub(crate) weighted_l1: f64,
    pub(crate) nonzeros: usize,
    pub(crate) largest_reach: f64,
}

impl CudaSession {
    /// Adds up residuals and codes on the device.
    pub(crate) fn add_up(&mut self) {
        let (world, at, b) = (self.world, Address(&self.device), &self.buffers);
        let (parts, first_part, part_sums) = (at.of(&b.parts), at.of(&b.first_part), at.of(&b.part_sums));
        let (tile_sums, plane_sums, largest) = (at.of(&b.tile_sums), at.of(&b.plane_sums), at.of(&b.plane_largest));
        launch!(self, "tally_parts", b.parts.len() as u32, 256, 0, world, parts, part_sums);
        launch!(self, "tally_tiles", self.schedule.tiles.len().div_ceil(8) as u32, 256, 0, world, tile_sums);
        let planes = self.schedule.planes.len() as u32;
        launch!(self, "tally_planes", planes, 256, 0, world, part_sums, first_part, tile_sums, largest, plane_sums);
    }

    /// The sums of every plane.
    pub(crate) fn tally(&mut self) -> Vec<PlaneSums> {
        self.add_up();
        let sums = must(self.device.stream.clone_dtoh(&self.buffers.plane_sums));
        let plane = |sum: &[f64; 6]| PlaneSums {
            residual_energy: sum[0],
            target_dot_residual: sum[1],
            weighted_l1: sum[2],
            nonzeros: sum[4] as usize,
            largest_reach: sum[5],
        };
        sums.as_chunks::<6>().0.iter().map(plane).collect()
    }
}
