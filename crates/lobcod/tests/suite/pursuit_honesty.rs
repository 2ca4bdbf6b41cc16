//! Answers that only look converged must not be reported as converged.

use lobcod::pursuit::Start;
use lobcod::{Dictionary, Error, Extent, Observed, Penalty, PursuitParams, Signal, Status};
use lobcod_conformance::cpu;

fn signal() -> Signal<f64> {
    let extent = Extent::new(&[18, 21]).unwrap();
    let wave = |i: usize| {
        2.0 * ((i % 21) as f64 * 0.8).sin() - ((i / 21) as f64 * 0.5).cos()
            + (i * 5 % 13) as f64 * 0.15
    };
    Signal::from_planar(extent, 1, (0..extent.volume()).map(wave).collect()).unwrap()
}

fn dictionary() -> Dictionary<f64> {
    Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 20, 2).unwrap()
}

fn params() -> PursuitParams {
    PursuitParams::new(Penalty::Absolute(0.3)).with(|p| {
        p.tile = Some(7);
        p.tolerance = 1e-6;
    })
}

/// Needles that solve the problem without constraints.
fn free_optimum() -> Observed<f64> {
    let answer =
        params().check().unwrap().run(&cpu(0), &[signal().into()], &dictionary(), &mut ()).unwrap();
    Observed { start: Start::Needles(answer.needles[0].clone()), ..signal().into() }
}

#[test]
fn a_start_at_the_free_optimum_still_satisfies_the_constraints() {
    let start = free_optimum();
    let run = |params: PursuitParams| {
        params
            .check()
            .unwrap()
            .run(&cpu(0), std::slice::from_ref(&start), &dictionary(), &mut ())
            .unwrap()
    };
    let positive = run(params().with(|p| p.nonnegative = true));
    assert!(positive.needles[0].codes().iter().all(|c| c.value > 0.0), "negative codes were kept");
    let cold = params().with(|p| p.nonnegative = true).check().unwrap();
    let cold = cold
        .run(&cpu(0), &[signal().into()], &dictionary(), &mut ())
        .unwrap()
        .report
        .total
        .objective;
    assert!((positive.report.total.objective / cold - 1.0).abs() < 1e-5);

    let capped = run(params().with(|p| p.max_nonzeros = Some(1)));
    let codes = capped.needles[0].codes();
    assert!(
        codes.windows(2).all(|pair| pair[0].position != pair[1].position),
        "a needle has two codes under a cap of one"
    );
}

#[test]
fn numbers_that_overflow_are_rejected_not_certified() {
    let extent = Extent::new(&[20, 20]).unwrap();
    let huge = Signal::from_planar(extent, 1, vec![2e38f32; 400]).unwrap();
    let dictionary = Dictionary::dct(Extent::new(&[8, 8]).unwrap(), 1, 64).unwrap();
    for penalty in [Penalty::Relative(0.1), Penalty::Absolute(1.0)] {
        let result = PursuitParams::new(penalty).check().unwrap().run(
            &cpu(0),
            &[huge.clone().into()],
            &dictionary,
            &mut (),
        );
        assert!(matches!(result, Err(Error::Data(_))), "{penalty:?}: {result:?}");
    }
    for weight in [1e-50, 1e300] {
        let mut params = PursuitParams::new(Penalty::Relative(0.1));
        params.atom_weights = Some(vec![weight; 64]);
        let one = Signal::from_planar(extent, 1, vec![1.0f32; 400]).unwrap();
        let result = params.check().unwrap().run(&cpu(0), &[one.into()], &dictionary, &mut ());
        assert!(matches!(result, Err(Error::Parameter { .. })), "a weight of {weight}: {result:?}");
    }
}

#[test]
fn a_zero_signal_has_zero_codes_from_any_start() {
    let black = Observed { signal: Signal::zeros(signal().extent(), 1), ..free_optimum() };
    for penalty in [Penalty::Relative(0.1), Penalty::Absolute(0.3)] {
        let pursuit = params().with(|p| p.penalty = penalty).check().unwrap();
        let answer =
            pursuit.run(&cpu(0), std::slice::from_ref(&black), &dictionary(), &mut ()).unwrap();
        assert_eq!(
            (answer.report.status, answer.needles[0].nonzeros()),
            (Status::Converged, 0),
            "{penalty:?}"
        );
    }
}

#[test]
fn absurd_sizes_are_rejected_or_clamped() {
    let with_tile = params().with(|p| p.tile = Some(1 << 63)).check().unwrap();
    assert_eq!(
        with_tile.run(&cpu(0), &[signal().into()], &dictionary(), &mut ()).unwrap().report.status,
        Status::Converged
    );
    assert!(matches!(lobcod::engine::CpuEngine::new(usize::MAX), Err(Error::Parameter { .. })));
}
