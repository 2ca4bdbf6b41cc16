//! How a pursuit ends: each status is said when it is true, and the report holds for the needles that come with it.

use lobcod::{Answer, Border, Control, Observer, Progress, PursuitParams, Schedule, Status};
use lobcod_conformance::problems::{Extra, Observation, SHAPES};
use lobcod_conformance::{Oracle, Problem};
use std::time::Duration;

fn problem() -> Problem {
    Problem::new(5, SHAPES[14], Border::Free, Observation::Full, Extra::Plain).expect("the free border takes any shape")
}

/// Runs the problem with these parameters and checks that what is reported belongs to the needles.
fn run(params: PursuitParams, observer: &mut dyn Observer) -> Answer<f64> {
    let problem = problem();
    let observed = std::slice::from_ref(&problem.observed);
    let answer =
        params.clone().check().expect("valid parameters").run(observed, &problem.dictionary, observer).expect("an answer");
    let oracle = Oracle::new(&params, &problem.observed, &problem.dictionary);
    let codes = oracle.codes(&answer.needles[0]);
    let (total, objective, gap) = (answer.report.total, oracle.objective(&codes), oracle.gap(&codes));
    assert!((total.objective - objective).abs() <= 1e-12 * objective, "objective {} reported, {objective} true", total.objective);
    assert!(gap <= total.gap + 1e-12 * objective, "gap {} reported, {gap} true", total.gap);
    assert!(answer.report.status != Status::Converged || total.relative_gap() <= params.tolerance, "converged too early");
    answer
}

fn params() -> PursuitParams {
    PursuitParams { tolerance: 1e-10, ..problem().params }
}

#[test]
fn converged_is_said_at_the_tolerance() {
    for tolerance in [1e-1, 1e-3, 1e-6, 1e-10] {
        let report = run(PursuitParams { tolerance, ..params() }, &mut ()).report;
        assert_eq!(report.status, Status::Converged, "tolerance {tolerance:e}");
        assert!(report.total.relative_gap() <= tolerance);
    }
}

#[test]
fn sweeps_are_counted_and_obeyed() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        for max_sweeps in [1, 3] {
            let report = run(PursuitParams { schedule, max_sweeps, ..params() }, &mut ()).report;
            assert_eq!((report.status, report.discovery_sweeps), (Status::MaxSweeps, max_sweeps), "{schedule:?}");
        }
    }
}

#[test]
fn time_limit_ends_the_work() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        let time_limit = Some(Duration::ZERO);
        let report = run(PursuitParams { schedule, time_limit, ..params() }, &mut ()).report;
        assert_eq!(report.status, Status::TimeLimit, "{schedule:?}");
    }
}

#[test]
fn observer_sees_every_sweep_and_can_stop() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        let mut calls = 0;
        let mut count = |_: &Progress| {
            calls += 1;
            Control::Continue
        };
        let report = run(PursuitParams { schedule, ..params() }, &mut count).report;
        assert!(calls >= report.discovery_sweeps, "{calls} calls in {} sweeps of {schedule:?}", report.discovery_sweeps);

        let mut calls = 0;
        let mut stop_at_second = |_: &Progress| {
            calls += 1;
            if calls < 2 { Control::Continue } else { Control::Stop }
        };
        let report = run(PursuitParams { schedule, ..params() }, &mut stop_at_second).report;
        assert_eq!((report.status, calls), (Status::Interrupted, 2), "{schedule:?}");
    }
}

#[test]
fn capped_pursuit_stalls_instead_of_claiming_convergence() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        let params = PursuitParams { schedule, max_nonzeros: Some(1), max_sweeps: 5_000, ..params() };
        let report = run(params, &mut ()).report;
        assert_eq!(report.status, Status::Stalled, "{schedule:?}");
        assert!(report.total.relative_gap() > 1e-6, "the cap should bind ({schedule:?})");
    }
}

#[test]
fn tolerance_below_rounding_ends_all_the_same() {
    let report = run(PursuitParams { tolerance: 0.0, max_sweeps: 100_000, ..params() }, &mut ()).report;
    assert!(matches!(report.status, Status::Stalled | Status::Converged), "status {}", report.status);
    assert!(report.total.relative_gap() <= 1e-12, "gap {:e}", report.total.relative_gap());
}
