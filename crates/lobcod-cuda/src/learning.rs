//! Passes over the atoms, and the gradient in the dictionary.

use crate::buffers::{Address, Sorted, empty};
use crate::session::{CudaSession, launch, must};
use crate::world::{Course, MAIL_MOVE};
use lobcod::Dictionary;
use lobcod::engine::PlaneLayer;

/// Numbers a block of the scan adds up.
const SCAN_PART: usize = 4096;
/// Warps of a block that looks at an atom.
const LOOK_WARPS: usize = 8;

impl CudaSession {
    /// Sorts the codes by atom, unless they are; gives what the kernels are to be told.
    fn sort_codes(&mut self) -> Course {
        let (m, n, tiles) = (self.dictionary.len(), self.dictionary.atom_len(), self.schedule.tiles.len());
        let cells = m * tiles;
        let span: usize = self.dictionary.extent().padded().iter().map(|h| 2 * h - 1).product();
        let stream = self.device.stream.clone();
        if !self.known.sorted {
            let counts = must(stream.clone_dtoh(&self.buffers.counts));
            let total = counts.iter().map(|&c| c as usize).sum::<usize>();
            if self.buffers.sorted.as_ref().is_none_or(|s| s.values.len() < total) {
                let room = (total + total / 4).max(1024);
                self.buffers.sorted = Some(Sorted {
                    first: must(empty(&stream, cells + 1)),
                    next: must(empty(&stream, cells + 1)),
                    sums: must(empty(&stream, cells.div_ceil(SCAN_PART))),
                    places: must(empty(&stream, room)),
                    values: must(empty(&stream, room)),
                    numbers: must(empty(&stream, room)),
                    gradient: must(empty(&stream, m * n)),
                    correlation: must(empty(&stream, m * span)),
                    improved: must(empty(&stream, m * n)),
                });
            }
        }
        let sorted = self.buffers.sorted.as_mut().expect("made when the codes were first sorted");
        let at = Address(&self.device);
        let (first, next, sums) = (at.of(&sorted.first), at.of(&sorted.next), at.of(&sorted.sums));
        let (places, values, numbers) = (at.of(&sorted.places), at.of(&sorted.values), at.of(&sorted.numbers));
        let course = Course {
            first,
            places,
            values,
            numbers,
            planes: at.of(&self.buffers.plane_sums),
            plane_count: self.schedule.planes.len() as i32,
            gradient: at.of(&sorted.gradient),
            correlation: at.of(&sorted.correlation),
            improved: at.of(&sorted.improved),
        };
        if !self.known.sorted {
            must(stream.memset_zeros(&mut sorted.first));
            let (world, length) = (self.world, cells as i64);
            let blocks = cells.div_ceil(SCAN_PART);
            let count = blocks as i32;
            launch!(self, "count_atoms", tiles as u32, 128, 0, world, first);
            launch!(self, "scan_parts", blocks as u32, 256, 0, first, length, sums);
            launch!(self, "scan_sums", 1, 1024, 0, sums, count);
            launch!(self, "scan_within", blocks as u32, 256, 0, first, length, sums);
            let sorted = self.buffers.sorted.as_mut().expect("as above");
            must(stream.memcpy_dtod(&sorted.first, &mut sorted.next));
            launch!(self, "place_codes", tiles.div_ceil(4) as u32, 128, 0, world, next, places, values, numbers);
            self.known.sorted = true;
        }
        course
    }

    pub(crate) fn pass_over_atoms(&mut self) -> f64 {
        let course = self.sort_codes();
        self.add_up();
        self.clear_mail();
        let stream = self.device.stream.clone();
        let sorted = self.buffers.sorted.as_mut().expect("just sorted");
        must(stream.memset_zeros(&mut sorted.gradient));
        must(stream.memset_zeros(&mut sorted.correlation));
        must(stream.memcpy_dtod(&self.buffers.atoms, &mut sorted.improved));
        let world = self.world;
        let grid = self.device.facts.multiprocessors as u32;
        for k in 0..self.dictionary.len() as i32 {
            launch!(self, "look_at_atom", grid, 32 * LOOK_WARPS as u32, 0, world, course, k);
            launch!(self, "move_atom", grid, 32 * LOOK_WARPS as u32, 0, world, course, k);
        }
        let sorted = self.buffers.sorted.as_ref().expect("just sorted");
        must(stream.memcpy_dtod(&sorted.improved, &mut self.buffers.atoms));
        let data = must(stream.clone_dtoh(&self.buffers.atoms));
        let (extent, channels) = (self.dictionary.extent(), self.dictionary.channels());
        self.dictionary = Dictionary::new(extent, channels, data).expect("atoms of unit norm");
        self.prepare_atoms();
        self.forget();
        f64::from_bits(self.read_mail()[MAIL_MOVE])
    }

    pub(crate) fn gradient_of(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        let course = self.sort_codes();
        let (m, n) = (self.dictionary.len(), self.dictionary.atom_len());
        let out = must(empty::<f64>(&self.device.stream, m * n));
        let out_at = Address(&self.device).of(&out);
        let (plane, layer) = of.map_or((0, -1), |of| (of.plane as i32, of.layer as i32));
        let (world, bytes) = (self.world, (LOOK_WARPS * n * 8) as u32);
        launch!(self, "gradient", m as u32, 32 * LOOK_WARPS as u32, bytes, world, course, plane, layer, out_at);
        must(self.device.stream.clone_dtoh(&out))
    }
}
