//! Benchmarks on the device. `device pursuit|learn|inpaint|all [SIDE...]`; `device bands SIDE
//! MEBIBYTES`, `device idle`.
//!
//! Images come from the data folder (`LOBCOD_DATA`) if there is one, otherwise they are synthetic.
//! With `LOBCOD_EXPORT=FOLDER` signals and dictionary of the pursuits are written there, to run
//! other implementations on the same data.

mod bands;
mod idle;
mod timed;

use lobcod::engine::CpuEngine;
use lobcod::{
    Border, Dictionary, Extent, LearnParams, Mask, Observed, Penalty, PursuitParams, Report,
    Result, Signal,
};
use lobcod_conformance::fruit;
use lobcod_cuda::CudaEngine;
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::synthetic;
use std::path::Path;
use std::time::Instant;
use timed::{Log, Timed};

const PENALTY: f64 = 20.0;
const REPEATS: usize = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let engine = match CudaEngine::new() {
        Ok(engine) => engine,
        Err(error) => {
            println!("{error}");
            return Ok(());
        }
    };
    println!("{}", engine.facts());
    let what = arguments.first().map_or("all", String::as_str);
    let sides: Vec<usize> = arguments.iter().skip(1).filter_map(|a| a.parse().ok()).collect();
    if matches!(what, "all" | "pursuit") {
        for side in if sides.is_empty() { vec![512, 2048, 8192] } else { sides.clone() } {
            pursue(&engine, side)?;
        }
        if what == "all" {
            pursue_fruit(&engine)?;
        }
    }
    match (what, &sides[..]) {
        ("bands", &[side, mebibytes]) => bands::bands(&engine, side, mebibytes as u64)?,
        ("idle", _) => [512, 2048].into_iter().try_for_each(|side| idle::idle(&engine, side))?,
        _ => {}
    }
    if matches!(what, "all" | "learn") {
        learn(&engine)?;
    }
    if matches!(what, "all" | "inpaint") {
        inpaint(&engine)?;
    }
    Ok(())
}

fn dictionary() -> Dictionary<f32> {
    fruit::data_folder()
        .map_or_else(Dictionary::natural, |data| fruit::initial_dictionary(&data).cast())
}

/// A square image: Barbara, mirrored repeatedly, or a synthetic one.
fn image(side: usize) -> Result<Signal<f64>> {
    let Some(data) = fruit::data_folder() else {
        return Ok(synthetic::grey_still_life(side)?.cast());
    };
    let tile = fruit::image(&data.join("standard/barbara.png"));
    let size = tile.extent().axes()[0];
    let fold = |i: usize| if (i / size).is_multiple_of(2) { i % size } else { size - 1 - i % size };
    let samples = (0..side * side).map(|i| tile.data()[fold(i / side) * size + fold(i % side)]);
    Signal::from_planar(Extent::new(&[side, side])?, 1, samples.collect())
}

fn pursue(engine: &CudaEngine, side: usize) -> Result<()> {
    let signal: Signal<f32> = fruit::less_mean(image(side)?)?.cast();
    for border in [Border::Zero, Border::Free] {
        if border == Border::Zero && side > 2048 {
            continue;
        }
        pursue_signals(
            engine,
            &format!("{side}x{side}, {border} border"),
            &[signal.clone().into()],
            border,
        )?;
    }
    if side <= 2048 {
        export(&format!("image_{side}"), &[side, side], signal.data());
    }
    Ok(())
}

fn pursue_fruit(engine: &CudaEngine) -> Result<()> {
    let Some(data) = fruit::data_folder() else { return Ok(()) };
    let signals: Vec<Observed<f32>> =
        fruit::images(&data).iter().map(|s| s.cast().into()).collect();
    pursue_signals(engine, "ten Fruit images, zero border", &signals, Border::Zero)
}

fn pursue_signals(
    engine: &CudaEngine,
    name: &str,
    signals: &[Observed<f32>],
    border: Border,
) -> Result<()> {
    let dictionary = dictionary();
    export("dictionary", &[dictionary.len(), 8, 8], dictionary.data());
    let params = PursuitParams::new(Penalty::Absolute(PENALTY)).with(|p| p.border = border);
    let large = signals.iter().map(|s| s.signal.extent().volume()).sum::<usize>() > 1 << 24;
    let tight = params.clone().with(|p| p.tolerance = if large { 1e-4 } else { 1e-5 }).check()?;
    let optimum = tight.run(engine, signals, &dictionary, &mut ())?.report;
    let objective = optimum.total.objective;
    println!(
        "{name}: objective {objective:.6e} at a gap of {:.1e}, {} codes",
        optimum.total.relative_gap(),
        optimum.total.nonzeros
    );
    let pursuit = params.with(|p| p.tolerance = 2e-4).check()?;
    let mut runs: Vec<(f64, Report, Vec<timed::Call>)> = Vec::new();
    for _ in 0..if large { 3 } else { REPEATS } {
        let log = Log::default();
        let report =
            pursuit.run(&Timed { engine, log: log.clone() }, signals, &dictionary, &mut ())?.report;
        let calls = log.borrow().clone();
        runs.push((until(&report, objective, 1e-3), report, calls));
    }
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (to_per_mille, report, calls) = &runs[runs.len() / 2];
    let open = calls[0].seconds;
    println!(
        "  {:.2} ms to 0.1 %, {:.2} ms to 0.01 % (of it {:.2} ms to bring the signal to the \
         device), {:.2} ms to a gap of {:.1e}; {}",
        1e3 * to_per_mille,
        1e3 * until(report, objective, 1e-4),
        1e3 * open,
        1e3 * report.seconds,
        report.total.relative_gap(),
        lobcod::memory::words(report.working_memory_bytes)
    );
    println!(
        "  fastest {:.2} ms, slowest {:.2} ms to 0.1 %; {} discovery, {} support sweeps",
        1e3 * runs[0].0,
        1e3 * runs[runs.len() - 1].0,
        report.discovery_sweeps,
        report.support_sweeps
    );
    timed::print(calls, report.seconds);
    let (n, m) = (dictionary.atom_len() as f64, dictionary.len() as f64);
    for name in ["discover", "certificate"] {
        let of: Vec<_> = calls.iter().filter(|c| c.name == name).collect();
        let positions: usize = signals
            .iter()
            .map(|s| s.signal.extent().axes().iter().map(|l| l + 7).product::<usize>())
            .sum();
        let dense = positions * if name == "discover" { of.len() } else { 1 };
        let visited: usize = of.iter().map(|c| c.visited).sum();
        let seconds: f64 = of.iter().map(|c| c.seconds).sum();
        let flops =
            2.0 * n * m * (if name == "discover" { dense + visited } else { visited }) as f64;
        println!(
            "  {name}: {:.2} TFLOP/s of multiply-adds over the whole call",
            1e-12 * flops / seconds
        );
    }
    Ok(())
}

/// Seconds until the objective was within a fraction of the lowest.
fn until(report: &Report, least: f64, fraction: f64) -> f64 {
    let near = report.history.iter().find(|point| point.objective <= (1.0 + fraction) * least);
    near.map_or(f64::INFINITY, |point| point.seconds)
}

fn learn(engine: &CudaEngine) -> Result<()> {
    let Some(data) = fruit::data_folder() else { return Ok(()) };
    let signals: Vec<Observed<f32>> =
        fruit::images(&data).iter().map(|s| s.cast().into()).collect();
    let first = Dictionary::random(Extent::new(&[8, 8])?, 1, 81, 0)?;
    for target in [9.2e6, 9.06e6] {
        let learner = LearnParams::new(Penalty::Absolute(PENALTY))
            .with(|p| {
                p.target_objective = Some(target);
                p.passes = 100;
            })
            .check()?;
        let mut runs = Vec::new();
        for _ in 0..REPEATS {
            let log = Log::default();
            let learnt =
                learner.run(&Timed { engine, log: log.clone() }, &signals, &first, &mut ())?;
            let last = *learnt.report.history.last().expect("at least one pass");
            let calls = log.borrow().clone();
            runs.push((last, calls));
        }
        runs.sort_by(|a, b| a.0.seconds.total_cmp(&b.0.seconds));
        let (last, calls) = &runs[REPEATS / 2];
        println!(
            "Fruit, learning to {target:.3e}: {:.1} ms, {} passes, objective {:.5e}",
            1e3 * last.seconds,
            last.pass,
            last.objective
        );
        timed::print(calls, last.seconds);
    }
    Ok(())
}

fn inpaint(engine: &CudaEngine) -> Result<()> {
    let truth = image(512)?.cast::<f32>();
    let known: Vec<bool> =
        (0..512 * 512).map(|i: usize| i.wrapping_mul(2654435761) >> 7 & 1 == 1).collect();
    let mask = Mask::from_known(truth.extent(), &known)?;
    for learn in [false, true] {
        let params = InpaintParams::default().with(|p| {
            p.penalty = Some(8.0);
            p.learn = learn;
            p.held_out = 0.0;
        });
        let task = params.check()?;
        let mut seconds = Vec::new();
        let mut quality = 0.0;
        let mut calls = Vec::new();
        for _ in 0..3 {
            let log = Log::default();
            let clock = Instant::now();
            let answer = task.run(
                &Timed { engine, log: log.clone() },
                &truth,
                &mask,
                &[dictionary()],
                &mut (),
            )?;
            seconds.push(clock.elapsed().as_secs_f64());
            quality = psnr(&truth, &answer.image);
            calls = log.borrow().clone();
        }
        let last = seconds[2];
        seconds.sort_by(f64::total_cmp);
        let cpu = task.run(&CpuEngine::new(0)?, &truth, &mask, &[dictionary()], &mut ())?;
        println!(
            "inpainting 512x512, learnt atoms {learn}: {:.0} ms, {quality:.3} dB; the processor \
             {:.3} dB, {:.0} ms",
            1e3 * seconds[1],
            psnr(&truth, &cpu.image),
            1e3 * cpu.report.seconds
        );
        timed::print(&calls, last);
    }
    Ok(())
}

fn psnr(truth: &Signal<f32>, other: &Signal<f32>) -> f64 {
    let square = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
    let mean =
        truth.data().iter().zip(other.data()).map(square).sum::<f64>() / truth.data().len() as f64;
    10.0 * (255.0 * 255.0 / mean).log10()
}

/// Writes numbers to a `.npy` file if requested.
fn export(name: &str, shape: &[usize], data: &[f32]) {
    let Some(folder) = std::env::var_os("LOBCOD_EXPORT") else { return };
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape.join(", "));
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data.iter().flat_map(|x| x.to_le_bytes()));
    let file = Path::new(&folder).join(format!("{name}.npy"));
    std::fs::write(&file, bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}
