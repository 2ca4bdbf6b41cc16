//! The suite that every engine must pass, on the device; and what the suite leaves out. Without a device each test says so and ends.

mod common;

use common::{at_once, engine};
use lobcod::engine::{CpuEngine, Discovery, Engine, Measure, Plane, Problem, Session, Support, Visit};
use lobcod::grid::Grouping;
use lobcod::{Answer, Border, Dictionary, Extent, Local, Mask, Observed, Penalty, PursuitParams, Schedule, Signal, Status};
use lobcod_conformance::{problems, suite};
use lobcod_cuda::CudaEngine;

#[test]
fn the_device_agrees_with_the_oracle() {
    let Some(engine) = engine() else { return };
    at_once(&engine, &suite::checks::<f32>(), |engine, check| check(engine));
}

fn waves(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).unwrap();
    let wave = |i: usize| 4.0 * (i as f32 * 0.61).sin() + 2.0 * (i as f32 * 0.113).cos() + (i * 7 % 19) as f32 * 0.2;
    Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect()).unwrap()
}

fn masked(signal: Signal<f32>) -> Observed<f32> {
    let known: Vec<bool> = (0..signal.extent().volume()).map(|i| i * 31 % 7 > 1).collect();
    let mask = Mask::from_known(signal.extent(), &known).unwrap();
    Observed { mask: Some(mask), ..signal.into() }
}

fn both(
    engine: &CudaEngine,
    params: &PursuitParams,
    signals: &[Observed<f32>],
    dictionary: &Dictionary<f32>,
) -> [Answer<f32>; 2] {
    let pursuit = params.clone().check().unwrap();
    let cpu = CpuEngine::new(1).unwrap();
    [pursuit.run_on(engine, signals, dictionary, &mut ()).unwrap(), pursuit.run_on(&cpu, signals, dictionary, &mut ()).unwrap()]
}

#[test]
fn engines_agree_for_every_border_rank_mask_and_schedule() {
    let Some(engine) = engine() else { return };
    let shapes: [(&[usize], &[usize], usize); 5] = [
        (&[2000], &[32], 1),
        (&[83, 97], &[8, 8], 1),
        (&[60, 71], &[8, 8], 3),
        (&[23, 25, 31], &[4, 4, 5], 1),
        (&[300, 40], &[11, 11], 1),
    ];
    let mut cases = Vec::new();
    for shape in shapes {
        for border in Border::ALL {
            for hidden in [false, true] {
                cases.push((shape, border, hidden, Schedule::Tiles));
            }
            if shape.0 == [83, 97] {
                cases.push((shape, border, false, Schedule::Layers));
            }
        }
    }
    at_once(&engine, &cases, |engine, &((axes, atom, channels), border, hidden, schedule)| {
        let dictionary: Dictionary<f32> = Dictionary::random(Extent::new(atom).unwrap(), channels, 81, 3).unwrap();
        let signal = waves(axes, channels);
        let observed = if hidden { masked(signal) } else { signal.into() };
        let tolerance = if schedule == Schedule::Tiles { 1e-5 } else { 1e-3 };
        let params = PursuitParams { border, schedule, tolerance, ..PursuitParams::new(Penalty::Relative(0.1)) };
        let [ours, theirs] = both(engine, &params, &[observed], &dictionary);
        let name = format!("{axes:?} {atom:?} x{channels}, {border}, hidden {hidden}, {schedule:?}");
        assert_eq!(ours.report.status, Status::Converged, "{name}");
        let (a, b) = (ours.report.total.objective, theirs.report.total.objective);
        assert!((a / b - 1.0).abs() <= 2.0 * tolerance, "{name}: {a} on the device, {b} on the processor");
    });
}

#[test]
fn runs_are_the_same_bit_for_bit() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> = Dictionary::random(Extent::new(&[8, 8]).unwrap(), 1, 81, 3).unwrap();
    for border in Border::ALL {
        let signals = [masked(waves(&[150, 170], 1)), waves(&[64, 200], 1).into()];
        let params = PursuitParams { border, tolerance: 1e-5, ..PursuitParams::new(Penalty::Relative(0.05)) };
        let run = || params.clone().check().unwrap().run_on(&engine, &signals, &dictionary, &mut ()).unwrap();
        let (first, second) = (run(), run());
        assert!(first.report.total.nonzeros > 100);
        assert_eq!(first.needles, second.needles, "{border}");
        assert_eq!(first.report.total, second.report.total, "{border}");
    }
}

#[test]
fn caps_are_obeyed() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> = Dictionary::random(Extent::new(&[8, 8]).unwrap(), 1, 81, 3).unwrap();
    for hidden in [false, true] {
        for cap in [1, 2] {
            let signal = waves(&[60, 50], 1);
            let observed = if hidden { masked(signal) } else { signal.into() };
            let params = PursuitParams { max_nonzeros: Some(cap), ..PursuitParams::new(Penalty::Relative(0.02)) };
            let [ours, theirs] = both(&engine, &params, &[observed], &dictionary);
            let codes = ours.needles[0].codes();
            let most = codes.chunk_by(|a, b| a.position == b.position).map(<[_]>::len).max().unwrap_or(0);
            assert!(most > 0 && most <= cap, "{most} non-zeros at a needle, {cap} allowed");
            let (a, b) = (ours.report.total.objective, theirs.report.total.objective);
            assert!((a / b - 1.0).abs() <= 0.02, "hidden {hidden}, cap {cap}: {a} on the device, {b} on the processor");
        }
    }
}

fn learning(engine: &dyn Engine<f32>, border: Border, hidden: bool, axes: &[usize], atom: &[usize]) -> Box<dyn Session<f32>> {
    let plane = |p: usize| {
        let signal = waves(axes, 1);
        let weight = |i: usize| if hidden { [1.0, 0.0, 1.0, 0.5, 1.0][i * 13 % 5] } else { 1.0 };
        let target = signal.data().iter().enumerate().map(|(i, x)| if weight(i) == 0.0 { 0.0 } else { x + p as f32 });
        Plane {
            extent: signal.extent(),
            target: target.collect(),
            weights: hidden.then(|| (0..signal.data().len()).map(weight).collect()),
            position_weights: None,
            position_caps: None,
            held: None,
        }
    };
    let problem = Problem {
        planes: (0..2).map(plane).collect(),
        dictionary: Dictionary::random(Extent::new(atom).unwrap(), 1, 7, 5).unwrap(),
        border,
        grouping: Grouping::Tiles(6),
        atom_weights: vec![1.0; 7],
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: true,
    };
    engine.open(problem).unwrap()
}

fn objective(session: &mut dyn Session<f32>) -> f64 {
    session.measure(Measure::Objective).iter().map(|m| 0.5 * m.residual_energy + 1.5 * m.weighted_l1).sum()
}

#[test]
fn a_pass_over_the_atoms_lowers_the_objective() {
    let Some(engine) = engine() else { return };
    for border in Border::ALL {
        for hidden in [false, true] {
            for (axes, atom) in [(&[61][..], &[5][..]), (&[19, 23], &[4, 5]), (&[8, 9, 10], &[2, 3, 3])] {
                let name = format!("{axes:?} {atom:?}, {border}, hidden {hidden}");
                let mut session = learning(&engine, border, hidden, axes, atom);
                let mut first = None;
                for _ in 0..4 {
                    session.discover(&Discovery { penalty: 1.5, visit: Visit::All, local_tolerance: 1e-6, layer_seed: None });
                    session.support(&Support { penalty: 1.5, sweeps: 1, rounds: 3, tolerance: 0.0 });
                    for _ in 0..3 {
                        let before = objective(&mut *session);
                        assert!(session.improve_atoms() > 0.0, "{name}: no atom moved");
                        let after = objective(&mut *session);
                        assert!(after <= before * (1.0 + 2e-6), "{name}: a pass over the atoms raised {before} to {after}");
                        session.refresh();
                        let anew = objective(&mut *session);
                        assert!(
                            (anew - after).abs() <= 4e-6 * anew,
                            "{name}: the residual has {after}, codes and atoms make {anew}"
                        );
                        first.get_or_insert(before);
                    }
                }
                let last = objective(&mut *session);
                assert!(last < 0.9 * first.unwrap(), "{name}: learning gained next to nothing, {first:?} to {last}");
            }
        }
    }
}

#[test]
fn a_pass_over_the_atoms_is_that_of_the_processor() {
    let Some(engine) = engine() else { return };
    let cpu = CpuEngine::new(1).unwrap();
    let mut processor = learning(&cpu, Border::Free, true, &[40, 33], &[5, 4]);
    processor.discover(&Discovery { penalty: 1.5, visit: Visit::All, local_tolerance: 1e-4, layer_seed: None });
    processor.refresh();
    let mut device = learning(&engine, Border::Free, true, &[40, 33], &[5, 4]);
    device.restore(&processor.fetch());
    device.refresh();
    processor.improve_atoms();
    device.improve_atoms();
    let far =
        processor.dictionary().data().iter().zip(device.dictionary().data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far < 1e-5, "atoms differ by {far}");
}

#[test]
fn states_go_there_and_back() {
    let Some(engine) = engine() else { return };
    for border in Border::ALL {
        let mut session = learning(&engine, border, false, &[50, 41], &[5, 4]);
        session.discover(&Discovery { penalty: 1.0, visit: Visit::All, local_tolerance: 1e-3, layer_seed: None });
        session.refresh();
        let (state, sums) = (session.fetch(), session.measure(Measure::Largest));
        let mut other = learning(&engine, border, false, &[50, 41], &[5, 4]);
        other.restore(&state);
        other.refresh();
        assert_eq!(state, other.fetch(), "{border}");
        assert_eq!(sums, other.measure(Measure::Largest), "{border}");
    }
}

#[test]
fn learning_reaches_the_objective_of_the_processor() {
    let Some(engine) = engine() else { return };
    let first: Dictionary<f32> = Dictionary::random(Extent::new(&[6, 6]).unwrap(), 1, 20, 1).unwrap();
    let signals = [waves(&[64, 64], 1).into(), masked(waves(&[50, 70], 1))];
    for method in [lobcod::Method::Atomwise, lobcod::Method::Batch] {
        let params = lobcod::LearnParams { passes: 6, method, ..lobcod::LearnParams::new(Penalty::Absolute(2.0)) };
        let learner = params.check().unwrap();
        let ours = learner.run_on(&engine, &signals, &first, &mut ()).unwrap().report.pursuit.total.objective;
        let theirs = learner.run(&signals, &first, &mut ()).unwrap().report.pursuit.total.objective;
        assert!((ours / theirs - 1.0).abs() < 0.05, "{method:?}: {ours} on the device, {theirs} on the processor");
    }
}

#[test]
fn double_precision_and_lars_are_refused_with_the_cure() {
    let Some(engine) = engine() else { return };
    let problem = &problems::some(200)[0];
    let pursuit = problem.params.clone().check().unwrap();
    let error = pursuit.run_on::<f64>(&engine, &[problem.observed()], &problem.dictionary, &mut ()).unwrap_err();
    assert!(error.to_string().contains("f32"), "{error}");
    let lars = PursuitParams { local: Local::Lars, ..problem.params.clone() }.check().unwrap();
    let error = lars.run_on::<f32>(&engine, &[problem.observed()], &problem.dictionary.cast(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("coordinate"), "{error}");
}

#[test]
fn signals_of_any_scale_have_the_same_answer() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 20, 3).unwrap();
    for cap in [None, Some(2)] {
        let params = PursuitParams { max_nonzeros: cap, ..PursuitParams::new(Penalty::Relative(0.05)) };
        let solve = |scale: f64| {
            let mut signal = waves(&[30, 41], 1);
            signal.data_mut().iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
            let report = params.clone().check().unwrap().run_on(&engine, &[signal.into()], &dictionary, &mut ()).unwrap().report;
            report.total.objective / scale / scale
        };
        let plain = solve(1.0);
        for power in [-30, -20, -10, 10, 25] {
            let ratio = solve(f64::powi(10.0, power)) / plain;
            assert!((ratio - 1.0).abs() < 3e-3, "a signal times 1e{power}, cap {cap:?}: the objective is off by {ratio}");
        }
    }
}
