//! Where the time of a pursuit goes: `cargo bench -p lobcod --bench speed [-- WORKLOAD...]`.

mod timed;

use lobcod::engine::CpuEngine;
use lobcod::{Observed, Penalty, PursuitParams, Signal};
use lobcod_conformance::fruit;
use timed::{Log, Timed};

fn main() -> lobcod::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let data = fruit::data_folder().expect("data");
    let dictionary = fruit::initial_dictionary(&data).cast::<f32>();
    let fruits: Vec<Signal<f32>> = fruit::pictures(&data).iter().map(|s| s.cast()).collect();
    let barbara: Vec<Signal<f32>> = vec![fruit::less_mean(fruit::picture(&data.join("standard/barbara.png")))?.cast()];
    let loads = [
        ("fruit-20", &fruits, 20.0, 9138849.4),
        ("barbara-20", &barbara, 20.0, 15180814.0),
        ("barbara-5", &barbara, 5.0, 4745069.3),
    ];
    for (name, signals, penalty, known) in loads {
        if !words.is_empty() && !words.iter().any(|w| w == name) {
            continue;
        }
        let observed: Vec<Observed<f32>> = signals.iter().cloned().map(Observed::from).collect();
        let engine = CpuEngine::new(1)?;
        let mut best: Vec<timed::Call> = Vec::new();
        let mut answer = None;
        let repeats = if std::env::args().any(|a| a == "--once") { 1 } else { 7 };
        for _ in 0..repeats {
            let log = Log::default();
            let timed = Timed { engine: &engine, log: log.clone() };
            let mut params = PursuitParams::new(Penalty::Absolute(penalty));
            params.tolerance = std::env::var("TOL").map_or(1e-3, |t| t.parse().unwrap());
            answer = Some(params.check()?.run_on(&timed, &observed, &dictionary, &mut ())?);
            let calls = log.borrow().clone();
            if best.is_empty() {
                best = calls;
            } else {
                best.iter_mut().zip(&calls).for_each(|(b, c)| b.seconds = b.seconds.min(c.seconds));
            }
        }
        let report = answer.unwrap().report;
        let optimum = if known > 0.0 { known } else { report.total.objective };
        println!(
            "{name}: objective {} gap {:.1e} nnz {} discovery {} support {}",
            report.total.objective,
            report.total.relative_gap(),
            report.total.nonzeros,
            report.discovery_sweeps,
            report.support_sweeps
        );
        if report.history.len() > 1 {
            let mut t = 0.0;
            let mut pts = report.history.iter();
            let mut skip = true;
            let mut todo = vec![1e-2, 1e-3, 1e-4];
            for call in &best {
                t += call.seconds;
                if matches!(call.verb, timed::Verb::Certificate | timed::Verb::Objective) {
                    if skip {
                        skip = false;
                        continue;
                    }
                    let p = pts.next().unwrap();
                    while !todo.is_empty() && p.objective / optimum - 1.0 <= todo[0] {
                        print!("   to {:e}: {:.1} ms", todo[0], 1e3 * t);
                        todo.remove(0);
                    }
                }
            }
            println!();
        }
        if std::env::args().any(|a| a == "--brief") {
            continue;
        }
        let mut points = report.history.iter();
        let mut skip = true;
        let (mut total, mut line) = (0.0, String::new());
        for call in &best {
            total += call.seconds;
            line += &format!(" {:?} {:.2} ({})", call.verb, 1e3 * call.seconds, call.visited);
            if matches!(call.verb, timed::Verb::Certificate | timed::Verb::Objective) {
                if skip {
                    skip = false;
                    line += "|";
                    continue;
                }
                let p = points.next().unwrap();
                println!(
                    "  {:7.2} ms  {:9.2e} nnz {:6} gap {:.1e}:{line}",
                    1e3 * total,
                    p.objective / optimum - 1.0,
                    p.nonzeros,
                    p.relative_gap.unwrap_or(f64::NAN)
                );
                line.clear();
            }
        }
        let sum = |v: timed::Verb| best.iter().filter(|c| c.verb == v).map(|c| 1e3 * c.seconds).sum::<f64>();
        use timed::Verb::*;
        for v in [Open, Refresh, DiscoverAll, DiscoverCandidates, Support, Certificate, Objective] {
            print!("  {v:?} {:.1}", sum(v));
        }
        println!("  total {:.1} ms", 1e3 * total);
    }
    Ok(())
}
