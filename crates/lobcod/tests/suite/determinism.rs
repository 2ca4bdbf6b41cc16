//! What an answer may depend on: threads and runs do not change a bit, vector instructions and
//! tiles only rounding.

use lobcod::learn::Method;
use lobcod::pursuit::Schedule;
use lobcod::{
    Dictionary, Extent, LearnParams, Mask, Needles, Observed, Penalty, PursuitParams, Real, Signal,
    Status,
};
use lobcod_conformance::cpu;

fn image<T: Real>() -> Observed<T> {
    let extent = Extent::new(&[70, 83]).unwrap();
    let wave = |i: usize| {
        T::from_f64(
            ((i % 83) as f64 * 0.7).sin() * 40.0
                + ((i / 83) as f64 * 0.3).cos() * 30.0
                + (i * 13 % 17) as f64,
        )
    };
    let known: Vec<bool> = (0..extent.volume()).map(|i| i % 11 != 3).collect();
    let signal = Signal::from_planar(extent, 1, (0..extent.volume()).map(wave).collect()).unwrap();
    Observed { mask: Some(Mask::from_known(extent, &known).unwrap()), ..signal.into() }
}

fn atoms<T: Real>() -> Dictionary<T> {
    Dictionary::random(Extent::new(&[5, 4]).unwrap(), 1, 24, 1).unwrap()
}

fn codes<T: Real>(threads: usize, change: impl FnOnce(&mut PursuitParams)) -> (Needles<T>, f64) {
    let mut params = PursuitParams::new(Penalty::Relative(0.15));
    change(&mut params);
    let mut answer = params
        .clone()
        .check()
        .unwrap()
        .run(&cpu(threads), &[image::<T>()], &atoms::<T>(), &mut ())
        .unwrap();
    assert!(params.max_sweeps < 1000 || answer.report.status == Status::Converged, "{params:?}");
    (answer.needles.remove(0), answer.report.total.objective)
}

/// The bits of all codes.
fn bits<T: Real>(needles: &Needles<T>) -> Vec<([i32; 3], u32, u64)> {
    needles.codes().iter().map(|c| (c.position, c.atom, c.value.to_f64().to_bits())).collect()
}

fn same_bits<T: Real>() {
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        let (one, objective) = codes::<T>(1, |p| (p.schedule, p.max_sweeps) = (schedule, 12));
        for threads in [1, 2, 3, 8] {
            let (other, found) =
                codes::<T>(threads, |p| (p.schedule, p.max_sweeps) = (schedule, 12));
            assert_eq!(bits(&other), bits(&one), "{schedule:?} on {threads} threads");
            assert_eq!(found.to_bits(), objective.to_bits(), "{schedule:?} on {threads} threads");
        }
    }
}

#[test]
fn threads_and_runs_change_no_bit_of_a_pursuit() {
    same_bits::<f32>();
    same_bits::<f64>();
}

#[test]
fn threads_and_runs_change_no_bit_of_learning() {
    for method in [Method::Atomwise, Method::STOCHASTIC, Method::Batch] {
        let learn = |threads| {
            let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
                p.method = method;
                p.passes = 3;
            });
            let learnt = params
                .check()
                .unwrap()
                .run(&cpu(threads), &[image::<f32>(), image()], &atoms(), &mut ())
                .unwrap();
            let atoms: Vec<u32> = learnt.dictionary.data().iter().map(|x| x.to_bits()).collect();
            (atoms, learnt.report.history.last().map(|h| h.objective.to_bits()))
        };
        let one = learn(1);
        for threads in [1, 2, 5] {
            assert_eq!(learn(threads), one, "{method:?} on {threads} threads");
        }
    }
}

#[test]
fn tiles_schedules_and_precision_change_the_answer_within_its_gap() {
    let (_, reference) = codes::<f64>(1, |p| p.tolerance = 1e-6);
    let within = |(_, objective): (Needles<f64>, f64), what: &str| {
        assert!(
            objective >= reference * (1.0 - 2e-6) && objective <= reference * (1.0 + 1.1e-3),
            "{what}: {objective} for {reference}"
        );
    };
    for tile in [1, 7, 16, 33, 1000] {
        within(codes::<f64>(1, |p| p.tile = Some(tile)), &format!("tiles of {tile}"));
    }
    for schedule in [Schedule::Layers, Schedule::Needles] {
        within(codes::<f64>(1, |p| p.schedule = schedule), &format!("{schedule:?}"));
    }
    let (_, single) = codes::<f32>(1, |_| {});
    assert!(
        (single / reference - 1.0).abs() < 1.1e-3,
        "single precision: {single} for {reference}"
    );
}
