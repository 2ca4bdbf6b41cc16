//! Whole runs, small enough for an interpreter that watches every access to memory:
//! `cargo +nightly miri test --package lobcod --test tiny`.

use lobcod::{Dictionary, Extent, LearnParams, Mask, Method, Observed, Penalty, PursuitParams, Real, Signal};

/// A signal of a few tiles; some samples are missing.
fn observed<T: Real>(axes: &[usize], channels: usize) -> Observed<T> {
    let extent = Extent::new(axes).unwrap();
    let wave = |i: usize| T::from_f64((i as f64 * 0.9).sin() * 3.0 + (i * 7 % 5) as f64);
    let signal = Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect()).unwrap();
    let known: Vec<bool> = (0..extent.volume()).map(|i| i % 6 != 2).collect();
    Observed { mask: Some(Mask::from_known(extent, &known).unwrap()), ..signal.into() }
}

fn codes<T: Real>(axes: &[usize], atom: &[usize], channels: usize) {
    let dictionary = Dictionary::random(Extent::new(atom).unwrap(), 1, 3, 1).unwrap();
    let run = |threads| {
        let params = PursuitParams { threads, max_sweeps: 2, tile: Some(4), ..PursuitParams::new(Penalty::Relative(0.3)) };
        params.check().unwrap().run(&[observed::<T>(axes, channels)], &dictionary, &mut ()).unwrap()
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
fn a_picture() {
    codes::<f32>(&[9, 7], &[3, 2], 1);
    codes::<f64>(&[9, 7], &[2, 3], 1);
}

#[test]
fn a_volume() {
    codes::<f32>(&[3, 5, 4], &[2, 2, 2], 1);
}

#[test]
fn learning() {
    let first = Dictionary::random(Extent::new(&[2, 3]).unwrap(), 1, 3, 1).unwrap();
    for method in [Method::Atomwise, Method::STOCHASTIC, Method::Batch] {
        let learn = |threads| {
            let params = LearnParams { method, passes: 1, threads, tolerance: 1.0, ..LearnParams::new(Penalty::Relative(0.3)) };
            params.check().unwrap().run(&[observed::<f32>(&[8, 7], 1)], &first, &mut ()).unwrap().dictionary
        };
        assert_eq!(learn(1), learn(2));
    }
}
