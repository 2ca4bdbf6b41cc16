//! Time of every stage of a pursuit, compared with its limit on this machine.

use crate::ceilings::Ceilings;
use crate::timed::{Call, Command, Timer};
use crate::workloads::Workload;
use lobcod::engine::CpuEngine;
use lobcod::{Penalty, PursuitParams, Report, Result};
use lobcod_conformance::hooked::Hooked;
use std::rc::Rc;

/// Runs the workload on one thread (every call at its fastest of `repeats`) and prints the time of
/// each stage.
pub fn print(load: &Workload, ceilings: &Ceilings, repeats: usize, passes: bool) -> Result<()> {
    let (calls, report) = run(load, repeats)?;
    let total = &report.total;
    println!(
        "{}: {} pixels, penalty {}, {} codes, relative gap {:.1e} after {} discovery and {} \
         support sweeps",
        load.name,
        load.pixels(),
        load.penalty,
        total.nonzeros,
        total.relative_gap(),
        report.discovery_sweeps,
        report.support_sweeps
    );
    print_milestones(&calls, &report, load.optimum.unwrap_or(total.objective), passes);
    let (n, m) = (load.dictionary.atom_len() as f64, load.dictionary.len() as f64);
    let all: f64 = calls.iter().map(|c| c.seconds).sum();
    println!(
        "  stage          calls       ms  share      visited   ceiling ms  reached   bound by"
    );
    for (name, commands, per_visit, bound) in [
        (
            "certificate",
            &[Command::Certificate, Command::Dual][..],
            2.0 * n * m / ceilings.peak,
            "multiply-adds",
        ),
        (
            "discovery",
            &[Command::DiscoverAll, Command::DiscoverCandidates],
            2.0 * n * m / ceilings.peak,
            "multiply-adds",
        ),
        // Atom and patch are read for the correlation and again for the update, which writes the
        // patch.
        ("support", &[Command::Support], 5.0 * 4.0 * n / ceilings.l1, "first cache"),
        // A code moves an atom and a patch and writes it; then the residual and the signal are
        // read.
        ("objective", &[Command::Objective], 0.0, "-"),
        ("setup", &[Command::Open], 0.0, "-"),
    ] {
        let of: Vec<&Call> = calls.iter().filter(|c| commands.contains(&c.command)).collect();
        let seconds: f64 = of.iter().map(|c| c.seconds).sum();
        let visited: usize = of.iter().map(|c| c.visited).sum();
        let ceiling = 1e-9 * visited as f64 * per_visit;
        let reached = if ceiling > 0.0 {
            format!("{:6.0} %", 100.0 * ceiling / seconds)
        } else {
            "      -".into()
        };
        println!(
            "  {name:<12} {:>7} {:>8.1} {:>5.0}% {visited:>12} {:>12.1} {reached}   {bound}",
            of.len(),
            1e3 * seconds,
            100.0 * seconds / all,
            1e3 * ceiling
        );
    }
    println!("  all          {:>16.1}\n", 1e3 * all);
    Ok(())
}

fn run(load: &Workload, repeats: usize) -> Result<(Vec<Call>, Report)> {
    let engine = CpuEngine::new(1)?;
    let pursuit = PursuitParams::new(Penalty::Absolute(load.penalty)).check()?;
    let mut fastest: Vec<Call> = Vec::new();
    let mut report = None;
    for _ in 0..repeats {
        let timer = Rc::new(Timer::default());
        let timed = Hooked { engine: &engine, hook: Rc::clone(&timer) };
        report = Some(pursuit.run(&timed, &load.signals, &load.dictionary, &mut ())?.report);
        let calls = timer.log.borrow().clone();
        if fastest.is_empty() {
            fastest = calls;
        } else {
            fastest.iter_mut().zip(&calls).for_each(|(f, c)| f.seconds = f.seconds.min(c.seconds));
        }
    }
    Ok((fastest, report.expect("at least one run")))
}

/// Times at which the objective came within 1 %, 0.1 % and 0.01 % of the lowest; optionally every
/// pass, with the fraction of needles visited.
fn print_milestones(calls: &[Call], report: &Report, optimum: f64, passes: bool) {
    let mut points = report.history.iter();
    let mut open = vec![1e-2, 1e-3, 1e-4];
    let mut seconds = 0.0;
    let mut line = String::new();
    let mut measured = 0;
    let mut reached = String::new();
    for call in calls {
        seconds += call.seconds;
        line += &format!(" {} {:.1} ({})", call.command.short(), 1e3 * call.seconds, call.visited);
        if !matches!(call.command, Command::Certificate | Command::Objective) {
            continue;
        }
        measured += 1;
        // The first measurement determines the largest correlation and is not part of the history.
        let Some(point) = (measured > 1).then(|| points.next()).flatten() else { continue };
        let above = point.objective / optimum - 1.0;
        if passes {
            println!("  {:8.1} ms  {above:9.1e}:{line}", 1e3 * seconds);
        }
        line.clear();
        while open.first().is_some_and(|&level| above <= level) {
            reached += &format!("   {} %: {:.1} ms", 100.0 * open.remove(0), 1e3 * seconds);
        }
    }
    println!("  above the least objective by{reached}");
}
