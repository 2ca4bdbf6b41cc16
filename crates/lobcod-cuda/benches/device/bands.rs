//! A picture in bands, beside the same picture as a whole.

use super::timed::{self, Log, Timed};
use super::{PENALTY, dictionary, picture};
use lobcod::{BandedShape, Code, Penalty, Piece, PursuitParams, Report, Result};
use lobcod_conformance::fruit;
use lobcod_cuda::CudaEngine;

/// Side of the picture, and the MiB that a band may take on the device.
pub fn bands(engine: &CudaEngine, side: usize, mebibytes: u64) -> Result<()> {
    let (dictionary, samples) = (dictionary(), fruit::less_mean(picture(side)?)?.cast::<f32>());
    let params = PursuitParams::new(Penalty::Absolute(PENALTY));
    let whole = params.clone().check()?;
    let pursuit = PursuitParams { max_memory: Some(mebibytes << 20), ..params }.check()?;
    let shape = BandedShape { extent: samples.extent(), channels: 1, masked: false };
    let rows = pursuit.rows_within(engine, shape, &dictionary, mebibytes << 20)?;
    let tell = |name: &str, report: &Report| {
        println!(
            "  {name}: {:.2} s, objective {:.7e}, gap {:.1e} ({}), {} of device memory, {} discovery and {} support sweeps",
            report.seconds,
            report.total.objective,
            report.total.relative_gap(),
            report.status,
            lobcod::memory::words(report.working_memory_bytes),
            report.discovery_sweeps,
            report.support_sweeps
        );
    };
    println!("{side}x{side}, free border, bands of {rows} rows within {mebibytes} MiB");
    for _ in 0..2 {
        let mut shelf: Vec<Vec<Code<f32>>> = Vec::new();
        let mut piece = Piece { samples: samples.clone(), weights: None };
        let log = Log::default();
        let timed = Timed { engine, log: log.clone() };
        let report = pursuit.run_in_bands_on(&timed, &mut piece, &mut shelf, &dictionary, rows, &mut ())?;
        tell(&format!("{} bands", pursuit.bands(samples.extent(), dictionary.extent(), rows)), &report);
        timed::print(&log.borrow(), report.seconds);
    }
    for _ in 0..2 {
        tell("whole", &whole.run_on(engine, &[samples.clone().into()], &dictionary, &mut ())?.report);
    }
    Ok(())
}
