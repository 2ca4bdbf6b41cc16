//! Codes and residuals between the device and the host.

use crate::buffers::{Address, empty};
use crate::session::{CudaSession, launch, must};
use crate::world::{CUT_BIT, DeviceCode};
use lobcod::Code;
use lobcod::engine::State;

impl CudaSession {
    pub(crate) fn fetch_state(&self) -> State<f32> {
        let stream = &self.device.stream;
        let counts = must(stream.clone_dtoh(&self.buffers.counts));
        let mut first = vec![0];
        first.extend(counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }));
        let total = first[counts.len()] as usize;
        let starts = must(stream.clone_htod(&first));
        let all = must(empty::<DeviceCode>(stream, total));
        let at = Address(&self.device);
        let (world, first_at, all_at, back) = (self.world, at.of(&starts), at.of(&all), 0i32);
        launch!(self, "gather_codes", counts.len() as u32, 128, 0, world, first_at, all_at, back);
        let all = must(stream.clone_dtoh(&all));
        let [row, slice, _] = self.schedule.sizes.strides;
        let mut codes: Vec<Vec<Code<f32>>> = self.schedule.planes.iter().map(|_| Vec::new()).collect();
        for (t, tile) in self.schedule.tiles.iter().enumerate() {
            let grid = &self.schedule.grids[tile.plane as usize];
            let needles = &self.schedule.needles[self.schedule.shapes[tile.shape as usize].needles_at as usize..];
            let own = &all[first[t] as usize..first[t + 1] as usize];
            codes[tile.plane as usize].extend(own.iter().map(|code| {
                let offset = needles[code.needle as usize] as usize;
                let local = [offset / slice, offset % slice / row, offset % row];
                let position = std::array::from_fn(|a| tile.origin[a] + local[a] as i32 - grid.signal_at[a] as i32);
                Code { position, atom: code.atom & !CUT_BIT, channel: 0, value: code.value }
            }));
        }
        State { codes, pending: self.fetch_pending() }
    }

    /// Changes still pending around every tile of every plane.
    fn fetch_pending(&self) -> Vec<Vec<f64>> {
        let b = &self.buffers;
        let [total, own, seen] = [&b.total, &b.own, &b.seen].map(|array| must(self.device.stream.clone_dtoh(array)));
        let pending = |t: usize| own[t] + (self.changes_around(t, &total) - seen[t]);
        let plane = |p: &crate::world::Plane| (p.first_tile..p.first_tile + p.tile_count).map(|t| pending(t as usize)).collect();
        self.schedule.planes.iter().map(plane).collect()
    }

    /// Changes of all neighbours of a tile so far.
    fn changes_around(&self, t: usize, total: &[f64]) -> f64 {
        let tile = self.schedule.tiles[t];
        let near = &self.schedule.neighbours[tile.neighbours_at as usize..][..tile.neighbour_count as usize];
        near.iter().map(|&n| total[n as usize]).sum()
    }

    pub(crate) fn restore_state(&mut self, state: &State<f32>) {
        let mut tiles: Vec<Vec<DeviceCode>> = self.schedule.tiles.iter().map(|_| Vec::new()).collect();
        let ([row, slice, _], numbers) = (self.schedule.sizes.strides, self.schedule.needle_numbers());
        for ((codes, grid), plane) in state.codes.iter().zip(&self.schedule.grids).zip(&self.schedule.planes) {
            let starts: [Vec<i64>; 3] = std::array::from_fn(|a| {
                let mut starts: Vec<i64> = grid.tiles.iter().map(|t| t.origin[a]).collect();
                starts.sort_unstable();
                starts.dedup();
                starts
            });
            for code in codes {
                let at: [i64; 3] = std::array::from_fn(|a| i64::from(code.position[a]) + grid.signal_at[a] as i64);
                let cell: [usize; 3] = std::array::from_fn(|a| starts[a].partition_point(|&s| s <= at[a]) - 1);
                let index = (cell[0] * starts[1].len() + cell[1]) * starts[2].len() + cell[2];
                let tile = plane.first_tile as usize + index;
                let [z, y, x]: [usize; 3] = std::array::from_fn(|a| (at[a] - starts[a][cell[a]]) as usize);
                let needle = numbers[self.schedule.tiles[tile].shape as usize][z * slice + y * row + x];
                tiles[tile].push(DeviceCode { needle, atom: code.atom, value: code.value, curvature: 1.0 });
            }
        }
        let most = tiles.iter().map(Vec::len).max().unwrap_or(0);
        if most > self.world.capacity as usize {
            self.grow(most);
        }
        let mut first = vec![0i32];
        let mut all: Vec<DeviceCode> = Vec::new();
        for codes in &mut tiles {
            codes.sort_by_key(|c| (c.needle, c.atom));
            all.extend(codes.iter());
            first.push(all.len() as i32);
        }
        if all.is_empty() {
            all.push(DeviceCode::default());
        }
        let stream = &self.device.stream;
        let (starts, all) = (must(stream.clone_htod(&first)), must(stream.clone_htod(&all)));
        let at = Address(&self.device);
        let (world, first_at, all_at, back) = (self.world, at.of(&starts), at.of(&all), 1i32);
        launch!(self, "gather_codes", tiles.len() as u32, 128, 0, world, first_at, all_at, back);
        (self.known.reach, self.known.candidates, self.known.curvature, self.known.sorted) = (false, None, false, false);
        self.forget();
        let pending: Vec<f64> = state.pending.iter().flatten().copied().collect();
        // What another grid of tiles had pending says nothing here.
        if pending.len() == tiles.len() {
            let total = must(self.device.stream.clone_dtoh(&self.buffers.total));
            let seen: Vec<f64> = (0..tiles.len()).map(|t| self.changes_around(t, &total)).collect();
            must(self.device.stream.memcpy_htod(&pending, &mut self.buffers.own));
            must(self.device.stream.memcpy_htod(&seen, &mut self.buffers.seen));
        }
        must(self.device.stream.synchronize());
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
        let scaled = b.scaled.as_ref().map_or(0, |s| s.residual.num_bytes() + s.reach.num_bytes());
        (fields + scaled + maps + b.codes.num_bytes() + atoms + sums + sorted + tiles + scratch) as u64
    }
}
