//! Invalid input is rejected with the right kind of error, and limits are respected.

use lobcod::pursuit::Start;
use lobcod::{
    Answer, Border, Control, Dictionary, Error, Extent, Mask, Needles, Observed, Penalty, Progress,
    PursuitParams, Result, Signal, Status,
};
use lobcod_conformance::cpu;
use std::time::Duration;

fn extent(axes: &[usize]) -> Extent {
    Extent::new(axes).expect("a shape")
}

fn image() -> Signal<f32> {
    Signal::from_planar(extent(&[12, 13]), 1, (0..156).map(|i| (i as f32 * 0.37).sin()).collect())
        .expect("one value per sample")
}

fn dictionary(channels: usize) -> Dictionary<f32> {
    Dictionary::random(extent(&[4, 5]), channels, 6, 0).expect("a dictionary")
}

fn params() -> PursuitParams {
    PursuitParams::new(Penalty::Relative(0.1))
}

fn run(params: PursuitParams, observed: impl Into<Observed<f32>>) -> Result<Answer<f32>> {
    params.check()?.run(&cpu(0), &[observed.into()], &dictionary(1), &mut ())
}

#[test]
fn nan_and_infinite_samples_are_rejected_unless_masked() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut signal = image();
        signal.data_mut()[5] = bad;
        assert!(
            matches!(run(params(), signal.clone()), Err(Error::Data(_))),
            "{bad} in the signal"
        );
        let known: Vec<bool> = (0..156).map(|i| i != 5).collect();
        let mask = Some(Mask::from_known(signal.extent(), &known).expect("known samples"));
        let answer = run(params(), Observed { mask, ..signal.into() })
            .expect("a masked sample may hold any value");
        assert_eq!(answer.report.status, Status::Converged);
    }
    assert!(
        matches!(
            params().check().expect("valid").run::<f32>(&cpu(0), &[], &dictionary(1), &mut ()),
            Err(Error::Data(_))
        ),
        "no signal"
    );
}

#[test]
fn mismatched_shapes_are_reported() {
    let pursuit = params().check().expect("valid");
    let shape = |result: Result<Answer<f32>>, what: &str| {
        let error = result.err().unwrap_or_else(|| panic!("{what} should be rejected"));
        assert!(matches!(error, Error::Shape(_)), "{what}: {error:?}");
        assert!(error.to_string().len() > 20, "{what}: {error}");
    };
    shape(
        pursuit.run(&cpu(0), &[image().into()], &dictionary(3), &mut ()),
        "colour atoms on a grey image",
    );
    let line = Dictionary::random(extent(&[5]), 1, 3, 0).expect("a dictionary");
    shape(pursuit.run(&cpu(0), &[image().into()], &line, &mut ()), "1-D atoms on an image");
    let wrong =
        Signal::from_planar(extent(&[12, 14]), 1, vec![1.0; 168]).expect("one value per sample");
    shape(
        run(params(), Observed { penalty_map: Some(wrong.clone()), ..image().into() }),
        "a penalty map of another shape",
    );
    shape(
        run(params(), Observed { max_nonzeros_map: Some(wrong.clone()), ..image().into() }),
        "caps of another shape",
    );
    let mask = Some(Mask::new(wrong).expect("known samples"));
    shape(run(params(), Observed { mask, ..image().into() }), "a mask of another shape");
    shape(
        run(params().with(|p| p.atom_weights = Some(vec![1.0; 5])), image()),
        "five weights for six atoms",
    );
    let short =
        Signal::from_planar(extent(&[3, 20]), 1, vec![1.0; 60]).expect("one value per sample");
    shape(
        run(params().with(|p| p.border = Border::Periodic), short.clone()),
        "a periodic axis shorter than the atom",
    );
    assert!(run(params(), short).is_ok(), "the free border allows a short axis");
    let elsewhere = Start::Needles(Needles::new(extent(&[9, 9]), 1, Border::Free, vec![]));
    shape(
        run(params(), Observed { start: elsewhere, ..image().into() }),
        "needles of another signal",
    );
}

#[test]
fn parameters_out_of_range_are_reported() {
    let refused = [
        params().with(|p| p.penalty = Penalty::Absolute(0.0)),
        params().with(|p| p.penalty = Penalty::Absolute(f64::NAN)),
        params().with(|p| p.penalty = Penalty::Relative(-1.0)),
        params().with(|p| p.tolerance = -1e-3),
        params().with(|p| p.max_sweeps = 0),
        params().with(|p| p.max_nonzeros = Some(0)),
        params().with(|p| p.tile = Some(0)),
        params().with(|p| p.atom_weights = Some(vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0])),
    ];
    for params in refused {
        let result = run(params.clone(), image());
        assert!(matches!(result, Err(Error::Parameter { .. })), "{params:?}");
    }
    for weight in [0.0, -1.0, f32::NAN] {
        let map = Signal::from_planar(extent(&[12, 13]), 1, vec![weight; 156])
            .expect("one weight per sample");
        let result = run(params(), Observed { penalty_map: Some(map), ..image().into() });
        assert!(
            matches!(result, Err(Error::Parameter { .. })),
            "a weight of {weight} in the penalty map"
        );
    }
}

#[test]
fn memory_limit_is_checked_in_advance_and_respected() {
    let observed = [Observed::from(image())];
    let needed = params()
        .check()
        .expect("valid")
        .estimate_memory(&cpu(0), &observed, &dictionary(1))
        .expect("an estimate");
    let mut called = false;
    let mut watch = |_: &Progress| {
        called = true;
        Control::Continue
    };
    let tight = params().with(|p| p.max_memory = Some(needed - 1)).check().expect("valid");
    let refusal = tight.run(&cpu(0), &observed, &dictionary(1), &mut watch).err();
    assert_eq!(refusal, Some(Error::Limits { needed, limit: needed - 1 }));
    assert!(!called, "work began before the limit was checked");
    let answer =
        run(params().with(|p| p.max_memory = Some(needed)), image()).expect("enough memory");
    let used = answer.report.working_memory_bytes;
    assert!(used > 0 && used <= needed, "{used} bytes used, {needed} estimated");
}

#[test]
fn signal_of_zeros_has_no_codes() {
    for penalty in [Penalty::Relative(0.1), Penalty::Absolute(1.0)] {
        for start in [Start::Zero, Start::Spread] {
            let params = params().with(|p| {
                p.penalty = penalty;
                p.time_limit = Some(Duration::from_secs(10));
            });
            let zeros = Observed { start, ..Signal::zeros(extent(&[9, 9]), 1).into() };
            let report = run(params, zeros).expect("an answer").report;
            assert_eq!(
                (report.status, report.total.nonzeros, report.total.objective),
                (Status::Converged, 0, 0.0)
            );
            assert_eq!(report.total.relative_gap(), 0.0);
        }
    }
}
