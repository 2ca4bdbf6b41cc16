//! Options of a pursuit have their documented effect.

use lobcod::pursuit::{Local, Schedule, Start};
use lobcod::{Border, Needles, Observed, PursuitParams, Signal};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{self, Extra, Observation, SHAPES};
use lobcod_conformance::suite::tight;
use lobcod_conformance::{Oracle, Problem};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

const SCHEDULES: [Schedule; 3] = [Schedule::Tiles, Schedule::Layers, Schedule::Needles];
const LOCALS: [Local; 2] = [Local::Coordinate, Local::Lars];

fn problem(shape: usize, border: Border, observation: Observation, extra: Extra) -> Problem {
    Problem::new(21, SHAPES[shape], border, observation, extra).expect("the atom fits")
}

fn solve(
    params: PursuitParams,
    observed: &Observed<f64>,
    problem: &Problem,
) -> lobcod::Answer<f64> {
    let pursuit = params.check().expect("valid parameters");
    pursuit
        .run(&cpu(0), std::slice::from_ref(observed), &problem.dictionary, &mut ())
        .unwrap_or_else(|e| panic!("{e} ({problem})"))
}

/// Non-zeros of every needle that has any.
fn needle_sizes(needles: &Needles<f64>) -> BTreeMap<([i32; 3], u32), usize> {
    let mut sizes = BTreeMap::new();
    for code in needles.codes() {
        *sizes.entry((code.position, code.channel)).or_default() += 1;
    }
    sizes
}

#[test]
fn nonnegative_codes_are_never_negative_from_any_start() {
    for border in Border::ALL {
        let problem = problem(6, border, Observation::Known, Extra::Nonnegative);
        let signal = &problem.observed.signal;
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let optimum = oracle.objective(&oracle.solve());
        let free = solve(
            tight::<f64>(&problem).with(|p| p.nonnegative = false),
            &problem.observed,
            &problem,
        );
        assert!(
            free.needles[0].codes().iter().any(|code| code.value < 0.0),
            "the option should matter ({problem})"
        );
        let negative: Vec<f64> =
            (0..oracle.size()).map(|i| if i % 9 == 0 { -1.0 } else { 0.0 }).collect();
        let negative =
            Needles::new(signal.extent(), signal.channels(), border, oracle.entries(&negative));
        for (schedule, local) in SCHEDULES.into_iter().flat_map(|s| LOCALS.map(|l| (s, l))) {
            for start in [Start::Zero, Start::Spread, Start::Needles(negative.clone())] {
                let observed = Observed { start, ..problem.observed.clone() };
                let answer = solve(
                    tight::<f64>(&problem).with(|p| {
                        p.schedule = schedule;
                        p.local = local;
                    }),
                    &observed,
                    &problem,
                );
                let what = format!("{schedule:?} {local:?} ({problem})");
                assert!(
                    answer.needles[0].codes().iter().all(|code| code.value > 0.0),
                    "a negative code: {what}"
                );
                let objective = answer.report.total.objective;
                assert!(
                    (objective - optimum).abs() <= 1e-9 * optimum,
                    "{objective} instead of {optimum}: {what}"
                );
            }
        }
    }
}

#[test]
fn weights_change_the_answer_as_the_oracle_says() {
    for (extra, border) in [Extra::AtomWeights, Extra::PositionWeights]
        .into_iter()
        .flat_map(|e| Border::ALL.map(|b| (e, b)))
    {
        let problem = problem(7, border, Observation::Full, extra);
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let optimum = oracle.objective(&oracle.solve());
        for (schedule, local) in SCHEDULES.into_iter().flat_map(|s| LOCALS.map(|l| (s, l))) {
            let params = tight::<f64>(&problem).with(|p| {
                p.schedule = schedule;
                p.local = local;
            });
            let objective = solve(params, &problem.observed, &problem).report.total.objective;
            assert!(
                (objective - optimum).abs() <= 1e-9 * optimum,
                "{schedule:?} {local:?}: {objective} for {optimum} ({problem})"
            );
        }
    }
}

#[test]
fn penalty_map_of_the_signal_is_looked_up_at_the_centre_of_each_patch() {
    for (shape, border) in [0, 3, 6, 7, 8, 10, 15]
        .into_iter()
        .flat_map(|shape| [Border::Free, Border::Zero].map(|b| (shape, b)))
    {
        let mut problem = problem(shape, border, Observation::Full, Extra::Plain);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        problem.observed.penalty_map =
            Some(problems::uniform(problem.observed.signal.extent(), 1, 0.3..3.0, &mut rng));
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let optimum = oracle.objective(&oracle.solve());
        let objective =
            solve(tight::<f64>(&problem), &problem.observed, &problem).report.total.objective;
        assert!(
            (objective - optimum).abs() <= 1e-9 * optimum,
            "{objective} instead of {optimum} ({problem})"
        );
    }
}

#[test]
fn every_needle_respects_the_cap_and_the_objective_does_not_increase() {
    for (border, observation) in Border::ALL.into_iter().zip([
        Observation::Full,
        Observation::Known,
        Observation::Fractional,
    ]) {
        let problem = problem(14, border, observation, Extra::Plain);
        let free = solve(tight::<f64>(&problem), &problem.observed, &problem);
        let widest = *needle_sizes(&free.needles[0]).values().max().expect("codes");
        assert!(widest > 1, "a cap of 1 should bind ({problem})");
        for (schedule, local) in SCHEDULES.into_iter().flat_map(|s| LOCALS.map(|l| (s, l))) {
            for cap in [1, 2, widest + 1] {
                let params = tight::<f64>(&problem).with(|p| {
                    p.schedule = schedule;
                    p.local = local;
                    p.max_nonzeros = Some(cap);
                    p.max_sweeps = 300;
                });
                let answer = solve(params, &problem.observed, &problem);
                let what = format!("cap {cap}, {schedule:?} {local:?} ({problem})");
                let most = needle_sizes(&answer.needles[0]).into_values().max().expect("codes");
                assert!(most <= cap, "a needle has {most} non-zeros: {what}");
                let (capped, optimum) =
                    (answer.report.total.objective, free.report.total.objective);
                assert!(
                    capped >= optimum * (1.0 - 1e-9),
                    "better than the optimum without a cap: {what}"
                );
                if schedule != Schedule::Tiles {
                    let rises = |pair: &[lobcod::pursuit::HistoryPoint]| {
                        pair[1].objective > pair[0].objective * (1.0 + 1e-12)
                    };
                    assert!(
                        !answer.report.history.windows(2).any(rises),
                        "the objective increases: {what}"
                    );
                }
                if cap > widest && schedule != Schedule::Tiles {
                    assert!(
                        capped <= optimum * (1.0 + 1e-2),
                        "{capped} although the cap hardly binds, {optimum} without: {what}"
                    );
                }
            }
        }
    }
}

#[test]
fn map_of_caps_is_respected_at_every_position() {
    for (schedule, local) in SCHEDULES.into_iter().flat_map(|s| LOCALS.map(|l| (s, l))) {
        let mut problem = problem(14, Border::Free, Observation::Full, Extra::Plain);
        let positions =
            Needles::<f64>::new(problem.observed.signal.extent(), 1, Border::Free, vec![])
                .position_extent(&problem.dictionary);
        let caps: Vec<f64> = (0..positions.volume()).map(|i| (i % 3) as f64).collect();
        problem.observed.max_nonzeros_map =
            Some(Signal::from_planar(positions, 1, caps.clone()).expect("one cap per position"));
        let params = tight::<f64>(&problem).with(|p| {
            p.schedule = schedule;
            p.local = local;
            p.max_sweeps = 300;
        });
        let answer = solve(params, &problem.observed, &problem);
        let (atom, width) = (problem.dictionary.extent().padded(), positions.padded()[2]);
        let sizes = needle_sizes(&answer.needles[0]);
        assert!(
            sizes.values().any(|&size| size == 2),
            "caps of 2 should be used ({schedule:?} {local:?})"
        );
        for (([_, y, x], _), size) in sizes {
            let at = (y + atom[1] as i32 - 1) as usize * width + (x + atom[2] as i32 - 1) as usize;
            assert!(
                size as f64 <= caps[at],
                "{size} non-zeros at {y}, {x}, where {} are allowed ({schedule:?} {local:?})",
                caps[at]
            );
        }
    }
}

#[test]
fn start_beyond_the_cap_is_cut_to_it() {
    let problem = problem(6, Border::Free, Observation::Full, Extra::Plain);
    let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
    let start = Needles::new(
        problem.observed.signal.extent(),
        1,
        Border::Free,
        oracle.entries(&vec![0.1; oracle.size()]),
    );
    let observed = Observed { start: Start::Needles(start), ..problem.observed.clone() };
    for (schedule, local) in SCHEDULES.into_iter().flat_map(|s| LOCALS.map(|l| (s, l))) {
        let params = tight::<f64>(&problem).with(|p| {
            p.schedule = schedule;
            p.local = local;
            p.max_nonzeros = Some(2);
            p.max_sweeps = 300;
        });
        let sizes = needle_sizes(&solve(params, &observed, &problem).needles[0]);
        assert!(
            sizes.values().all(|&size| size <= 2),
            "a needle beyond the cap ({schedule:?} {local:?})"
        );
    }
}
