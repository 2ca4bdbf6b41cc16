//! Answers are bit-identical for any number of threads.

use lobcod::pursuit::{Local, Schedule};
use lobcod::{Border, Dictionary, Observed, PursuitParams, Real};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{Extra, Observation, Problem, Shape};

const SHAPES: [Shape; 4] = [
    Shape { signal: &[37, 41], atom: &[5, 4], channels: (1, 1), atoms: 9, tile: 8 },
    Shape { signal: &[211], atom: &[6], channels: (3, 3), atoms: 7, tile: 9 },
    Shape { signal: &[9, 10, 11], atom: &[3, 2, 3], channels: (1, 1), atoms: 5, tile: 4 },
    Shape { signal: &[23, 18], atom: &[3, 3], channels: (3, 1), atoms: 6, tile: 6 },
];

/// The bits of an answer that must not depend on the threads.
fn bits<T: Real>(
    params: &PursuitParams,
    observed: &[Observed<T>],
    dictionary: &Dictionary<T>,
    threads: usize,
) -> Vec<u64> {
    let params = params.clone();
    let answer = params
        .check()
        .expect("valid parameters")
        .run(&cpu(threads), observed, dictionary, &mut ())
        .expect("an answer");
    assert_eq!(answer.report.threads, threads, "wrong number of threads");
    let total = answer.report.total;
    let mut bits =
        vec![total.objective.to_bits(), total.gap.to_bits(), answer.report.discovery_sweeps as u64];
    for code in answer.needles.iter().flat_map(|needles| needles.codes()) {
        bits.extend(code.position.map(|p| p as u64));
        bits.extend([u64::from(code.atom), u64::from(code.channel), code.value.to_f64().to_bits()]);
    }
    assert!(bits.len() > 100, "an answer without codes proves nothing");
    bits
}

fn threads_change_nothing<T: Real>(schedule: Schedule, local: Local, observations: &[Observation]) {
    for (shape, border) in
        SHAPES.into_iter().flat_map(|shape| Border::ALL.map(|border| (shape, border)))
    {
        for &observation in observations {
            let problem =
                Problem::new(11, shape, border, observation, Extra::Plain).expect("the atom fits");
            let params = problem.params.clone().with(|p| {
                p.schedule = schedule;
                p.local = local;
                p.tolerance = 1e-5;
            });
            let (observed, dictionary) =
                ([problem.observed::<T>()], problem.dictionary.cast::<T>());
            let single = bits(&params, &observed, &dictionary, 1);
            for threads in [2, 3, 8] {
                assert!(
                    single == bits(&params, &observed, &dictionary, threads),
                    "{threads} threads, {schedule:?} ({problem})"
                );
            }
        }
    }
}

#[test]
fn tiles_are_bit_identical_for_any_number_of_threads() {
    let all = [Observation::Full, Observation::Known, Observation::Fractional];
    threads_change_nothing::<f32>(Schedule::Tiles, Local::Coordinate, &all);
    threads_change_nothing::<f64>(Schedule::Tiles, Local::Lars, &all[..2]);
}

#[test]
fn layers_and_needles_are_bit_identical_for_any_number_of_threads() {
    threads_change_nothing::<f32>(Schedule::Layers, Local::Lars, &[Observation::Known]);
    threads_change_nothing::<f64>(Schedule::Needles, Local::Coordinate, &[Observation::Full]);
}

#[test]
fn several_signals_are_bit_identical_for_any_number_of_threads() {
    for border in Border::ALL {
        let problems = [[37, 41], [12, 60], [9, 9], [25, 25]].map(|size| {
            let shape = Shape { signal: Box::leak(Box::new(size)), ..SHAPES[0] };
            Problem::new(3, shape, border, Observation::Fractional, Extra::AtomWeights)
                .expect("the atom fits")
        });
        let observed = problems.each_ref().map(Problem::observed::<f32>);
        let dictionary = problems[0].dictionary.cast::<f32>();
        let single = bits(&problems[0].params, &observed, &dictionary, 1);
        for threads in [2, 3, 8] {
            assert!(
                single == bits(&problems[0].params, &observed, &dictionary, threads),
                "{threads} threads, border {border}"
            );
        }
    }
}
