//! Kernels over the tiles of a session, and their counters.

use crate::code_store::LISTS;
use crate::device::failed;
use crate::kernel_args::{Counters, DeviceCode, VisitArgs};
use crate::layout::Blocks;
use crate::session::{CudaSession, Standing, launch};
use cudarc::driver::result::mem_get_info;
use lobcod::Result;
use lobcod::engine::{Context, Sweep};

/// Number of tiles for which a sweep takes a tenth of a second or more.
const MANY_TILES: usize = 1 << 20;
/// Codes per needle of a dense start, with some headroom.
const DENSE_CODES: usize = 16;

/// A launch over some tiles of a list.
pub(crate) struct TileLaunch {
    /// Address of the first tile in the list, and the number of tiles.
    pub(crate) list: u64,
    pub(crate) tiles: i32,
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    /// Shared memory in bytes.
    pub(crate) bytes: usize,
}

/// Combines the statistics of two sweeps.
pub(crate) fn together(a: Sweep, b: Sweep) -> Sweep {
    Sweep { largest_change: a.largest_change.max(b.largest_change), visited: a.visited + b.visited }
}

impl CudaSession {
    /// Launches over a list of tiles, split at `ends`.
    fn tile_launches(&self, list: u64, ends: &[usize], blocks: Blocks) -> Vec<TileLaunch> {
        let launch = |ends: &[usize]| {
            let tiles = ends[1] - ends[0];
            let (blocks, threads, bytes) = blocks.split(tiles, self.device.facts.multiprocessors);
            TileLaunch {
                list: list + 4 * ends[0] as u64,
                tiles: tiles as i32,
                blocks,
                threads,
                bytes,
            }
        };
        ends.windows(2).filter(|ends| ends[1] > ends[0]).map(launch).collect()
    }

    /// Launches over all tiles, colour by colour.
    pub(crate) fn colour_launches(&self, blocks: Blocks) -> Vec<TileLaunch> {
        self.tile_launches(self.buffers.coloured, &self.schedule.colours, blocks)
    }

    /// Whether to stop the rest of a sweep. If colours take long, waits for the running ones before
    /// checking.
    pub(crate) fn is_stopped(&self, context: &Context) -> Result<bool> {
        if self.schedule.tiles.len() < MANY_TILES {
            return Ok(false);
        }
        self.device.wait()?;
        Ok(context.stop.is_due())
    }

    /// Subtracts the contribution of the codes from the signal.
    pub(crate) fn synthesise(&mut self) -> Result<()> {
        self.synthesise_from(self.args.packed_rows, false)?;
        self.standing = Standing::Synthesised;
        Ok(())
    }

    /// Subtracts the contribution of the codes with (packed) atoms from the signal or from zero.
    pub(crate) fn synthesise_from(&mut self, rows: u64, from_zero: bool) -> Result<()> {
        self.standing = Standing::Foreign;
        let samples = self.schedule.sizes.samples;
        let blocks = samples.div_ceil(1024).min(8 * self.device.facts.multiprocessors);
        launch!(
            self,
            "reset_residual",
            blocks,
            256,
            0,
            self.args,
            samples as i64,
            i32::from(from_zero)
        );
        let (tile, kept) = (self.layout.support.tile as i32, self.layout.kept_codes as i32);
        for part in self.colour_launches(self.layout.support) {
            let TileLaunch { list, tiles, blocks, threads, bytes } = part;
            launch!(
                self,
                "synthesise",
                blocks,
                threads,
                bytes,
                self.args,
                list,
                tiles,
                rows,
                tile,
                kept
            );
        }
        Ok(())
    }

    /// Synthesises the residual if it does not belong to codes and dictionary. After an error the
    /// atoms on the device may be others.
    pub(crate) fn follow(&mut self) -> Result<()> {
        if !self.known.atoms {
            self.take_dictionary()?;
        }
        if self.standing == Standing::Foreign { self.synthesise() } else { Ok(()) }
    }

    /// Computes the largest correlations of all needles, unless known.
    pub(crate) fn correlate(&mut self) -> Result<()> {
        if self.standing == Standing::Correlated {
            return Ok(());
        }
        self.device.clear(&mut self.buffers.plane_largest)?;
        let (b, (threads, bytes)) = (&self.buffers, self.recipe.reach_threads());
        let largest = self.device.at(&b.plane_largest);
        launch!(
            self,
            "find_reach",
            self.reach_blocks,
            threads,
            bytes,
            self.args,
            b.reach_blocks,
            b.taps,
            largest
        );
        if self.standing == Standing::Synthesised {
            self.standing = Standing::Correlated;
        }
        Ok(())
    }

    /// Computes the curvatures of the codes, unless known.
    pub(crate) fn find_curvatures(&mut self) -> Result<()> {
        if !self.known.curvature {
            launch!(
                self,
                "find_curvatures",
                self.schedule.tiles.len().div_ceil(4),
                128,
                0,
                self.args
            );
            self.known.curvature = true;
        }
        Ok(())
    }

    /// Discards what is known about changes: every tile is swept again.
    pub(crate) fn forget(&mut self) -> Result<()> {
        launch!(self, "reset_changes", self.schedule.tiles.len().div_ceil(256), 256, 0, self.args);
        Ok(())
    }

    /// Sums residuals and codes on the device.
    pub(crate) fn add_up(&mut self) -> Result<()> {
        let (args, b) = (self.args, &self.buffers);
        let (sums, largest) = (self.device.at(&b.plane_sums), self.device.at(&b.plane_largest));
        launch!(self, "tally_parts", self.schedule.runs.len(), 256, 0, args, b.runs, b.run_sums);
        launch!(
            self,
            "tally_tiles",
            self.schedule.tiles.len().div_ceil(8),
            256,
            0,
            args,
            b.tile_sums
        );
        let planes = self.schedule.planes.len();
        launch!(
            self,
            "tally_planes",
            planes,
            256,
            0,
            args,
            b.run_sums,
            b.first_run,
            b.tile_sums,
            largest,
            sums
        );
        Ok(())
    }

    /// For every plane: `||r||^2`, `<A (Y - B), r>`, l1 norm, energy and number of the codes, and
    /// the largest correlation.
    pub(crate) fn tally(&mut self) -> Result<Vec<[f64; 6]>> {
        self.add_up()?;
        Ok(self.device.down(&self.buffers.plane_sums)?.as_chunks().0.to_vec())
    }

    pub(crate) fn clear_counters(&mut self) -> Result<()> {
        self.device.clear(&mut self.buffers.counters)
    }

    pub(crate) fn read_counters(&mut self) -> Result<Counters> {
        self.device
            .stream
            .memcpy_dtoh(&self.buffers.counters, &mut self.host_counters)
            .map_err(failed)?;
        self.device.wait()?;
        Ok(self.host_counters.as_slice().map_err(failed)?[0])
    }

    /// Visits needles of the tiles between these ends of the list of colours; repeats it for tiles
    /// that ran out of memory.
    pub(crate) fn visit(
        &mut self,
        ends: &[usize],
        args: VisitArgs,
        context: &Context,
    ) -> Result<Sweep> {
        let (mut sum, mut overflows) =
            self.visit_listed(self.buffers.coloured, ends, args, context)?;
        while overflows != 0 && !self.is_stopped(context)? {
            // Tiles that found more codes than they have memory for made no changes; they are
            // visited again.
            let wanted = self.device.down(&self.buffers.wanted)?;
            let (tiles, ends) = self.overflowing(&wanted, ends);
            self.reserve(&wanted, context.max_memory)?;
            let list = self.device.up(&tiles)?;
            let (more, again) = self.visit_listed(self.device.at(&list), &ends, args, context)?;
            (sum, overflows) = (together(sum, more), again);
        }
        Ok(sum)
    }

    /// Visits the listed tiles once; returns how many ran out of memory.
    fn visit_listed(
        &mut self,
        list: u64,
        ends: &[usize],
        args: VisitArgs,
        context: &Context,
    ) -> Result<(Sweep, u64)> {
        self.clear_counters()?;
        let (group, on_chip) = (self.layout.visit.tile as i32, self.layout.atoms_on_chip as i32);
        for part in self.tile_launches(list, ends, self.layout.visit) {
            if self.is_stopped(context)? {
                break;
            }
            let TileLaunch { list, tiles, blocks, threads, bytes } = part;
            launch!(
                self, "visit", blocks, threads, bytes, self.args, list, tiles, args, group, on_chip
            );
        }
        let counters = self.read_counters()?;
        Ok((counters.sweep(), counters.overflows))
    }

    /// Of the tiles between these ends of the list of colours, those that need more memory, and
    /// their ends.
    fn overflowing(&self, wanted: &[i32], ends: &[usize]) -> (Vec<i32>, Vec<usize>) {
        let (mut tiles, mut own_ends) = (Vec::new(), vec![0]);
        let capacities = &self.buffers.codes.capacities;
        for part in ends.windows(2) {
            let listed = self.schedule.coloured[part[0]..part[1]].iter().copied();
            tiles.extend(
                listed.filter(|&t| wanted[t as usize] as usize > capacities.of(t as usize)),
            );
            own_ends.push(tiles.len());
        }
        (tiles, own_ends)
    }

    /// Reserves memory for as many codes as a dense start usually has, if available: the work of a
    /// tile that overflows is lost.
    pub(crate) fn reserve_dense(&mut self, context: &Context) {
        let codes = DENSE_CODES * self.schedule.sizes.most_needles;
        let tiles = self.schedule.tiles.len();
        let bytes = LISTS * tiles * codes * size_of::<DeviceCode>();
        if mem_get_info().is_ok_and(|(free, _)| bytes <= free / 4) {
            // On failure, tiles grow on demand.
            let _ = self.reserve(&vec![(codes * 2 / 3) as i32; tiles], context.max_memory);
        }
    }
}

impl Counters {
    pub(crate) fn sweep(&self) -> Sweep {
        Sweep {
            largest_change: f64::from(f32::from_bits(self.change as u32)),
            visited: self.visited as usize,
        }
    }
}
