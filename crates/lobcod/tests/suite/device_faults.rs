//! A device that fails at any call: the error is one sentence, the last complete pass can be
//! resumed, and another engine continues to an answer whose report belongs to it.

use lobcod::bands::Strip;
use lobcod::engine::{
    Context, CpuEngine, Discovery, Engine, FallbackEngine, Measure, Measurement, Session, Share,
    Visit,
};
use lobcod::learn::{Decay, Method, Step};
use lobcod::pursuit::Start;
use lobcod::{
    Code, Dictionary, Error, LearnParams, Learnt, Needles, Observed, Penalty, Pursuit,
    PursuitParams, Report, Status,
};
use lobcod_conformance::Problem;
use lobcod_conformance::cpu;
use lobcod_conformance::faults::{Faulty, Kept, every_fault};
use lobcod_conformance::hooked::Hooked;
use lobcod_conformance::problems::{Extra, Observation, Shape};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

const SHAPE: Shape =
    Shape { signal: &[24, 27], atom: &[4, 4], channels: (1, 1), atoms: 8, tile: 8 };

fn problem(seed: u64, signal: &'static [usize], observation: Observation) -> Problem {
    let shape = Shape { signal, ..SHAPE };
    Problem::new(seed, shape, lobcod::Border::Free, observation, Extra::Plain)
        .expect("the atom fits")
}

fn pursuit() -> Pursuit {
    PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.tolerance = 1e-3).check().unwrap()
}

/// The report must belong to the needles: their objective is measured again.
fn assert_belongs(
    report: &Report,
    observed: &Observed<f32>,
    dictionary: &Dictionary<f32>,
    needles: &Needles<f32>,
    name: &str,
) {
    let start = Observed { start: Start::Needles(needles.clone()), ..observed.clone() };
    let (penalty, context) = (report.penalty, Context::default());
    let planes = pursuit().measure_start(&cpu(1), &[start], dictionary, penalty, &context).unwrap();
    let measured = planes.into_iter().sum::<Measurement>();
    let (objective, reported) = (measured.objective(penalty), report.total.objective);
    assert!(
        (objective / reported - 1.0).abs() < 1e-5,
        "{name}: the codes have {objective}, the report {reported}"
    );
    assert_eq!(needles.nonzeros(), report.total.nonzeros, "{name}");
}

#[test]
fn a_pursuit_survives_a_fault_at_every_call() {
    let problem = problem(5, SHAPE.signal, Observation::Known);
    let (observed, dictionary) = (problem.observed::<f32>(), problem.dictionary.cast::<f32>());
    let signals = [observed.clone()];
    let whole = pursuit().run(&cpu(1), &signals, &dictionary, &mut ()).unwrap();
    let best = whole.report.total.objective;
    let resumed = RefCell::new(0);
    every_fault(
        |engine, kept| pursuit().run(engine, &signals, &dictionary, kept),
        |answer, name| {
            let report = &answer.report;
            assert_eq!(report.status, Status::Converged, "{name}");
            let objective = report.total.objective;
            assert!((objective / best - 1.0).abs() < 1e-3, "{name}: {objective} for {best}");
            assert_belongs(report, &observed, &dictionary, &answer.needles[0], name);
        },
        |kept, name| {
            // The last complete pass leads to the answer of a run without faults, bit for bit.
            let Some(checkpoint) = kept.pursuit.last() else { return };
            let answer =
                pursuit().resume(&cpu(1), checkpoint, &signals, &dictionary, &mut ()).unwrap();
            assert_eq!(answer.needles, whole.needles, "{name}");
            *resumed.borrow_mut() += 1;
        },
    );
    assert!(*resumed.borrow() > 10, "{} checkpoints", resumed.borrow());
}

#[test]
fn a_start_with_spread_needles_survives_a_fault_at_every_call() {
    let problem = problem(7, &[18, 19], Observation::Full);
    let observed = Observed { start: Start::Spread, ..problem.observed::<f32>() };
    let dictionary = problem.dictionary.cast::<f32>();
    every_fault(
        |engine, kept| pursuit().run(engine, std::slice::from_ref(&observed), &dictionary, kept),
        |answer, name| {
            assert_eq!(answer.report.status, Status::Converged, "{name}");
            assert_belongs(&answer.report, &observed, &dictionary, &answer.needles[0], name);
        },
        |_, _| (),
    );
}

#[test]
fn bands_survive_a_fault_at_every_call() {
    let problem = problem(8, &[26, 9], Observation::Full);
    let (observed, dictionary) = (problem.observed::<f32>(), problem.dictionary.cast::<f32>());
    let border = pursuit().params().border;
    let run = |engine: &dyn Engine<f32>, kept: &mut Kept| {
        let mut source = Strip { samples: observed.signal.clone(), weights: None };
        let mut store: Vec<Vec<Code<f32>>> = Vec::new();
        let report =
            pursuit().run_in_bands(engine, &mut source, &mut store, &dictionary, 15, kept)?;
        let codes = store.into_iter().flatten().collect();
        Ok((report, Needles::new(observed.extent(), 1, border, codes)))
    };
    let best = run(&cpu(1), &mut Kept::default()).unwrap().0.total.objective;
    every_fault(
        run,
        |(report, needles), name| {
            assert_eq!(report.status, Status::Converged, "{name}");
            let objective = report.total.objective;
            assert!((objective / best - 1.0).abs() < 2e-3, "{name}: {objective} for {best}");
            assert_belongs(&report, &observed, &dictionary, &needles, name);
        },
        |_, _| (),
    );
}

fn assert_learnt(learnt: &Learnt<f32>, observed: &Observed<f32>, passes: usize, name: &str) {
    let report = &learnt.report;
    assert_eq!((report.status, report.history.len()), (Status::Completed, passes), "{name}");
    for (i, point) in report.history.iter().enumerate() {
        assert_eq!(point.pass, i + 1, "{name}");
    }
    assert_belongs(&report.pursuit, observed, &learnt.dictionary, &learnt.needles[0], name);
}

#[test]
fn learning_survives_a_fault_at_every_call() {
    const PASSES: usize = 3;
    let problem = problem(6, &[11, 12], Observation::Full);
    let (observed, first) = (problem.observed::<f32>(), problem.dictionary.cast::<f32>());
    let signals = [observed.clone()];
    let stochastic = Method::Stochastic { step: Step::ADAM, decay: Decay::None };
    for method in [Method::Atomwise, Method::Batch, stochastic] {
        let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
            p.method = method;
            p.passes = PASSES;
        });
        let learner = params.check().unwrap();
        let whole = learner.run(&cpu(1), &signals, &first, &mut ()).unwrap();
        every_fault(
            |engine, kept| learner.run(engine, &signals, &first, kept),
            |learnt, name| {
                let name = &format!("{method:?}: {name}");
                assert_learnt(&learnt, &observed, PASSES, name);
                let falls = |pair: &[lobcod::learn::LearnPoint]| {
                    pair[1].objective <= pair[0].objective * (1.0 + 1e-5)
                };
                let history = &learnt.report.history;
                let rises = matches!(method, Method::Stochastic { .. });
                assert!(rises || history.windows(2).all(falls), "{name}: {history:?}");
                // The same course: the engines differ by rounding only.
                for (point, expected) in history.iter().zip(&whole.report.history) {
                    assert!(
                        (point.objective / expected.objective - 1.0).abs() < 1e-2,
                        "{name}: {} for {} after pass {}",
                        point.objective,
                        expected.objective,
                        point.pass
                    );
                }
            },
            |kept, name| {
                let Some(checkpoint) = kept.learning.last() else { return };
                let learnt =
                    learner.resume(&cpu(1), checkpoint, &signals, &first, &mut ()).unwrap();
                assert_eq!(learnt.dictionary, whole.dictionary, "{method:?}: {name}");
                assert_eq!(learnt.needles, whole.needles, "{method:?}: {name}");
            },
        );
    }
}

#[test]
fn a_stream_survives_a_fault_at_every_call() {
    let problem = problem(9, &[16, 17], Observation::Full);
    let (observed, first) = (problem.observed::<f32>(), problem.dictionary.cast::<f32>());
    let learner = LearnParams::new(Penalty::Relative(0.1)).check().unwrap();
    let learn = |engine: &dyn Engine<f32>, _: &mut Kept| {
        let mut stream = learner.stream(&first)?;
        for _ in 0..2 {
            stream.partial_fit(engine, std::slice::from_ref(&observed), &mut ())?;
        }
        Ok(stream.checkpoint().history)
    };
    let whole = learn(&cpu(1), &mut Kept::default()).unwrap();
    every_fault(
        learn,
        |history, name| {
            assert_eq!(history.len(), 2, "{name}");
            for (point, expected) in history.iter().zip(&whole) {
                let change = point.objective / expected.objective - 1.0;
                assert!(change.abs() < 1e-3, "{name}: {point:?} for {expected:?}");
            }
        },
        |_, _| (),
    );
}

/// Times of lost work.
type Reported = Rc<RefCell<Vec<Duration>>>;

/// A session that falls back at call `n` of the device, and the time of lost work it reported.
fn fallback(n: usize, lost: bool) -> (Box<dyn Session<f32>>, Reported) {
    let reported = Reported::default();
    let notice = Rc::clone(&reported);
    let device = Hooked { engine: CpuEngine::new(1).unwrap(), hook: Faulty::new(n, lost) };
    let engine = FallbackEngine::new(Box::new(device), Box::new(cpu(1)), move |_, lost| {
        notice.borrow_mut().push(lost);
    });
    (engine.open(plain(), None).unwrap(), reported)
}

fn plain() -> lobcod::engine::Problem<f32> {
    let problem = problem(6, &[16, 17], Observation::Full);
    let mut plane = lobcod::engine::Plane::empty(problem.observed.extent());
    plane.target = problem.observed::<f32>().signal.data().to_vec();
    lobcod::engine::Problem {
        planes: vec![plane],
        dictionary: problem.dictionary.cast(),
        border: lobcod::Border::Free,
        grouping: lobcod::grid::Grouping::Tiles(8),
        atom_weights: vec![1.0; SHAPE.atoms],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: lobcod::pursuit::Local::Coordinate,
        cap: None,
        learning: true,
    }
}

fn sweep(penalty: f64) -> Discovery {
    Discovery { penalty, visit: Visit::All, local_tolerance: 0.01, layer_seed: None }
}

/// The remembered codes and dictionary are restored, also by the engine that took over.
#[test]
fn what_was_remembered_survives_a_fault() {
    let context = Context::default();
    for lost in [false, true] {
        // Calls: open, discover, remember, state, set_dictionary, discover, then the fault.
        let (mut session, _) = fallback(6, lost);
        session.discover(&sweep(2.0), &context).unwrap();
        session.learning().remember().unwrap();
        let (dictionary, state) =
            (session.dictionary().clone(), session.state(Share::All).unwrap());
        let other = Dictionary::random(dictionary.extent(), 1, SHAPE.atoms, 1).unwrap();
        session.learning().set_dictionary(other).unwrap();
        session.discover(&sweep(0.5), &context).unwrap();
        let measured = session.measure(Measure::Objective, &context);
        assert_eq!(matches!(measured, Err(Error::DeviceLost(_))), lost);
        session.learning().take_back().unwrap();
        assert_eq!(session.dictionary(), &dictionary);
        assert_eq!(session.state(Share::All).unwrap().codes, state.codes);
    }
}

#[test]
fn a_lost_device_is_reported_with_the_work_that_is_repeated() {
    let context = Context::default();
    // Calls: open, discover, measure.
    let (mut session, reported) = fallback(2, true);
    session.discover(&sweep(1.0), &context).unwrap();
    let error = session.measure(Measure::Objective, &context).unwrap_err();
    assert!(matches!(error, Error::DeviceLost(_)), "{error}");
    assert!(reported.borrow().len() == 1 && reported.borrow()[0] > Duration::ZERO);
    // The session continues from the newest copy: zero codes.
    assert_eq!(session.measure(Measure::Objective, &context).unwrap()[0].nonzeros, 0);
    // With the codes on the host nothing is lost.
    let (mut session, reported) = fallback(3, true);
    session.discover(&sweep(1.0), &context).unwrap();
    let nonzeros = session.state(Share::All).unwrap().codes[0].len();
    assert_eq!(session.measure(Measure::Objective, &context).unwrap()[0].nonzeros, nonzeros);
    assert_eq!(*reported.borrow(), [Duration::ZERO]);
}

/// The engine that may take over needs the samples too.
#[test]
fn the_memory_of_a_fallback_includes_the_copies_on_the_host() {
    let samples = (size_of::<f32>() * plain().planes[0].target.len()) as u64;
    let alone = cpu(1).open(plain(), None).unwrap().memory();
    let (session, _) = fallback(usize::MAX, false);
    assert!(session.memory() >= alone + samples, "{} for {alone}", session.memory());
    let device = Box::new(cpu(1));
    let engine = FallbackEngine::<f32>::new(device, Box::new(cpu(1)), |_, _| ());
    let estimate = |engine: &dyn Engine<f32>| engine.estimate_memory(&plain(), 0.5).unwrap();
    assert!(estimate(&engine) >= estimate(&cpu(1)) + samples);
}
