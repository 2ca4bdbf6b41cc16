//! The Fruit set of the paper at penalty 20: the fast way in single precision and the paper's way in double precision agree on the
//! known optimum. Runs where the data is at hand (`LOBCOD_DATA`, or `shared/data` beside the workspace).

use lobcod::{Local, Observed, Penalty, PursuitParams, Schedule, Status};
use lobcod_conformance::fruit;

/// Free border, 81 atoms of `D_initial`, local mean removed.
const OPTIMUM: f64 = 9_138_849.4;

#[test]
fn fast_and_faithful_pursuits_agree_on_fruit() {
    let Some(data) = fruit::data_folder() else {
        lobcod_conformance::skipped("no Fruit pictures; set LOBCOD_DATA to the folder that holds them");
        return;
    };
    let dictionary = fruit::initial_dictionary(&data);
    let pictures = fruit::pictures(&data);

    let fast = PursuitParams { tolerance: 1e-5, ..PursuitParams::new(Penalty::Absolute(20.0)) };
    let single: Vec<Observed<f32>> = pictures.iter().map(|picture| picture.cast().into()).collect();
    let fast = fast.check().expect("valid parameters").run(&single, &dictionary.cast(), &mut ()).expect("an answer").report;

    let faithful = PursuitParams {
        tolerance: 1e-6,
        max_sweeps: 100_000,
        schedule: Schedule::Layers,
        local: Local::Lars,
        ..PursuitParams::new(Penalty::Absolute(20.0))
    };
    let double: Vec<Observed<f64>> = pictures.into_iter().map(Observed::from).collect();
    let faithful = faithful.check().expect("valid parameters").run(&double, &dictionary, &mut ()).expect("an answer").report;

    for report in [&fast, &faithful] {
        let (objective, gap) = (report.total.objective, report.total.relative_gap());
        eprintln!(
            "{}: {objective:.2}, gap {gap:.1e}, {} sweeps, {:.2} s",
            report.precision, report.discovery_sweeps, report.seconds
        );
        assert_eq!(report.status, Status::Converged, "{} at a gap of {gap:e}", report.precision);
        assert!((objective / OPTIMUM - 1.0).abs() <= 2e-5, "{}: {objective} instead of {OPTIMUM}", report.precision);
    }
    let (fast, faithful) = (fast.total.objective, faithful.total.objective);
    assert!((fast / faithful - 1.0).abs() <= 2e-5, "{fast} the fast way, {faithful} the paper's way");
}
