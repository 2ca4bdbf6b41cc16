//! A device that fails at any call: the error is one sentence, checkpoints are available, and
//! another engine continues.

use lobcod::learn::Method;
use lobcod::{Dictionary, Error, LearnParams, Penalty, PursuitParams, Status};
use lobcod_conformance::Problem;
use lobcod_conformance::cpu;
use lobcod_conformance::faults::every_fault;
use lobcod_conformance::problems::{Extra, Observation, Shape};

const SHAPE: Shape =
    Shape { signal: &[30, 35], atom: &[4, 4], channels: (1, 1), atoms: 8, tile: 8 };

fn problem() -> Problem {
    Problem::new(5, SHAPE, lobcod::Border::Free, Observation::Known, Extra::Plain)
        .expect("the atom fits")
}

#[test]
fn a_pursuit_survives_a_fault_at_every_call() {
    let problem = problem();
    let (observed, dictionary) = ([problem.observed::<f32>()], problem.dictionary.cast::<f32>());
    let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.tolerance = 1e-3);
    let pursuit = params.check().unwrap();
    let best =
        pursuit.run(&cpu(1), &observed, &dictionary, &mut ()).unwrap().report.total.objective;
    every_fault(
        |engine, kept| pursuit.run(engine, &observed, &dictionary, kept),
        |answer, kept, name| {
            let report = answer.unwrap_or_else(|error| panic!("{name}: {error}")).report;
            assert_eq!(report.status, Status::Converged, "{name}");
            assert!(
                (report.total.objective / best - 1.0).abs() < 2e-3,
                "{name}: {} for {best}",
                report.total.objective
            );
            // Any checkpoint can be resumed.
            if let Some(checkpoint) = kept.pursuit.last() {
                let answer =
                    pursuit.resume(&cpu(1), checkpoint, &observed, &dictionary, &mut ()).unwrap();
                assert!(
                    (answer.report.total.objective / best - 1.0).abs() < 2e-3,
                    "{name}, resumed"
                );
            }
        },
    );
}

#[test]
fn codes_before_a_fault_can_be_saved() {
    use lobcod::engine::CpuEngine;
    use lobcod_conformance::faults::{Faulty, Kept};
    use lobcod_conformance::hooked::Hooked;
    let problem = problem();
    let (observed, dictionary) = ([problem.observed::<f32>()], problem.dictionary.cast::<f32>());
    let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.tolerance = 1e-3);
    let pursuit = params.check().unwrap();
    // In the middle of the run, after the first passes. A fault while taking a checkpoint does not
    // end the run.
    let mut ended = 0;
    for n in 12..20 {
        let (mut kept, hook) = (Kept::default(), Faulty::new(n, false));
        let engine = Hooked { engine: CpuEngine::new(1).unwrap(), hook };
        if let Err(error) = pursuit.run(&engine, &observed, &dictionary, &mut kept) {
            assert!(matches!(error, Error::Device(_)), "{error}");
            let checkpoint = kept.pursuit.last().expect("the codes up to the fault");
            assert!(
                checkpoint.state.codes[0].len() > 20,
                "{} codes",
                checkpoint.state.codes[0].len()
            );
            let resumed =
                pursuit.resume(&cpu(1), checkpoint, &observed, &dictionary, &mut ()).unwrap();
            assert_eq!(resumed.report.status, Status::Converged);
            ended += 1;
        }
    }
    assert!(ended > 3, "{ended} of 8 faults ended the run");
}

#[test]
fn learning_survives_a_fault_at_every_call() {
    let problem = Problem::new(
        6,
        Shape { signal: &[20, 21], ..SHAPE },
        lobcod::Border::Free,
        Observation::Full,
        Extra::Plain,
    );
    let problem = problem.expect("the atom fits");
    let (observed, first) = ([problem.observed::<f32>()], problem.dictionary.cast::<f32>());
    for method in [Method::Atomwise, Method::Batch] {
        let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
            p.method = method;
            p.passes = 3;
        });
        let learner = params.check().unwrap();
        let learn = |first: &Dictionary<f32>| {
            learner.run(&cpu(1), &observed, first, &mut ()).unwrap().report.pursuit.total.objective
        };
        let (best, before) = (learn(&first), learner.params().clone());
        let coded = before
            .pursuit(Penalty::Relative(0.1))
            .check()
            .unwrap()
            .run(&cpu(1), &observed, &first, &mut ())
            .unwrap();
        every_fault(
            |engine, kept| learner.run(engine, &observed, &first, kept),
            |learnt, _, name| {
                let objective =
                    learnt.unwrap_or_else(|e| panic!("{name}: {e}")).report.pursuit.total.objective;
                // Learning reaches at least half of the improvement, wherever the fault occurred.
                let gained = (coded.report.total.objective - objective)
                    / (coded.report.total.objective - best);
                assert!(gained > 0.5, "{name}: {objective}, without a fault {best}");
            },
        );
    }
}
