//! Numbers at the ends of their range: a correct answer, checked against the dense oracle, or an
//! error that explains why.

use lobcod::pursuit::{Local, Schedule};
use lobcod::{
    Answer, Border, Dictionary, Error, Extent, Observed, Penalty, PursuitParams, Real, Signal,
    Status,
};
use lobcod_conformance::cpu;
use lobcod_conformance::honesty;

fn extent(axes: &[usize]) -> Extent {
    Extent::new(axes).unwrap()
}

/// Stripes with some irregularity, times `scale`.
fn signal<T: Real>(axes: &[usize], scale: f64) -> Signal<T> {
    let wave =
        |i: usize| T::from_f64(scale * ((i as f64 * 0.9).sin() + (i * 7 % 5) as f64 * 0.2 - 0.4));
    Signal::from_planar(extent(axes), 1, (0..extent(axes).volume()).map(wave).collect()).unwrap()
}

fn dictionary<T: Real>(axes: &[usize]) -> Dictionary<T> {
    Dictionary::random(extent(axes), 1, 5, 4).unwrap()
}

/// Runs, and checks the report against the oracle.
fn solve<T: Real>(
    params: &PursuitParams,
    signal: &Signal<T>,
    atoms: &Dictionary<T>,
) -> lobcod::Result<Answer<T>> {
    let observed = Observed::from(signal.clone());
    let answer =
        params.clone().check()?.run(&cpu(0), std::slice::from_ref(&observed), atoms, &mut ())?;
    honesty::check(params, &observed, atoms, &answer);
    Ok(answer)
}

fn penalties<T: Real>() {
    let (image, atoms) = (signal::<T>(&[9, 8], 1.0), dictionary::<T>(&[3, 3]));
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        for local in [Local::Coordinate, Local::Lars] {
            for power in -12..=12 {
                let relative = f64::powi(10.0, power);
                let params = PursuitParams::new(Penalty::Relative(relative)).with(|p| {
                    p.schedule = schedule;
                    p.local = local;
                    p.max_sweeps = 100;
                });
                let answer = solve(&params, &image, &atoms).unwrap();
                let report = answer.report;
                if relative >= 1.0 {
                    assert_eq!(
                        (report.total.nonzeros, report.total.gap, report.status),
                        (0, 0.0, Status::Converged),
                        "{relative:e}"
                    );
                } else {
                    assert!(report.total.nonzeros > 0, "{relative:e}");
                }
                // The gap must be reached if the precision allows it.
                if (0.1..1.0).contains(&relative) && schedule == Schedule::Tiles {
                    assert_eq!(report.status, Status::Converged, "{relative:e} in {}", T::NAME);
                }
            }
        }
    }
}

#[test]
fn penalties_from_1e_minus_12_to_1e12() {
    penalties::<f32>();
    penalties::<f64>();
}

fn scales<T: Real>(powers: &[i32]) {
    let atoms = dictionary::<T>(&[3, 3]);
    for border in [Border::Free, Border::Zero, Border::Periodic] {
        for relative in [0.3, 0.01] {
            let params =
                PursuitParams::new(Penalty::Relative(relative)).with(|p| p.border = border);
            let plain = solve(&params, &signal::<T>(&[9, 8], 1.0), &atoms).unwrap().report.total;
            for &power in powers {
                let scale = f64::powi(10.0, power);
                match solve(&params, &signal::<T>(&[9, 8], scale), &atoms) {
                    Ok(answer) => {
                        let total = answer.report.total;
                        let ratio = total.objective / scale / scale / plain.objective;
                        assert!(
                            (ratio - 1.0).abs() < 3e-3,
                            "a signal times 1e{power}: the objective is off by {ratio}"
                        );
                        assert_eq!(answer.report.status, Status::Converged, "1e{power}");
                    }
                    Err(Error::Data(reason)) => {
                        assert!(
                            reason.contains("; ") && reason.contains(T::NAME),
                            "1e{power}: {reason}"
                        );
                        assert!(
                            !(-30..=30).contains(&power) || size_of::<T>() == 8,
                            "1e{power} was rejected: {reason}"
                        );
                    }
                    Err(other) => panic!("1e{power}: {other}"),
                }
            }
        }
    }
}

#[test]
fn signals_of_any_scale() {
    scales::<f32>(&[-44, -40, -36, -30, -20, -5, 5, 18, 25, 30, 37, 38]);
    scales::<f64>(&[-300, -150, -30, 30, 100, 150, 300]);
}

#[test]
fn constant_signals_and_single_samples() {
    for axes in [&[1][..], &[2], &[1, 1], &[1, 9], &[9, 1], &[7, 8], &[1, 1, 1], &[3, 1, 4]] {
        for border in [Border::Free, Border::Zero] {
            for value in [1.0f32, -255.0, 1e-20, 1e20, 0.0] {
                let atoms = dictionary::<f32>(&vec![3; axes.len()]);
                let image =
                    Signal::from_planar(extent(axes), 1, vec![value; extent(axes).volume()])
                        .unwrap();
                let params =
                    PursuitParams::new(Penalty::Relative(0.05)).with(|p| p.border = border);
                let answer = solve(&params, &image, &atoms).unwrap();
                assert_eq!(answer.report.status, Status::Converged, "{axes:?} of {value}");
                assert_eq!(answer.needles[0].nonzeros() == 0, value == 0.0, "{axes:?} of {value}");
            }
        }
    }
}

#[test]
fn rows_of_65535_samples() {
    for axes in [&[65_535][..], &[1, 65_535], &[65_535, 1]] {
        let (image, atoms) = (signal::<f32>(axes, 100.0), dictionary::<f32>(&vec![3; axes.len()]));
        let params = PursuitParams::new(Penalty::Relative(0.1));
        let answer =
            params.check().unwrap().run(&cpu(0), &[image.clone().into()], &atoms, &mut ()).unwrap();
        let total = answer.report.total;
        // The oracle is too expensive here: the objective is recomputed from the needles, the
        // reported gap is trusted.
        let rest = image.minus(&answer.needles[0].synthesise(&atoms).unwrap()).unwrap();
        let data: f64 = rest.data().iter().map(|x| 0.5 * f64::from(*x) * f64::from(*x)).sum();
        let l1: f64 = answer.needles[0].codes().iter().map(|c| f64::from(c.value.abs())).sum();
        let objective = data + answer.report.penalty * l1;
        assert!(
            (total.objective / objective - 1.0).abs() < 1e-5,
            "{axes:?}: {} and {objective}",
            total.objective
        );
        assert_eq!(answer.report.status, Status::Converged, "{axes:?}");
    }
}

#[test]
fn weights_and_penalties_below_the_precision_are_refused() {
    let (image, atoms) = (signal::<f32>(&[9, 8], 1.0), dictionary::<f32>(&[3, 3]));
    let refused = PursuitParams::new(Penalty::Absolute(1e-37)).check().unwrap().run(
        &cpu(0),
        &[image.clone().into()],
        &atoms,
        &mut (),
    );
    assert!(
        matches!(&refused, Err(Error::Data(reason)) if reason.contains("double precision")),
        "{refused:?}"
    );
    let weights = Signal::from_planar(extent(&[9, 8]), 1, vec![1e-20f32; 72]).unwrap();
    assert!(matches!(lobcod::Mask::new(weights), Err(Error::Parameter { .. })));
}

/// Cancelling codes leave a residual that single precision rounds to zero (found by fuzzing).
#[test]
fn codes_beyond_the_precision_are_refused() {
    // Only the last sample of the atom reaches the signal, which needs a code of 7e51.
    let signal = Signal::from_planar(extent(&[1]), 1, vec![-7.2e37f32]).unwrap();
    let atoms = Dictionary::new(extent(&[2]), 1, vec![1.0, -1e-14]).unwrap();
    for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
        for local in [Local::Coordinate, Local::Lars] {
            let usual = PursuitParams::new(Penalty::Relative(1e-3));
            let params = usual.with(|p| {
                p.schedule = schedule;
                p.local = local;
                p.nonnegative = true;
                p.max_sweeps = 30;
            });
            match solve(&params, &signal, &atoms) {
                Err(Error::Data(reason)) => assert!(reason.contains("too large"), "{reason}"),
                Err(other) => panic!("{other}"),
                Ok(answer) => assert_ne!(answer.report.status, Status::Converged),
            }
        }
    }
}

#[test]
fn codes_far_larger_than_the_signal_round_it_away() {
    let image =
        Signal::from_planar(extent(&[1, 1]), 2, vec![7.426025e30f32, -7.9934085e30]).unwrap();
    let atoms: Vec<f32> = vec![
        0.010091731,
        0.010091731,
        0.010091731,
        0.009981697,
        0.5150713,
        0.5150713,
        0.5150713,
        0.4506854,
        0.024128985,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.70710677,
        0.70710677,
        0.38363025,
        0.38111305,
        0.38363025,
        0.38363025,
        0.38363025,
        -0.38065645,
        -0.3088641,
        -0.089201905,
        0.13345747,
    ];
    let atoms = Dictionary::new(extent(&[3, 3]), 1, atoms).unwrap();
    let params = PursuitParams::new(Penalty::Absolute(1.411865234375)).with(|p| {
        p.tolerance = 1e-6;
        p.max_sweeps = 30;
        p.local = Local::Lars;
        p.tile = Some(usize::MAX);
    });
    let observed = image.into();
    let answer = params
        .clone()
        .check()
        .unwrap()
        .run(&cpu(1), std::slice::from_ref(&observed), &atoms, &mut ())
        .unwrap();
    assert!(
        answer.needles[0].codes().iter().any(|c| c.value.abs() > 1e33),
        "a problem of another kind"
    );
    honesty::check(&params, &observed, &atoms, &answer);
}

#[test]
fn a_data_term_below_rounding_is_not_believed() {
    let image = Signal::from_planar(extent(&[1, 1]), 1, vec![-5.311035f32]).unwrap();
    let atoms: Vec<f32> = vec![
        -0.45750794,
        0.3801492,
        0.03768899,
        -0.30016136,
        0.54210556,
        0.094195455,
        0.42282614,
        0.07933955,
        -0.2585108,
        0.5316827,
        0.21728867,
        -0.09710542,
        -0.40726748,
        0.36174,
        0.04311388,
        -0.26281613,
        0.5061914,
        0.19179726,
        -0.1290766,
        -0.45563203,
        0.35402074,
        0.02300961,
        -0.30354583,
        -0.5531009,
        -0.22654544,
        0.10418723,
        0.43547687,
    ];
    let atoms = Dictionary::new(extent(&[3, 3]), 1, atoms).unwrap();
    let params = PursuitParams::new(Penalty::Relative(1e-11)).with(|p| {
        p.local = Local::Lars;
        p.max_sweeps = 30;
        p.tolerance = 0.0;
    });
    let answer = solve(&params, &image, &atoms).unwrap();
    assert_ne!(answer.report.status, Status::Converged);
}
