//! Every schedule, local solver and start reaches the same objective, which never increases.

use lobcod::pursuit::{Local, Schedule, Start};
use lobcod::{Control, Needles, Observed, Penalty, Progress, PursuitParams, Real};
use lobcod_conformance::cpu;
use lobcod_conformance::suite::{Precision, tight};
use lobcod_conformance::{Oracle, Problem, problems};

const SCHEDULES: [Schedule; 3] = [Schedule::Tiles, Schedule::Layers, Schedule::Needles];
const LOCALS: [Local; 2] = [Local::Coordinate, Local::Lars];

fn solve<T: Real>(
    params: PursuitParams,
    observed: Observed<T>,
    problem: &Problem,
) -> lobcod::Report {
    let pursuit = params.check().expect("valid parameters");
    pursuit
        .run(&cpu(0), &[observed], &problem.dictionary.cast(), &mut ())
        .unwrap_or_else(|error| panic!("{error} ({problem})"))
        .report
}

/// Needles unrelated to the answer: every seventh code is 2.
fn strange_start<T: Real>(oracle: &Oracle, problem: &Problem) -> Start<T> {
    let codes: Vec<f64> = (0..oracle.size()).map(|i| if i % 7 == 3 { 2.0 } else { 0.0 }).collect();
    let signal = &problem.observed.signal;
    Start::Needles(Needles::new(
        signal.extent(),
        signal.channels(),
        problem.params.border,
        oracle.entries(&codes),
    ))
}

fn all_ways_lead_to_the_optimum<T: Real>(step: usize) {
    for problem in problems::some(step) {
        let dictionary = problem.dictionary.cast::<T>();
        let oracle = Oracle::new(&problem.params, &problem.observed::<T>(), &dictionary);
        let optimum = oracle.objective(&oracle.solve());
        for (schedule, local) in SCHEDULES.into_iter().flat_map(|s| LOCALS.map(|l| (s, l))) {
            for start in [Start::Zero, Start::Spread, strange_start(&oracle, &problem)] {
                let observed = Observed { start, ..problem.observed::<T>() };
                let params = tight::<T>(&problem).with(|p| {
                    p.schedule = schedule;
                    p.local = local;
                });
                let objective = solve(params, observed, &problem).total.objective;
                let off = (objective - optimum).abs() / optimum;
                assert!(
                    off <= Precision::of::<T>().agreement,
                    "{schedule:?} {local:?}: off by {off:e} ({problem})"
                );
            }
        }
    }
}

#[test]
fn schedules_local_solvers_and_starts_agree_in_double_precision() {
    all_ways_lead_to_the_optimum::<f64>(7);
}

#[test]
fn schedules_local_solvers_and_starts_agree_in_single_precision() {
    all_ways_lead_to_the_optimum::<f32>(11);
}

#[test]
fn layers_reach_the_same_objective_in_any_order() {
    for problem in problems::some(19) {
        let solve = |seed| {
            let params = tight::<f64>(&problem).with(|p| {
                p.schedule = Schedule::Layers;
                p.seed = seed;
            });
            solve(params, problem.observed::<f64>(), &problem).total.objective
        };
        let first = solve(0);
        for seed in 1..4 {
            assert!(
                (solve(seed) - first).abs() <= 1e-9 * first,
                "seed {seed} of the layers ({problem})"
            );
        }
    }
}

/// Checks that measured objectives never increase, except by rounding.
fn assert_never_rises<T: Real>(objectives: &[f64], what: &str) {
    assert!(objectives.len() >= 2, "{what}: the history is too short");
    for pair in objectives.windows(2) {
        assert!(
            pair[1] <= pair[0] * (1.0 + Precision::of::<T>().rounding),
            "{what}: rose from {} to {}",
            pair[0],
            pair[1]
        );
    }
}

fn objective_falls_and_gap_is_positive<T: Real>() {
    for problem in problems::some(9) {
        let oracle =
            Oracle::new(&problem.params, &problem.observed::<T>(), &problem.dictionary.cast());
        for (schedule, local) in
            [Schedule::Layers, Schedule::Needles].into_iter().flat_map(|s| LOCALS.map(|l| (s, l)))
        {
            let observed =
                Observed { start: strange_start(&oracle, &problem), ..problem.observed::<T>() };
            let report = solve(
                tight::<T>(&problem).with(|p| {
                    p.schedule = schedule;
                    p.local = local;
                }),
                observed,
                &problem,
            );
            let objectives: Vec<f64> = report.history.iter().map(|point| point.objective).collect();
            assert_never_rises::<T>(&objectives, &format!("{schedule:?} {local:?} ({problem})"));
            for gap in report.history.iter().filter_map(|point| point.relative_gap) {
                assert!(
                    gap >= -Precision::of::<T>().rounding,
                    "gap {gap:e} with {schedule:?} {local:?} ({problem})"
                );
            }
        }
    }
}

#[test]
fn objective_never_rises_and_gap_is_never_negative_in_double_precision() {
    objective_falls_and_gap_is_positive::<f64>();
}

#[test]
fn objective_never_rises_and_gap_is_never_negative_in_single_precision() {
    objective_falls_and_gap_is_positive::<f32>();
}

#[test]
fn tiles_never_rise_at_the_final_penalty() {
    for problem in problems::some(9) {
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let Penalty::Relative(factor) = problem.params.penalty else {
            unreachable!("problems have relative penalties")
        };
        let penalty = factor * oracle.penalty_max();
        let mut objectives = Vec::new();
        let mut watch = |progress: &Progress| {
            if progress.stage_penalty <= penalty {
                objectives.push(progress.objective);
            }
            Control::Continue
        };
        let params = tight::<f64>(&problem).with(|p| p.penalty = Penalty::Absolute(penalty));
        let pursuit = params.check().expect("valid parameters");
        pursuit
            .run(&cpu(0), std::slice::from_ref(&problem.observed), &problem.dictionary, &mut watch)
            .expect("a pursuit");
        assert_never_rises::<f64>(&objectives, &problem.to_string());
    }
}
