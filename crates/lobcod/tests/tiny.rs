//! Complete runs, small enough for Miri: `cargo +nightly miri test --package lobcod --test tiny`.

use lobcod::bands::Strip;
use lobcod::learn::Method;
use lobcod::{
    Code, Dictionary, Extent, LearnParams, Mask, Observed, Penalty, PursuitParams, Real, Signal,
};
use lobcod_conformance::cpu;

/// A signal of a few tiles; some samples are missing.
fn observed<T: Real>(axes: &[usize], channels: usize) -> Observed<T> {
    let extent = Extent::new(axes).unwrap();
    let wave = |i: usize| T::from_f64((i as f64 * 0.9).sin() * 3.0 + (i * 7 % 5) as f64);
    let signal =
        Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect())
            .unwrap();
    let known: Vec<bool> = (0..extent.volume()).map(|i| i % 6 != 2).collect();
    Observed { mask: Some(Mask::from_known(extent, &known).unwrap()), ..signal.into() }
}

/// The codes are bit-identical on one thread and on two.
fn codes<T: Real>(axes: &[usize], atom: &[usize], channels: usize) {
    let dictionary = Dictionary::random(Extent::new(atom).unwrap(), 1, 3, 1).unwrap();
    let run = |threads| {
        let params = PursuitParams::new(Penalty::Relative(0.5)).with(|p| {
            p.max_sweeps = 1;
            p.tile = Some(3);
        });
        params
            .check()
            .unwrap()
            .run(&cpu(threads), &[observed::<T>(axes, channels)], &dictionary, &mut ())
            .unwrap()
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one.needles, two.needles);
    assert!(one.needles[0].nonzeros() > 0 && one.report.total.gap >= 0.0);
}

#[test]
fn a_sequence() {
    codes::<f32>(&[19], &[3], 1);
    codes::<f64>(&[19], &[3], 2);
}

#[test]
fn an_image() {
    codes::<f32>(&[7, 6], &[3, 2], 1);
    codes::<f64>(&[6, 5], &[2, 3], 1);
}

#[test]
fn a_volume() {
    codes::<f32>(&[2, 4, 4], &[1, 2, 2], 1);
}

#[test]
fn bands() {
    let dictionary = Dictionary::random(Extent::new(&[2, 2]).unwrap(), 1, 2, 1).unwrap();
    let mut signal = Strip { samples: observed::<f32>(&[24, 3], 1).signal, weights: None };
    let mut run = |threads| {
        let params = PursuitParams::new(Penalty::Relative(0.5)).with(|p| {
            p.max_sweeps = 1;
            p.tolerance = 0.5;
        });
        let (pursuit, mut codes) = (params.check().unwrap(), Vec::<Vec<Code<f32>>>::new());
        assert!(pursuit.bands(signal.samples.extent(), dictionary.extent(), 1) > 1);
        pursuit
            .run_in_bands(&cpu(threads), &mut signal, &mut codes, &dictionary, 1, &mut ())
            .unwrap();
        codes
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one, two);
    assert!(one.iter().any(|piece| !piece.is_empty()));
}

fn learning(method: Method) {
    let first = Dictionary::random(Extent::new(&[2, 2]).unwrap(), 1, 2, 1).unwrap();
    let learn = |threads| {
        let params = LearnParams::new(Penalty::Relative(0.5)).with(|p| {
            p.method = method;
            p.passes = 1;
            p.tolerance = 1.0;
        });
        params
            .check()
            .unwrap()
            .run(&cpu(threads), &[observed::<f32>(&[5, 4], 1)], &first, &mut ())
            .unwrap()
            .dictionary
    };
    let (one, two) = (learn(1), learn(2));
    assert_eq!(one, two);
    assert_ne!(one, first);
}

#[test]
fn learning_atom_by_atom() {
    learning(Method::Atomwise);
}

#[test]
fn learning_by_stochastic_steps() {
    learning(Method::STOCHASTIC);
}

#[test]
fn learning_in_batches() {
    learning(Method::Batch);
}

#[test]
fn learning_from_a_stream() {
    let first = Dictionary::random(Extent::new(&[2, 2]).unwrap(), 1, 2, 1).unwrap();
    let learn = |threads| {
        let params = LearnParams::new(Penalty::Relative(0.5));
        let mut stream = params.check().unwrap().stream(&first).unwrap();
        stream.partial_fit(&cpu(threads), &[observed::<f32>(&[5, 4], 1)], &mut ()).unwrap();
        stream.dictionary().clone()
    };
    assert_eq!(learn(1), learn(2));
}
