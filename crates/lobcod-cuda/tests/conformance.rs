//! The conformance suite on the device, and additional tests. Each test is skipped without a
//! device.

mod common;

use common::{at_once, engine};
use lobcod::dictionary::Constraints;
use lobcod::engine::{
    Context, CpuEngine, Discovery, Engine, Measure, Plane, Problem, Session, Share, Support, Visit,
};
use lobcod::grid::Grouping;
use lobcod::pursuit::{Local, Schedule};
use lobcod::{
    Answer, Border, Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Signal, Status,
};
use lobcod_conformance::cpu;
use lobcod_conformance::{problems, suite};
use lobcod_cuda::CudaEngine;

#[test]
fn the_device_agrees_with_the_oracle() {
    let Some(engine) = engine() else { return };
    at_once(&engine, &suite::checks::<f32>(), |engine, check| check(engine));
    suite::check_models::<f32>(&engine);
}

fn waves(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).unwrap();
    let wave = |i: usize| {
        4.0 * (i as f32 * 0.61).sin() + 2.0 * (i as f32 * 0.113).cos() + (i * 7 % 19) as f32 * 0.2
    };
    Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect())
        .unwrap()
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
    [
        pursuit.run(engine, signals, dictionary, &mut ()).unwrap(),
        pursuit.run(&cpu, signals, dictionary, &mut ()).unwrap(),
    ]
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
        let dictionary: Dictionary<f32> =
            Dictionary::random(Extent::new(atom).unwrap(), channels, 81, 3).unwrap();
        let signal = waves(axes, channels);
        let observed = if hidden { masked(signal) } else { signal.into() };
        let tolerance = if schedule == Schedule::Tiles { 1e-5 } else { 1e-3 };
        let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| {
            p.border = border;
            p.schedule = schedule;
            p.tolerance = tolerance;
        });
        let [ours, theirs] = both(engine, &params, &[observed], &dictionary);
        let name =
            format!("{axes:?} {atom:?} x{channels}, {border}, hidden {hidden}, {schedule:?}");
        assert_eq!(ours.report.status, Status::Converged, "{name}");
        let (a, b) = (ours.report.total.objective, theirs.report.total.objective);
        assert!(
            (a / b - 1.0).abs() <= 2.0 * tolerance,
            "{name}: {a} on the device, {b} on the CPU"
        );
    });
}

#[test]
fn runs_are_the_same_bit_for_bit() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> =
        Dictionary::random(Extent::new(&[8, 8]).unwrap(), 1, 81, 3).unwrap();
    for border in Border::ALL {
        let signals = [masked(waves(&[150, 170], 1)), waves(&[64, 200], 1).into()];
        let params = PursuitParams::new(Penalty::Relative(0.05)).with(|p| {
            p.border = border;
            p.tolerance = 1e-5;
        });
        let run = || {
            params.clone().check().unwrap().run(&engine, &signals, &dictionary, &mut ()).unwrap()
        };
        let (first, second) = (run(), run());
        assert!(first.report.total.nonzeros > 100);
        assert_eq!(first.needles, second.needles, "{border}");
        assert_eq!(first.report.total, second.report.total, "{border}");
    }
}

#[test]
fn caps_are_respected() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> =
        Dictionary::random(Extent::new(&[8, 8]).unwrap(), 1, 81, 3).unwrap();
    for hidden in [false, true] {
        for cap in [1, 2] {
            let signal = waves(&[60, 50], 1);
            let observed = if hidden { masked(signal) } else { signal.into() };
            let params =
                PursuitParams::new(Penalty::Relative(0.02)).with(|p| p.max_nonzeros = Some(cap));
            let [ours, theirs] = both(&engine, &params, &[observed], &dictionary);
            let codes = ours.needles[0].codes();
            let most =
                codes.chunk_by(|a, b| a.position == b.position).map(<[_]>::len).max().unwrap_or(0);
            assert!(most > 0 && most <= cap, "{most} non-zeros at a needle, {cap} allowed");
            let (a, b) = (ours.report.total.objective, theirs.report.total.objective);
            assert!(
                (a / b - 1.0).abs() <= 0.02,
                "hidden {hidden}, cap {cap}: {a} on the device, {b} on the CPU"
            );
        }
    }
}

fn learning(
    engine: &dyn Engine<f32>,
    border: Border,
    hidden: bool,
    axes: &[usize],
    atom: &[usize],
) -> Box<dyn Session<f32>> {
    let plane = |p: usize| {
        let signal = waves(axes, 1);
        let weight = |i: usize| if hidden { [1.0, 0.0, 1.0, 0.5, 1.0][i * 13 % 5] } else { 1.0 };
        let target = signal
            .data()
            .iter()
            .enumerate()
            .map(|(i, x)| if weight(i) == 0.0 { 0.0 } else { x + p as f32 });
        let weights = hidden.then(|| (0..signal.data().len()).map(weight).collect());
        Plane { target: target.collect(), weights, ..Plane::empty(signal.extent()) }
    };
    let problem = Problem {
        planes: (0..2).map(plane).collect(),
        dictionary: Dictionary::random(Extent::new(atom).unwrap(), 1, 7, 5).unwrap(),
        border,
        grouping: Grouping::Tiles(6),
        atom_weights: vec![1.0; 7],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: true,
    };
    engine.open(problem, None).unwrap()
}

fn discover(session: &mut dyn Session<f32>, penalty: f64, local_tolerance: f64) {
    let sweep = Discovery { penalty, visit: Visit::All, local_tolerance, layer_seed: None };
    session.discover(&sweep, &Context::default()).unwrap();
}

fn objective(session: &mut dyn Session<f32>, what: Measure) -> f64 {
    session.measure(what, &Context::default()).unwrap().iter().map(|m| m.objective(1.5)).sum()
}

#[test]
fn a_pass_over_the_atoms_lowers_the_objective() {
    let Some(engine) = engine() else { return };
    for border in Border::ALL {
        for hidden in [false, true] {
            for (axes, atom) in
                [(&[61][..], &[5][..]), (&[19, 23], &[4, 5]), (&[8, 9, 10], &[2, 3, 3])]
            {
                let name = format!("{axes:?} {atom:?}, {border}, hidden {hidden}");
                let mut session = learning(&engine, border, hidden, axes, atom);
                let mut first = None;
                for _ in 0..4 {
                    discover(&mut *session, 1.5, 1e-6);
                    let sweep = Support { penalty: 1.5, sweeps: 1, rounds: 3, tolerance: 0.0 };
                    session.support(&sweep, &Context::default()).unwrap();
                    for _ in 0..3 {
                        let before = objective(&mut *session, Measure::Progress);
                        let moved = session
                            .learning()
                            .improve_atoms(&Constraints::default(), &Context::default())
                            .unwrap();
                        assert!(moved > 0.0, "{name}: no atom moved");
                        let after = objective(&mut *session, Measure::Progress);
                        assert!(
                            after <= before * (1.0 + 2e-6),
                            "{name}: a pass over the atoms raised {before} to {after}"
                        );
                        let synthesised = objective(&mut *session, Measure::Objective);
                        assert!(
                            (synthesised - after).abs() <= 4e-6 * synthesised,
                            "{name}: the residual gives {after}, codes and atoms give \
                             {synthesised}"
                        );
                        first.get_or_insert(before);
                    }
                }
                let last = objective(&mut *session, Measure::Progress);
                assert!(
                    last < 0.9 * first.unwrap(),
                    "{name}: learning hardly improved, {first:?} to {last}"
                );
            }
        }
    }
}

#[test]
fn a_pass_over_the_atoms_agrees_with_the_cpu() {
    let Some(engine) = engine() else { return };
    let cpu = CpuEngine::new(1).unwrap();
    let mut processor = learning(&cpu, Border::Free, true, &[40, 33], &[5, 4]);
    discover(&mut *processor, 1.5, 1e-4);
    objective(&mut *processor, Measure::Objective);
    let mut device = learning(&engine, Border::Free, true, &[40, 33], &[5, 4]);
    device.restore(&processor.state(Share::All).unwrap()).unwrap();
    for session in [&mut processor, &mut device] {
        session.learning().improve_atoms(&Constraints::default(), &Context::default()).unwrap();
    }
    let far = processor
        .dictionary()
        .data()
        .iter()
        .zip(device.dictionary().data())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(far < 1e-5, "atoms differ by {far}");
}

#[test]
fn states_round_trip() {
    let Some(engine) = engine() else { return };
    for border in Border::ALL {
        let mut session = learning(&engine, border, false, &[50, 41], &[5, 4]);
        discover(&mut *session, 1.0, 1e-3);
        let state = session.state(Share::All).unwrap();
        let sums = session.measure(Measure::Largest, &Context::default()).unwrap();
        let mut other = learning(&engine, border, false, &[50, 41], &[5, 4]);
        other.restore(&state).unwrap();
        assert_eq!(state, other.state(Share::All).unwrap(), "{border}");
        assert_eq!(sums, other.measure(Measure::Largest, &Context::default()).unwrap(), "{border}");
        // Saved codes and atoms are restored.
        other.learning().remember().unwrap();
        discover(&mut *other, 0.5, 1e-3);
        other.learning().improve_atoms(&Constraints::default(), &Context::default()).unwrap();
        other.learning().take_back().unwrap();
        assert_eq!(state.codes, other.state(Share::All).unwrap().codes, "{border}");
        assert_eq!(other.dictionary(), session.dictionary(), "{border}");
        assert_eq!(sums, other.measure(Measure::Largest, &Context::default()).unwrap(), "{border}");
    }
}

#[test]
fn learning_reaches_the_objective_of_the_cpu() {
    let Some(engine) = engine() else { return };
    let first: Dictionary<f32> =
        Dictionary::random(Extent::new(&[6, 6]).unwrap(), 1, 20, 1).unwrap();
    let signals = [waves(&[64, 64], 1).into(), masked(waves(&[50, 70], 1))];
    for method in [lobcod::learn::Method::Atomwise, lobcod::learn::Method::Batch] {
        let params = lobcod::LearnParams::new(Penalty::Absolute(2.0)).with(|p| {
            p.passes = 6;
            p.method = method;
        });
        let learner = params.check().unwrap();
        let ours =
            learner.run(&engine, &signals, &first, &mut ()).unwrap().report.pursuit.total.objective;
        let theirs =
            learner.run(&cpu(0), &signals, &first, &mut ()).unwrap().report.pursuit.total.objective;
        assert!(
            (ours / theirs - 1.0).abs() < 0.05,
            "{method:?}: {ours} on the device, {theirs} on the CPU"
        );
    }
}

#[test]
fn double_precision_and_lars_are_rejected_with_advice() {
    let Some(engine) = engine() else { return };
    let problem = &problems::some(200)[0];
    let pursuit = problem.params.clone().check().unwrap();
    let error = pursuit
        .run::<f64>(&engine, &[problem.observed()], &problem.dictionary, &mut ())
        .unwrap_err();
    assert!(error.to_string().contains("f32"), "{error}");
    let lars = problem.params.clone().with(|p| p.local = Local::Lars).check().unwrap();
    let error = lars
        .run::<f32>(&engine, &[problem.observed()], &problem.dictionary.cast(), &mut ())
        .unwrap_err();
    assert!(error.to_string().contains("coordinate"), "{error}");
}

#[test]
fn signals_of_any_scale_have_the_same_answer() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> =
        Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 20, 3).unwrap();
    for cap in [None, Some(2)] {
        let params = PursuitParams::new(Penalty::Relative(0.05)).with(|p| p.max_nonzeros = cap);
        let solve = |scale: f64| {
            let mut signal = waves(&[30, 41], 1);
            signal.data_mut().iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
            let report = params
                .clone()
                .check()
                .unwrap()
                .run(&engine, &[signal.into()], &dictionary, &mut ())
                .unwrap()
                .report;
            report.total.objective / scale / scale
        };
        let plain = solve(1.0);
        for power in [-30, -20, -10, 10, 25] {
            let ratio = solve(f64::powi(10.0, power)) / plain;
            assert!(
                (ratio - 1.0).abs() < 3e-3,
                "a signal times 1e{power}, cap {cap:?}: the objective is off by {ratio}"
            );
        }
    }
}
