//! How a pursuit ends: each status is reported only if it is true, and the report matches the
//! needles.

use lobcod::pursuit::Schedule;
use lobcod::{Answer, Border, Control, Observer, Progress, PursuitParams, Status};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{Extra, Observation, SHAPES};
use lobcod_conformance::{Oracle, Problem};
use std::time::Duration;

fn problem() -> Problem {
    Problem::new(5, SHAPES[14], Border::Free, Observation::Full, Extra::Plain)
        .expect("the free border allows any shape")
}

/// Runs the problem with these parameters and checks that the report matches the needles.
fn run(params: PursuitParams, observer: &mut dyn Observer) -> Answer<f64> {
    let problem = problem();
    let observed = std::slice::from_ref(&problem.observed);
    let answer = params
        .clone()
        .check()
        .expect("valid parameters")
        .run(&cpu(0), observed, &problem.dictionary, observer)
        .expect("an answer");
    let oracle = Oracle::new(&params, &problem.observed, &problem.dictionary);
    let codes = oracle.codes(&answer.needles[0]);
    let total = answer.report.total;
    let objective = oracle.objective(&codes);
    let gap = oracle.gap(&codes);
    assert!(
        (total.objective - objective).abs() <= 1e-12 * objective,
        "objective {} reported, {objective} true",
        total.objective
    );
    assert!(gap <= total.gap + 1e-12 * objective, "gap {} reported, {gap} true", total.gap);
    assert!(
        answer.report.status != Status::Converged || total.relative_gap() <= params.tolerance,
        "converged too early"
    );
    answer
}

fn params() -> PursuitParams {
    problem().params.with(|p| p.tolerance = 1e-10)
}

#[test]
fn converged_is_reported_at_the_tolerance() {
    for tolerance in [1e-1, 1e-3, 1e-6, 1e-10] {
        let report = run(params().with(|p| p.tolerance = tolerance), &mut ()).report;
        assert_eq!(report.status, Status::Converged, "tolerance {tolerance:e}");
        assert!(report.total.relative_gap() <= tolerance);
    }
}

#[test]
fn the_sweep_limit_is_respected() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        for max_sweeps in [1, 3] {
            let report = run(
                params().with(|p| {
                    p.schedule = schedule;
                    p.max_sweeps = max_sweeps;
                }),
                &mut (),
            )
            .report;
            assert_eq!(
                (report.status, report.discovery_sweeps),
                (Status::MaxSweeps, max_sweeps),
                "{schedule:?}"
            );
        }
    }
}

#[test]
fn time_limit_ends_the_run() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        let time_limit = Some(Duration::ZERO);
        let report = run(
            params().with(|p| {
                p.schedule = schedule;
                p.time_limit = time_limit;
            }),
            &mut (),
        )
        .report;
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
        let report = run(params().with(|p| p.schedule = schedule), &mut count).report;
        assert!(
            calls >= report.discovery_sweeps,
            "{calls} calls in {} sweeps of {schedule:?}",
            report.discovery_sweeps
        );

        let mut calls = 0;
        let mut stop_at_second = |_: &Progress| {
            calls += 1;
            if calls < 2 { Control::Continue } else { Control::Stop }
        };
        let report = run(params().with(|p| p.schedule = schedule), &mut stop_at_second).report;
        assert_eq!((report.status, calls), (Status::Interrupted, 2), "{schedule:?}");
    }
}

#[test]
fn capped_pursuit_stalls_instead_of_claiming_convergence() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        let params = params().with(|p| {
            p.schedule = schedule;
            p.max_nonzeros = Some(1);
            p.max_sweeps = 5_000;
        });
        let report = run(params, &mut ()).report;
        assert_eq!(report.status, Status::Stalled, "{schedule:?}");
        assert!(report.total.relative_gap() > 1e-6, "the cap should bind ({schedule:?})");
    }
}

#[test]
fn tolerance_below_rounding_still_ends() {
    let report = run(
        params().with(|p| {
            p.tolerance = 0.0;
            p.max_sweeps = 100_000;
        }),
        &mut (),
    )
    .report;
    assert!(
        matches!(report.status, Status::Stalled | Status::Converged),
        "status {}",
        report.status
    );
    assert!(report.total.relative_gap() <= 1e-12, "gap {:e}", report.total.relative_gap());
}
