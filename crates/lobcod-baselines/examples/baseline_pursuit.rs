//! Compares slice-based ADMM with lobcod's pursuit on a synthetic image: distance to the optimum
//! over time.
//!
//! `cargo run --release -p lobcod-baselines --example baseline_pursuit [SIZE [PENALTY [RHO]]]`

use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Observed, Penalty, PursuitParams, Result};
use lobcod_baselines::Sbdl;
use lobcod_tasks::synthetic;
use std::time::Duration;

fn main() -> Result<()> {
    let argument = |i: usize, usual: f64| {
        std::env::args().nth(i).and_then(|word| word.parse().ok()).unwrap_or(usual)
    };
    let size = argument(1, 100.0) as usize;
    let penalty = argument(2, 20.0);
    let rho = argument(3, 1.0);
    let image = synthetic::grey_still_life(size)?.cast::<f64>();
    let dictionary = Dictionary::<f64>::natural();
    let details: [Observed<f64>; 1] =
        [image.minus(&Base::LocalMean.layer(&image, None, dictionary.extent())?)?.into()];

    let params = PursuitParams::new(Penalty::Absolute(penalty)).with(|p| p.tolerance = 1e-6);
    let report = params.check()?.run(&CpuEngine::new(1)?, &details, &dictionary, &mut ())?.report;
    let best = report.total.objective;
    println!(
        "{size}x{size}, penalty {penalty}: optimum {best:.6e}, gap {:.0e}, one thread each, f64",
        report.total.relative_gap()
    );
    println!("lobcod");
    for point in &report.history {
        println!(
            "  {:8.3} s  {:+.2e}  {:6} non-zeros",
            point.seconds,
            point.objective / best - 1.0,
            point.nonzeros
        );
    }
    let sbdl = Sbdl {
        rho,
        iterations: 300,
        time_limit: Some(Duration::from_secs(60)),
        ..Sbdl::new(penalty)
    };
    println!("slices, rho {rho}");
    for point in sbdl.run(&details, &dictionary)?.history {
        println!(
            "  {:8.3} s  {:+.2e}  {:6} non-zeros",
            point.seconds,
            point.objective / best - 1.0,
            point.nonzeros
        );
    }
    Ok(())
}
