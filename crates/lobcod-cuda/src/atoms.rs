//! The dictionary on the device, and what depends on it.

use crate::buffers::{Address, empty};
use crate::session::{CudaSession, launch, must};

impl CudaSession {
    /// Brings the dictionary to the device.
    pub(crate) fn take_dictionary(&mut self) {
        must(self.device.stream.memcpy_htod(self.dictionary.data(), &mut self.buffers.atoms));
        self.prepare_atoms();
    }

    /// Makes the forms that kernels read from the atoms on the device.
    pub(crate) fn prepare_atoms(&mut self) {
        let (world, at, b) = (self.world, Address(&self.device), &self.buffers);
        self.pack_rows(world.atoms, world.packed_rows);
        let (columns, taps, gram) = (world.columns, at.of(&b.taps), world.gram);
        let most = b.columns.len().max(b.taps.len());
        launch!(self, "pack_columns", most.div_ceil(256) as u32, 256, 0, world, columns, taps);
        launch!(self, "make_gram", b.gram.len().div_ceil(256) as u32, 256, 0, world, gram);
        (self.known.reach, self.known.curvature) = (false, false);
    }

    fn pack_rows(&self, rows: u64, packed: u64) {
        let world = self.world;
        launch!(self, "pack_rows", self.buffers.packed_rows.len().div_ceil(256) as u32, 256, 0, world, rows, packed);
    }

    /// Curvatures of the codes, unless they are known.
    pub(crate) fn find_curvatures(&mut self) {
        if !self.known.curvature {
            let world = self.world;
            launch!(self, "find_curvatures", self.schedule.tiles.len().div_ceil(4) as u32, 128, 0, world);
            self.known.curvature = true;
        }
    }

    /// Forgets what is known of changes.
    pub(crate) fn forget(&mut self) {
        let world = self.world;
        launch!(self, "forget", self.schedule.tiles.len().div_ceil(256) as u32, 256, 0, world);
    }

    /// `|| A sum_i P_i^T G a_i ||^2` of what the codes make of other atoms.
    pub(crate) fn energy_of_direction(&mut self, direction: &[f64]) -> f64 {
        let rows: Vec<f32> = direction.iter().map(|&x| x as f32).collect();
        let rows = must(self.device.stream.clone_htod(&rows));
        let packed = must(empty::<f32>(&self.device.stream, self.buffers.packed_rows.len()));
        let at = Address(&self.device);
        let (rows_at, packed_at) = (at.of(&rows), at.of(&packed));
        self.pack_rows(rows_at, packed_at);
        self.reset_residual(true);
        self.synthesise(packed_at);
        self.tally().iter().map(|sum| sum.residual_energy).sum()
    }
}
