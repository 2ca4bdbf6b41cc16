//! Scaling with threads, pixels and precision.

use crate::timed::{Call, Command, Timer};
use crate::workloads::{self, Workload};
use lobcod::engine::CpuEngine;
use lobcod::{Observed, Penalty, PursuitParams, Report, Result, Signal};
use lobcod_conformance::hooked::Hooked;
use std::rc::Rc;
use std::time::Instant;

/// Seconds of a pursuit to the default gap, the median of `repeats`, and the last report.
fn median(repeats: usize, mut run: impl FnMut() -> Result<Report>) -> Result<(f64, Report)> {
    let mut seconds = Vec::new();
    let mut last = None;
    for _ in 0..repeats {
        let clock = Instant::now();
        last = Some(run()?);
        seconds.push(clock.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok((seconds[seconds.len() / 2], last.expect("at least one run")))
}

fn run(load: &Workload, threads: usize) -> Result<Report> {
    let pursuit = PursuitParams::new(Penalty::Absolute(load.penalty)).check()?;
    Ok(pursuit.run(&CpuEngine::new(threads)?, &load.signals, &load.dictionary, &mut ())?.report)
}

/// The given numbers of threads, or 1, 2, 4, 8, 16 up to the number of cores, and the speed-up of
/// every stage over the first.
pub fn threads(side: usize, counts: &[usize]) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = workloads::procedural(side)?;
    println!("{}, to a gap of 1e-3, medians of 3; {cores} cores", load.name);
    let pursuit = PursuitParams::new(Penalty::Absolute(load.penalty)).check()?;
    let stages = [
        ("setup", &[Command::Open][..]),
        ("certificate", &[Command::Certificate, Command::Dual]),
        ("discovery", &[Command::DiscoverAll, Command::DiscoverCandidates]),
        ("support", &[Command::Support]),
        ("objective", &[Command::Objective]),
    ];
    let mut one: Vec<f64> = Vec::new();
    let usual: Vec<usize> = [1, 2, 4, 8, 16].into_iter().filter(|&count| count <= cores).collect();
    for &count in if counts.is_empty() { &usual } else { counts } {
        let engine = CpuEngine::new(count)?;
        let mut calls: Vec<Call> = Vec::new();
        let (seconds, report) = median(3, || {
            let timer = Rc::new(Timer::default());
            let timed = Hooked { engine: &engine, hook: Rc::clone(&timer) };
            let report = pursuit.run(&timed, &load.signals, &load.dictionary, &mut ())?.report;
            calls = timer.log.borrow().clone();
            Ok(report)
        })?;
        let of = |commands: &[Command]| {
            calls.iter().filter(|c| commands.contains(&c.command)).map(|c| c.seconds).sum::<f64>()
        };
        let mut spent: Vec<f64> = stages.iter().map(|(_, commands)| of(commands)).collect();
        spent.push(seconds - spent.iter().sum::<f64>());
        spent.push(seconds);
        one = if one.is_empty() { spent.clone() } else { one };
        print!(
            "{count:>3} threads {seconds:8.3} s, {:5.2} times the first;",
            one[spent.len() - 1] / seconds
        );
        for ((name, seconds), one) in
            stages.iter().map(|s| s.0).chain(["outside"]).zip(&spent).zip(&one)
        {
            print!(" {name} {seconds:.2} s ({:.1}x)", one / seconds);
        }
        println!("; objective {}", report.total.objective);
    }
    Ok(())
}

/// Sides 512, 1024, ... up to `largest` on one thread.
pub fn scale(largest: usize) -> Result<()> {
    println!("one thread, to a gap of 1e-3, medians of 3");
    let mut side = 512;
    while side <= largest {
        let load = workloads::procedural(side)?;
        let (seconds, report) = median(3, || run(&load, 1))?;
        let pixels = load.pixels() as f64;
        println!(
            "{:>14}: {seconds:8.3} s, {:6.1} ns a pixel, {:5.1} bytes a pixel, {:.3} codes a \
             pixel, {} + {} sweeps",
            load.name,
            1e9 * seconds / pixels,
            report.working_memory_bytes as f64 / pixels,
            report.total.nonzeros as f64 / pixels,
            report.discovery_sweeps,
            report.support_sweeps
        );
        side *= 2;
    }
    Ok(())
}

/// The same workload in both precisions, alternating.
pub fn precision() -> Result<()> {
    for load in workloads::all()? {
        let double: Vec<Observed<f64>> =
            load.signals.iter().map(|s| Signal::cast::<f64>(&s.signal).into()).collect();
        let dictionary = load.dictionary.cast::<f64>();
        let pursuit = PursuitParams::new(Penalty::Absolute(load.penalty)).check()?;
        let (single, _) = median(5, || run(&load, 1))?;
        let (twice, _) = median(5, || {
            Ok(pursuit.run(&CpuEngine::new(1)?, &double, &dictionary, &mut ())?.report)
        })?;
        println!(
            "{:>14}: f32 {single:.3} s, f64 {twice:.3} s, {:.2} times",
            load.name,
            twice / single
        );
    }
    Ok(())
}
