//! Numbers at the ends of their range, in bands and in learning: a correct answer, or an error that
//! explains why.

use lobcod::bands::Strip;
use lobcod::learn::{Method, Step};
use lobcod::{
    Code, Dictionary, Error, Extent, LearnParams, Penalty, PursuitParams, Real, Result, Signal,
};
use lobcod_conformance::cpu;
use proptest::prelude::*;

fn extent(axes: &[usize]) -> Extent {
    Extent::new(axes).unwrap()
}

/// Stripes with some irregularity, times `scale`.
fn signal<T: Real>(axes: &[usize], scale: f64) -> Signal<T> {
    let wave =
        |i: usize| T::from_f64(scale * ((i as f64 * 0.9).sin() + (i * 7 % 5) as f64 * 0.2 - 0.4));
    Signal::from_planar(extent(axes), 1, (0..extent(axes).volume()).map(wave).collect()).unwrap()
}

/// Samples near the largest finite number, and cancelling codes that exceed it on the way.
fn cancelling() -> (Signal<f32>, Dictionary<f32>) {
    let mut state = 1930u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let atoms = (0..6).map(|_| (next() * f64::powf(10.0, 3.0 * next() - 3.0)) as f32).collect();
    let samples = (0..64).map(|_| (next() * 2.5e38) as f32).collect();
    (
        Signal::from_planar(extent(&[64]), 1, samples).unwrap(),
        Dictionary::new(extent(&[3]), 1, atoms).unwrap(),
    )
}

/// Without an answer, the error must mention the precision.
fn refused<A>(answer: Result<A>, name: &str) -> Option<A> {
    match answer {
        Ok(answer) => Some(answer),
        Err(Error::Data(reason)) => {
            assert!(
                reason.contains(" numbers; ") && reason.contains("double precision"),
                "{name}: {reason}"
            );
            None
        }
        // A relative penalty may underflow in this precision.
        Err(Error::Parameter { name: "the penalty", .. }) => None,
        Err(other) => panic!("{name}: {other}"),
    }
}

fn in_bands<T: Real>(
    params: &PursuitParams,
    samples: &Signal<T>,
    atoms: &Dictionary<T>,
) -> Result<(f64, Vec<Code<T>>)> {
    let mut store: Vec<Vec<Code<T>>> = Vec::new();
    let mut rows = Strip { samples: samples.clone(), weights: None };
    let report =
        params.clone().check()?.run_in_bands(&cpu(0), &mut rows, &mut store, atoms, 1, &mut ())?;
    assert!(
        report.total.objective.is_finite()
            && report.total.gap >= 0.0
            && report.history.iter().all(|h| h.objective.is_finite())
    );
    assert!(store.iter().flatten().all(|code| code.value.is_finite()));
    Ok((report.total.objective, store.concat()))
}

fn learn<T: Real>(params: LearnParams, samples: &Signal<T>, first: &Dictionary<T>) -> Result<f64> {
    let learnt = params.check()?.run(&cpu(0), &[samples.clone().into()], first, &mut ())?;
    assert!(learnt.dictionary.data().iter().all(|x| x.is_finite()));
    assert!(learnt.needles[0].codes().iter().all(|code| code.value.is_finite()));
    assert!(
        learnt.report.history.iter().all(|point| point.objective.is_finite()),
        "{:?}",
        learnt.report.history
    );
    Ok(learnt.report.pursuit.total.objective)
}

fn stream<T: Real>(
    params: LearnParams,
    signals: &[Signal<T>],
    first: &Dictionary<T>,
) -> Result<f64> {
    let mut stream = params.check()?.stream(first)?;
    for samples in signals {
        let before = (stream.dictionary().clone(), stream.checkpoint());
        if let Err(error) = stream.partial_fit(&cpu(0), &[samples.clone().into()], &mut ()) {
            assert!(
                (stream.dictionary().clone(), stream.checkpoint()) == before,
                "an error changed the model"
            );
            return Err(error);
        }
        assert!(stream.dictionary().data().iter().all(|x| x.is_finite()));
    }
    Ok(stream.history().last().unwrap().objective)
}

fn methods() -> Vec<Method> {
    let steps = Step::ALL
        .into_iter()
        .map(|step| Method::Stochastic { step, decay: lobcod::learn::Decay::None });
    [Method::Atomwise, Method::Batch].into_iter().chain(steps).collect()
}

fn scales<T: Real>(powers: &[i32], certain: i32) {
    let atoms = Dictionary::random(extent(&[3, 3]), 1, 3, 4).unwrap();
    let params = PursuitParams::new(Penalty::Relative(0.2));
    let plain = in_bands(&params, &signal::<T>(&[30, 7], 1.0), &atoms).unwrap().0;
    let learner = |method, penalty| {
        LearnParams::new(penalty).with(|p| {
            p.method = method;
            p.passes = 2;
        })
    };
    for &power in powers {
        let scale = f64::powi(10.0, power);
        let image = signal::<T>(&[30, 7], scale);
        let name = format!("1e{power}");
        if let Some((objective, _)) = refused(in_bands(&params, &image, &atoms), &name) {
            let ratio = objective / scale / scale / plain;
            assert!((ratio - 1.0).abs() < 3e-3, "{name}: the objective in bands is off by {ratio}");
        } else {
            assert!(power.abs() > certain, "{name} was rejected");
        }
        for method in methods() {
            for penalty in
                [Penalty::Relative(0.2), Penalty::Absolute(0.2 * scale), Penalty::Absolute(1e-3)]
            {
                let answer = learn(learner(method, penalty), &image, &atoms);
                refused(answer, &format!("{name} {method:?} {penalty:?}"));
            }
        }
        for penalty in [Penalty::Relative(0.2), Penalty::Absolute(1e-3)] {
            refused(
                stream(
                    learner(Method::Atomwise, penalty),
                    &[signal(&[30, 7], 1.0), image.clone()],
                    &atoms,
                ),
                &name,
            );
            refused(
                stream(learner(Method::Atomwise, penalty), std::slice::from_ref(&image), &atoms),
                &name,
            );
        }
    }
}

#[test]
fn signals_of_any_scale_in_bands_and_in_learning() {
    scales::<f32>(&[-44, -30, -20, 18, 30, 37, 38], 18);
    scales::<f64>(&[-300, -160, 100, 152, 300], 100);
}

#[test]
fn codes_beyond_the_precision_are_refused_in_bands_and_in_learning() {
    let (samples, atoms) = cancelling();
    let usual = PursuitParams::new(Penalty::Relative(1e-4));
    let params = usual.with(|p| {
        p.nonnegative = true;
        p.max_sweeps = 20;
    });
    assert!(params.clone().check().unwrap().bands(samples.extent(), atoms.extent(), 1) > 1);
    // The signal itself does not overflow.
    in_bands(&params.clone().with(|p| p.penalty = Penalty::Relative(1.0)), &samples, &atoms)
        .unwrap();
    // Vectors of other lengths add in another order, which may keep within the range.
    let banded = refused(in_bands(&params, &samples, &atoms), "bands");
    assert!(banded.is_none() || cfg!(not(target_arch = "x86_64")));
    // Codes fitted together may reach the optimum, which is finite.
    let whole =
        params.clone().check().unwrap().run(&cpu(1), &[samples.clone().into()], &atoms, &mut ());
    if let Some(answer) = refused(whole, "codes fitted together") {
        assert!(answer.report.total.objective.is_finite());
        assert!(answer.needles[0].codes().iter().all(|code| code.value.is_finite()));
    }
    for method in methods() {
        let learner = LearnParams::new(Penalty::Relative(1e-3)).with(|p| {
            p.method = method;
            p.passes = 3;
        });
        refused(learn(learner.clone(), &samples, &atoms), &format!("{method:?}"));
        refused(stream(learner, std::slice::from_ref(&samples), &atoms), "a stream");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Samples, atoms and penalty of any magnitude.
    #[test]
    fn nothing_is_no_number(
        samples in prop::collection::vec((-1.0f32..1.0, -38i32..=38), 24),
        atoms in prop::collection::vec((-1.0f32..1.0, -20i32..=2), 9),
        power in -12i32..=1,
        nonnegative in any::<bool>(),
        method in 0..methods().len(),
    ) {
        let number = |(x, power): (f32, i32)| (f64::from(x) * f64::powi(10.0, power)) as f32;
        let samples =
            Signal::from_planar(extent(&[24]), 1, samples.into_iter().map(number).collect())
                .unwrap();
        let atoms = Dictionary::new(extent(&[3]), 1, atoms.into_iter().map(number).collect());
        prop_assume!(atoms.is_ok());
        let penalty = Penalty::Relative(f64::powi(10.0, power));
        let params = PursuitParams::new(penalty).with(|p| {
            p.nonnegative = nonnegative;
            p.max_sweeps = 20;
        });
        refused(in_bands(&params, &samples, atoms.as_ref().unwrap()), "bands");
        let learner = LearnParams::new(penalty).with(|p| {
            p.method = methods()[method];
            p.passes = 2;
        });
        refused(learn(learner, &samples, atoms.as_ref().unwrap()), "learning");
    }
}
