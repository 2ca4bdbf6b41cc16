//! The Fruit set of the paper at penalty 20: the fast schedule in single precision and the paper's
//! in double precision reach the known optimum. Runs if the data is available (`LOBCOD_DATA`, or
//! `shared/data` next to the workspace).

use lobcod::pursuit::{Local, Schedule};
use lobcod::{Observed, Penalty, PursuitParams, Status};
use lobcod_conformance::cpu;
use lobcod_conformance::fruit;

/// Free border, 81 atoms of `D_initial`, local mean removed.
const OPTIMUM: f64 = 9_138_849.4;

#[test]
fn fast_and_paper_schedules_agree_on_fruit() {
    let Some(data) = fruit::data_folder() else {
        lobcod_conformance::skipped(
            "no Fruit images; set LOBCOD_DATA to the folder that contains them",
        );
        return;
    };
    let dictionary = fruit::initial_dictionary(&data);
    let images = fruit::images(&data);

    let fast = PursuitParams::new(Penalty::Absolute(20.0)).with(|p| p.tolerance = 1e-5);
    let single: Vec<Observed<f32>> = images.iter().map(|image| image.cast().into()).collect();
    let fast = fast
        .check()
        .expect("valid parameters")
        .run(&cpu(0), &single, &dictionary.cast(), &mut ())
        .expect("an answer")
        .report;

    let faithful = PursuitParams::new(Penalty::Absolute(20.0)).with(|p| {
        p.tolerance = 1e-6;
        p.max_sweeps = 100_000;
        p.schedule = Schedule::Layers;
        p.local = Local::Lars;
    });
    let double: Vec<Observed<f64>> = images.into_iter().map(Observed::from).collect();
    let faithful = faithful
        .check()
        .expect("valid parameters")
        .run(&cpu(0), &double, &dictionary, &mut ())
        .expect("an answer")
        .report;

    for report in [&fast, &faithful] {
        let (objective, gap) = (report.total.objective, report.total.relative_gap());
        eprintln!(
            "{}: {objective:.2}, gap {gap:.1e}, {} sweeps, {:.2} s",
            report.precision, report.discovery_sweeps, report.seconds
        );
        assert_eq!(report.status, Status::Converged, "{} at a gap of {gap:e}", report.precision);
        assert!(
            (objective / OPTIMUM - 1.0).abs() <= 2e-5,
            "{}: {objective} instead of {OPTIMUM}",
            report.precision
        );
    }
    let (fast, faithful) = (fast.total.objective, faithful.total.objective);
    assert!(
        (fast / faithful - 1.0).abs() <= 2e-5,
        "{fast} with the fast schedule, {faithful} with the paper's"
    );
}
