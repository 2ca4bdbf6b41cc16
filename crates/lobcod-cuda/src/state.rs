//! Codes and residuals between the device and the host.

use crate::buffers::{Address, empty};
use crate::parallel;
use crate::schedule::Schedule;
use crate::session::{CudaSession, launch, must};
use crate::world::DeviceCode;
use cudarc::driver::CudaSlice;
use lobcod::Code;
use lobcod::engine::State;

/// Codes that travel at once, in a buffer of their own: memory for all of them is not counted with.
pub(crate) const SHUTTLE: usize = 1 << 18;

/// The tile up to which codes travel with those of tile `from`: as many as the shuttle holds, but at least one tile.
fn shuttle_end(first: &[i32], from: usize, end: usize) -> usize {
    let most = first[from] as i64 + SHUTTLE as i64;
    (from + first[from + 1..=end].partition_point(|&at| i64::from(at) <= most)).max(from + 1)
}

impl Schedule {
    /// Changes of all neighbours of a tile so far.
    fn changes_around(&self, t: usize, total: &[f64]) -> f64 {
        let tile = self.tiles[t];
        let near = &self.neighbours[tile.neighbours_at as usize..][..tile.neighbour_count as usize];
        near.iter().map(|&n| total[n as usize]).sum()
    }
}

impl CudaSession {
    pub(crate) fn fetch_state(&self) -> State<f32> {
        let stream = &self.device.stream;
        let counts = must(stream.clone_dtoh(&self.buffers.counts));
        let mut first = vec![0];
        first.extend(counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }));
        let starts = must(stream.clone_htod(&first));
        let at = Address(&self.device);
        let mut shuttle: Option<CudaSlice<DeviceCode>> = None;
        let mut landed: Vec<DeviceCode> = Vec::new();
        let codes = self.schedule.planes.iter().map(|plane| {
            let (mut tile, end) = (plane.first_tile as usize, (plane.first_tile + plane.tile_count) as usize);
            let mut codes: Vec<Code<f32>> = Vec::with_capacity((first[end] - first[tile]) as usize);
            while tile < end {
                let next = shuttle_end(&first, tile, end);
                let count = (first[next] - first[tile]) as usize;
                if shuttle.as_ref().is_none_or(|shuttle| shuttle.len() < count) {
                    shuttle = Some(must(empty(stream, count.max(SHUTTLE.min(first[first.len() - 1] as usize)))));
                }
                let all = shuttle.as_ref().expect("just made");
                let (world, from, first_at, all_at, back) = (self.world, tile as i32, at.of(&starts), at.of(all), 0i32);
                launch!(self, "gather_codes", (next - tile) as u32, 128, 0, world, from, first_at, all_at, back);
                landed.resize(count.max(landed.len()), DeviceCode::default());
                if count > 0 {
                    must(stream.memcpy_dtoh(&all.slice(..count), &mut landed[..count]));
                    must(stream.synchronize());
                }
                let length = codes.len();
                self.schedule.codes_of_tiles(tile..next, &first, &landed[..count], &mut codes.spare_capacity_mut()[..count]);
                // SAFETY: every place was written just now.
                unsafe { codes.set_len(length + count) };
                tile = next;
            }
            codes
        });
        let codes = codes.collect();
        State { codes, pending: self.fetch_pending() }
    }

    /// Changes still pending around every tile of every plane.
    fn fetch_pending(&self) -> Vec<Vec<f64>> {
        let b = &self.buffers;
        let [total, own, seen] = [&b.total, &b.own, &b.seen].map(|array| must(self.device.stream.clone_dtoh(array)));
        let plane = |p: &crate::world::Plane| {
            let mut pending = vec![0.0; p.tile_count as usize];
            parallel::parts(&mut pending, |tiles, part| {
                for (t, pending) in tiles.map(|t| t + p.first_tile as usize).zip(part) {
                    *pending = own[t] + (self.schedule.changes_around(t, &total) - seen[t]);
                }
            });
            pending
        };
        self.schedule.planes.iter().map(plane).collect()
    }

    pub(crate) fn restore_state(&mut self, state: &State<f32>) {
        let (first, all) = self.schedule.by_tile(&state.codes);
        let tiles = self.schedule.tiles.len();
        let counts: Vec<i32> = first.windows(2).map(|two| two[1] - two[0]).collect();
        self.make_room(&counts, true);
        let stream = self.device.stream.clone();
        let starts = must(stream.clone_htod(&first));
        let mut from = 0;
        while from < tiles {
            let next = shuttle_end(&first, from, tiles);
            let some = &all[first[from] as usize..first[next] as usize];
            let shuttle = must(if some.is_empty() { empty(&stream, 1) } else { stream.clone_htod(some) });
            let at = Address(&self.device);
            let (world, number, first_at, all_at, back) = (self.world, from as i32, at.of(&starts), at.of(&shuttle), 1i32);
            launch!(self, "gather_codes", (next - from) as u32, 128, 0, world, number, first_at, all_at, back);
            from = next;
        }
        (self.known.reach, self.known.candidates, self.known.curvature, self.known.sorted) = (false, None, false, false);
        self.forget();
        let pending: Vec<f64> = state.pending.iter().flatten().copied().collect();
        // What another grid of tiles had pending says nothing here.
        if pending.len() == tiles {
            let total = must(stream.clone_dtoh(&self.buffers.total));
            let mut seen = vec![0.0; tiles];
            parallel::parts(&mut seen, |tiles, part| {
                tiles.zip(part).for_each(|(t, seen)| *seen = self.schedule.changes_around(t, &total));
            });
            must(stream.memcpy_htod(&pending, &mut self.buffers.own));
            must(stream.memcpy_htod(&seen, &mut self.buffers.seen));
        }
        must(stream.synchronize());
    }

    pub(crate) fn residual_of(&self, plane: usize) -> Vec<f32> {
        let (grid, signal) = (&self.schedule.grids[plane], self.extents[plane]);
        let channels = self.dictionary.channels();
        let start = self.schedule.planes[plane].samples_at as usize;
        let length = channels * grid.domain.iter().product::<usize>();
        let domain = must(self.device.stream.clone_dtoh(&self.buffers.residual.slice(start..start + length)));
        if grid.domain == signal {
            return domain;
        }
        let mut out = Vec::with_capacity(channels * signal.iter().product::<usize>());
        for row in 0..channels * signal[0] * signal[1] {
            let (c, z, y) = (row / (signal[0] * signal[1]), row / signal[1] % signal[0], row % signal[1]);
            let line = ((c * grid.domain[0] + z + grid.signal_at[0]) * grid.domain[1] + y + grid.signal_at[1]) * grid.domain[2];
            out.extend_from_slice(&domain[line + grid.signal_at[2]..][..signal[2]]);
        }
        out
    }

    pub(crate) fn bytes(&self) -> u64 {
        let b = &self.buffers;
        let fields = b.residual.num_bytes() * (2 + usize::from(self.world.weights != 0));
        let maps = b.reach.num_bytes()
            * (1 + usize::from(self.world.position_weights != 0) + usize::from(self.world.position_caps != 0));
        let atoms = [&b.atoms, &b.packed_rows, &b.columns, &b.taps, &b.gram].iter().map(|x| x.num_bytes()).sum::<usize>();
        let sums = b.part_sums.num_bytes() + b.tile_sums.num_bytes() + b.plane_sums.num_bytes();
        let sorted = b.sorted.as_ref().map_or(0, |s| {
            2 * s.first.num_bytes()
                + s.places.num_bytes()
                + 2 * s.values.num_bytes()
                + s.gradient.num_bytes()
                + s.correlation.num_bytes()
        });
        let tiles = self.schedule.tiles.len() * (4 * 3 + 8 * 3 + 48) + 4 * self.schedule.neighbours.len();
        let scratch = 4 * self.layout.scratch * self.schedule.tiles.len();
        let shuttle = size_of::<DeviceCode>() * SHUTTLE.min(b.rooms.ledger.codes());
        let scaled = b.scaled.as_ref().map_or(0, |s| s.residual.num_bytes() + s.reach.num_bytes());
        (fields + scaled + maps + b.rooms.bytes() + shuttle + atoms + sums + sorted + tiles + scratch) as u64
    }
}
