//! Compares an image coded in bands with the same image coded as a whole.

use super::timed::{self, Log, Timed};
use super::{PENALTY, dictionary, image};
use lobcod::bands::{BandedShape, Strip};
use lobcod::{Code, Penalty, PursuitParams, Report, Result};
use lobcod_conformance::fruit;
use lobcod_cuda::CudaEngine;

/// Side of the image, and maximum size of a band on the device in MiB.
pub fn bands(engine: &CudaEngine, side: usize, mebibytes: u64) -> Result<()> {
    let (dictionary, samples) = (dictionary(), fruit::less_mean(image(side)?)?.cast::<f32>());
    let params = PursuitParams::new(Penalty::Absolute(PENALTY));
    let whole = params.clone().check()?;
    let pursuit = params.with(|p| p.max_memory = Some(mebibytes << 20)).check()?;
    let shape = BandedShape { extent: samples.extent(), channels: 1, masked: false };
    let rows = pursuit.rows_within(engine, shape, &dictionary, mebibytes << 20)?;
    let print = |name: &str, report: &Report| {
        println!(
            "  {name}: {:.2} s, objective {:.7e}, gap {:.1e} ({}), {} of device memory, {} \
             discovery and {} support sweeps",
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
        let mut store: Vec<Vec<Code<f32>>> = Vec::new();
        let mut piece = Strip { samples: samples.clone(), weights: None };
        let log = Log::default();
        let timed = Timed { engine, log: log.clone() };
        let report =
            pursuit.run_in_bands(&timed, &mut piece, &mut store, &dictionary, rows, &mut ())?;
        print(
            &format!("{} bands", pursuit.bands(samples.extent(), dictionary.extent(), rows)),
            &report,
        );
        timed::print(&log.borrow(), report.seconds);
    }
    for _ in 0..2 {
        print("whole", &whole.run(engine, &[samples.clone().into()], &dictionary, &mut ())?.report);
    }
    Ok(())
}
