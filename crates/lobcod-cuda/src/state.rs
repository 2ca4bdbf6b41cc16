//! Codes and residuals between the device and the host.

use crate::kernel_args::DeviceCode;
use crate::schedule::{Schedule, each};
use crate::session::{CudaSession, Standing, launch};
use lobcod::{Code, Result};

/// Codes per transfer, unless a tile has more.
pub(crate) const STAGING: usize = 1 << 18;

/// End of the tiles whose codes are transferred together with those of tile `from`: as many as the
/// staging buffer holds, but at least one tile.
fn staging_end(first: &[i32], from: usize, end: usize, staging: usize) -> usize {
    let most = first[from] as i64 + staging as i64;
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
    /// The codes of every plane. Needs no additional device memory.
    pub(crate) fn fetch_codes(&mut self) -> Result<Vec<Vec<Code<f32>>>> {
        let counts = self.device.down(&self.buffers.counts)?;
        let mut first = vec![0];
        first.extend(counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }));
        self.device.write(&first, &mut self.buffers.starts)?;
        let (device, staging) = (&self.device, &self.buffers.staging);
        let (starts, all) = (device.at(&self.buffers.starts), device.at(staging));
        let mut landed =
            vec![DeviceCode::default(); staging.len().min(first[counts.len()] as usize)];
        let mut planes = Vec::new();
        for plane in &self.schedule.planes {
            let (mut tile, end) =
                (plane.first_tile as usize, (plane.first_tile + plane.tile_count) as usize);
            let mut codes: Vec<Code<f32>> = Vec::with_capacity((first[end] - first[tile]) as usize);
            while tile < end {
                let next = staging_end(&first, tile, end, staging.len());
                let count = (first[next] - first[tile]) as usize;
                launch!(
                    self,
                    "gather_codes",
                    next - tile,
                    128,
                    0,
                    self.args,
                    tile as i32,
                    starts,
                    all,
                    0i32
                );
                device.read(&staging.slice(..count), &mut landed[..count])?;
                let length = codes.len();
                self.schedule.codes_of_tiles(
                    tile..next,
                    &first,
                    &landed[..count],
                    &mut codes.spare_capacity_mut()[..count],
                );
                // SAFETY: every element was written above.
                unsafe { codes.set_len(length + count) };
                tile = next;
            }
            planes.push(codes);
        }
        Ok(planes)
    }

    /// Replaces the codes of every plane.
    pub(crate) fn place_codes(&mut self, codes: &[Vec<Code<f32>>]) -> Result<()> {
        let (first, all) = self.schedule.by_tile(codes);
        let tiles = self.schedule.tiles.len();
        let counts: Vec<i32> = first.windows(2).map(|two| two[1] - two[0]).collect();
        self.reserve(&counts, None)?;
        self.device.write(&first, &mut self.buffers.starts)?;
        self.standing = Standing::Foreign;
        (self.known.candidates, self.known.curvature, self.known.sorted) = (None, false, false);
        let mut from = 0;
        while from < tiles {
            let next = staging_end(&first, from, tiles, self.buffers.staging.len());
            self.device.write(
                &all[first[from] as usize..first[next] as usize],
                &mut self.buffers.staging,
            )?;
            let (starts, all) =
                (self.device.at(&self.buffers.starts), self.device.at(&self.buffers.staging));
            launch!(
                self,
                "gather_codes",
                next - from,
                128,
                0,
                self.args,
                from as i32,
                starts,
                all,
                1i32
            );
            from = next;
        }
        self.forget()?;
        self.device.wait()
    }

    /// Changes still pending around every tile of every plane.
    pub(crate) fn fetch_pending(&self) -> Result<Vec<Vec<f64>>> {
        let (b, schedule) = (&self.buffers, &self.schedule);
        let [total, own, seen] =
            [self.device.down(&b.total)?, self.device.down(&b.own)?, self.device.down(&b.seen)?];
        let mut planes = Vec::new();
        for plane in &schedule.planes {
            let mut pending = vec![0.0; plane.tile_count as usize];
            each(&mut pending, |index, pending| {
                let t = plane.first_tile as usize + index;
                *pending = own[t] + (schedule.changes_around(t, &total) - seen[t]);
            });
            planes.push(pending);
        }
        Ok(planes)
    }

    /// Replaces the pending change of every tile, if known.
    pub(crate) fn place_pending(&mut self, pending: &[Vec<f64>]) -> Result<()> {
        let pending = pending.concat();
        // Pending changes of another grid of tiles do not apply.
        if pending.len() != self.schedule.tiles.len() {
            return Ok(());
        }
        let total = self.device.down(&self.buffers.total)?;
        let mut seen = vec![0.0; pending.len()];
        each(&mut seen, |t, seen| *seen = self.schedule.changes_around(t, &total));
        self.device.write(&pending, &mut self.buffers.own)?;
        self.device.write(&seen, &mut self.buffers.seen)
    }
}
