//! Codes an image that is larger than the working memory.

use crate::workloads;
use lobcod::bands::{BandedShape, RowSource, Strip};
use lobcod::engine::CpuEngine;
use lobcod::{Extent, Penalty, PursuitParams, Result, Signal};
use std::ops::Range;
use std::time::Instant;

/// Side of the image that is repeated.
const TILE: usize = 1024;

/// A procedural image of any size, never in memory as a whole: a smaller one repeated.
struct Repeated {
    tile: Signal<f32>,
    extent: Extent,
}

impl RowSource<f32> for Repeated {
    fn extent(&self) -> Extent {
        self.extent
    }

    fn channels(&self) -> usize {
        1
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Strip<f32>> {
        let width = self.extent.axes()[1];
        let mut samples = Vec::with_capacity(rows.len() * width);
        for y in rows.clone() {
            let line = &self.tile.data()[y % TILE * TILE..][..TILE];
            samples.extend(line.iter().cycle().take(width));
        }
        let samples = Signal::from_planar(Extent::new(&[rows.len(), width])?, 1, samples)?;
        Ok(Strip { samples, weights: None })
    }
}

/// Side of the image, and estimated maximum size of a band in MiB. Codes are stored in memory.
pub fn bands(side: usize, mebibytes: usize) -> Result<()> {
    let load = workloads::procedural(TILE)?;
    let extent = Extent::new(&[side, side])?;
    let mut image = Repeated { tile: load.signals[0].signal.clone(), extent };
    let pursuit = PursuitParams::new(Penalty::Absolute(load.penalty)).check()?;
    let shape = BandedShape { extent, channels: 1, masked: false };
    let engine = CpuEngine::new(1)?;
    let rows = pursuit.rows_within(&engine, shape, &load.dictionary, (mebibytes as u64) << 20)?;
    let mut store = Vec::new();
    let clock = Instant::now();
    let report =
        pursuit.run_in_bands(&engine, &mut image, &mut store, &load.dictionary, rows, &mut ())?;
    let (seconds, pixels) = (clock.elapsed().as_secs_f64(), extent.volume() as f64);
    println!(
        "{extent} in {} bands of {rows} rows, one thread: {seconds:.1} s, {:.0} ns a pixel, {:.0} \
         MiB of working memory, relative gap {:.1e} ({}), {:.3} codes a pixel",
        pursuit.bands(extent, load.dictionary.extent(), rows),
        1e9 * seconds / pixels,
        report.working_memory_bytes as f64 / f64::from(1 << 20),
        report.total.relative_gap(),
        report.status,
        report.total.nonzeros as f64 / pixels,
    );
    Ok(())
}
