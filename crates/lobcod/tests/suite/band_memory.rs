//! An engine with its own memory in which bands need more than estimated: they are halved until
//! they fit.

use lobcod::bands::Strip;
use lobcod::engine::CpuEngine;
use lobcod::pursuit::Start;
use lobcod::{
    Border, Code, Dictionary, Error, Extent, Needles, Observed, Penalty, PursuitParams, Result,
    Signal, Status,
};
use lobcod_conformance::cpu;
use lobcod_conformance::hooked::{Call, Hook, Hooked};
use std::cell::Cell;
use std::rc::Rc;

/// Bytes per position once there are codes, more than any estimate.
const BYTES: u64 = 100;

struct Narrow {
    memory: u64,
    /// Bytes needed by the session opened last.
    needs: Cell<u64>,
}

impl Hook for Narrow {
    fn before(&self, call: &Call<'_>) -> Result<()> {
        match call {
            Call::Open(positions) => self.needs.set(BYTES * positions.unwrap_or(0) as u64),
            Call::Discover(_, limits) => {
                let (needed, limit) = (self.needs.get(), limits.max_memory.unwrap_or(u64::MAX));
                if needed > limit {
                    return Err(Error::Limits { needed, limit });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn own_memory(&self) -> Option<u64> {
        Some(self.memory)
    }
}

fn image() -> Signal<f32> {
    let extent = Extent::new(&[230, 40]).unwrap();
    // Details only in the lower half; in the upper half bands of any size fit.
    let sample = |i: usize| {
        if i / 40 < 90 { 0.0 } else { 50.0 * (i as f32 * 0.37).sin() + (i * 31 % 17) as f32 }
    };
    Signal::from_planar(extent, 1, (0..extent.volume()).map(sample).collect()).unwrap()
}

fn run(
    memory: u64,
    limit: Option<u64>,
    border: Border,
) -> (Result<lobcod::Report>, Vec<Vec<Code<f32>>>, Dictionary<f32>) {
    let dictionary = Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 20, 1).unwrap();
    let params = PursuitParams::new(Penalty::Relative(0.05)).with(|p| {
        p.border = border;
        p.max_memory = limit;
        p.tolerance = 1e-3;
    });
    let hook = Rc::new(Narrow { memory, needs: Cell::new(0) });
    let engine = Hooked { engine: CpuEngine::new(1).unwrap(), hook };
    let (mut piece, mut store) = (Strip { samples: image(), weights: None }, Vec::new());
    let report = params.check().unwrap().run_in_bands(
        &engine,
        &mut piece,
        &mut store,
        &dictionary,
        120,
        &mut (),
    );
    (report, store, dictionary)
}

#[test]
fn bands_that_exceed_the_memory_limit_are_halved() {
    for border in [Border::Free, Border::Zero] {
        let (report, two_bands, dictionary) = run(u64::MAX, None, border);
        assert_eq!(report.unwrap().status, Status::Converged);
        // Rows of 43 positions: at most 70 of them may be processed at once.
        let limit = 70 * 43 * BYTES;
        for (memory, limit) in [(limit, None), (10 * limit, Some(limit))] {
            let (report, store, _) = run(memory, limit, border);
            let report = report.unwrap();
            assert!(
                report.status == Status::Converged && store.len() > two_bands.len(),
                "{} pieces, {report:?}",
                store.len()
            );
            // The stored codes match the report.
            let needles = Needles::new(image().extent(), 1, border, store.concat());
            let observed = Observed { start: Start::Needles(needles), ..image().into() };
            let params = PursuitParams::new(Penalty::Absolute(report.penalty)).with(|p| {
                p.border = border;
                p.tolerance = 1.0;
            });
            let given = params
                .check()
                .unwrap()
                .run(&cpu(0), &[observed], &dictionary, &mut ())
                .unwrap()
                .report
                .history[0];
            assert_eq!(report.total.nonzeros, given.nonzeros);
            assert!(
                (report.total.objective / given.objective - 1.0).abs() < 1e-5,
                "{} {}",
                report.total.objective,
                given.objective
            );
        }
    }
}

#[test]
fn bands_that_cannot_be_low_enough_are_rejected() {
    let (report, ..) = run(43 * BYTES, None, Border::Free);
    assert!(
        matches!(report, Err(Error::Limits { needed, limit }) if needed > limit && limit == 43 * BYTES),
        "{report:?}"
    );
}
