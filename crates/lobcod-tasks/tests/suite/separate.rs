//! Separation: the joint objective and its certificate, recomputed from the layers.

use lobcod::base::smooth;
use lobcod::{Dictionary, Extent, Penalty, Signal, Status};
use lobcod_conformance::cpu;
use lobcod_tasks::separate::{Layers, SeparateParams};

const MU: f64 = 3.0;
const PENALTY: f64 = 4.0;

/// A slope with stripes and a bright square.
fn scene() -> Signal<f64> {
    let value = |i: usize| {
        let (y, x) = ((i / 30) as f64, (i % 30) as f64);
        2.0 * y
            + if x > 14.0 { 9.0 * (1.9 * x + 0.4 * y).sin() } else { 0.0 }
            + if (8..12).contains(&(i / 30)) && x < 9.0 { 30.0 } else { 0.0 }
    };
    Signal::from_planar(Extent::new(&[26, 30]).unwrap(), 1, (0..780).map(value).collect()).unwrap()
}

fn separate(
    signal: &Signal<f64>,
    dictionary: &Dictionary<f64>,
    tolerance: f64,
    alternations: usize,
    threads: usize,
) -> Layers<f64> {
    let params = SeparateParams::new(Penalty::Absolute(PENALTY)).with(|p| {
        p.mu = MU;
        p.tolerance = tolerance;
        p.alternations = alternations;
    });
    params.check().unwrap().run(&cpu(threads), signal, dictionary, &mut ()).unwrap()
}

/// `1/2 ||Y - B - T||^2 + penalty |codes| + mu/2 ||grad B||^2`, by definition.
fn objective(signal: &Signal<f64>, layers: &Layers<f64>) -> f64 {
    let [_, height, width] = signal.extent().padded();
    let y = signal.data();
    let b = layers.base.data();
    let t = layers.texture.data();
    let data: f64 = (0..y.len()).map(|i| (y[i] - b[i] - t[i]).powi(2)).sum();
    let across: f64 =
        (0..y.len()).filter(|i| i % width + 1 < width).map(|i| (b[i + 1] - b[i]).powi(2)).sum();
    let down: f64 = (0..(height - 1) * width).map(|i| (b[i + width] - b[i]).powi(2)).sum();
    let codes: f64 = layers.needles.codes().iter().map(|c| c.value.abs()).sum();
    0.5 * data + PENALTY * codes + 0.5 * MU * (across + down)
}

#[test]
fn the_gap_bounds_the_distance_to_the_joint_optimum() {
    let (signal, dictionary) =
        (scene(), Dictionary::dct(Extent::new(&[5, 5]).unwrap(), 1, 30).unwrap());
    let best = separate(&signal, &dictionary, 1e-5, 2000, 0);
    assert_eq!(best.report.status, Status::Converged);
    assert!(best.report.total.relative_gap() <= 1e-5);
    let optimum = objective(&signal, &best);
    for turns in [1, 2, 5, 20] {
        let layers = separate(&signal, &dictionary, 1e-9, turns, 0);
        let (own, total) = (objective(&signal, &layers), &layers.report.total);
        assert!(
            (own - total.objective).abs() < 1e-9 * own,
            "{turns} turns: {own} against {}",
            total.objective
        );
        assert!(
            own >= optimum * (1.0 - 1e-9) && own - total.gap <= optimum * (1.0 + 1e-9),
            "{turns} turns: {own}, {total:?}, {optimum}"
        );
        assert_eq!((layers.alternations, layers.report.status), (turns, Status::Completed));
        // The base is exact for these codes.
        let exact = smooth(&signal.minus(&layers.texture).unwrap(), None, MU).unwrap();
        assert!(exact.data().iter().zip(layers.base.data()).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn without_alternations_the_smooth_layer_of_the_signal_is_kept() {
    let (signal, dictionary) =
        (scene(), Dictionary::dct(Extent::new(&[5, 5]).unwrap(), 1, 30).unwrap());
    let layers = separate(&signal, &dictionary, 1e-3, 0, 0);
    assert_eq!((layers.alternations, layers.report.status), (0, Status::Converged));
    assert_eq!(layers.base, smooth(&signal, None, MU).unwrap());
    // Objective and gap are those of one pursuit on the signal minus that layer.
    let left = signal.minus(&layers.base).unwrap().minus(&layers.texture).unwrap();
    let l1: f64 = layers.needles.codes().iter().map(|c| c.value.abs()).sum();
    let own = 0.5 * left.data().iter().map(|r| r * r).sum::<f64>() + PENALTY * l1;
    let total = &layers.report.total;
    assert!((own - total.objective).abs() < 1e-9 * own, "{own} against {}", total.objective);
    let best = separate(&signal, &dictionary, 1e-8, 0, 0).report.total.objective;
    assert!(total.relative_gap() <= 1e-3 && own - total.gap <= best && best <= own);
}

#[test]
fn channels_are_summed_and_threads_change_nothing() {
    let grey = scene();
    let mut data = grey.data().to_vec();
    data.extend(grey.data().iter().rev());
    let both = Signal::from_planar(grey.extent(), 2, data).unwrap();
    let turned =
        Signal::from_planar(grey.extent(), 1, grey.data().iter().rev().copied().collect()).unwrap();
    let dictionary = Dictionary::dct(Extent::new(&[5, 5]).unwrap(), 1, 30).unwrap();
    let (one, three) =
        (separate(&both, &dictionary, 0.0, 2, 1), separate(&both, &dictionary, 0.0, 2, 3));
    assert_eq!((&one.base, &one.needles), (&three.base, &three.needles));
    let parts = objective(&grey, &first(&one, 0)) + objective(&turned, &first(&one, 1));
    assert!((parts - one.report.total.objective).abs() < 1e-9 * parts);
}

/// The layers of one channel.
fn first(layers: &Layers<f64>, channel: usize) -> Layers<f64> {
    let plane =
        |s: &Signal<f64>| Signal::from_planar(s.extent(), 1, s.channel(channel).to_vec()).unwrap();
    let codes =
        layers.needles.codes().iter().filter(|c| c.channel as usize == channel).copied().collect();
    let needles = lobcod::Needles::new(layers.base.extent(), 1, lobcod::Border::Free, codes);
    let mut one = layers.clone();
    one.base = plane(&layers.base);
    one.texture = plane(&layers.texture);
    one.needles = needles;
    one
}

#[test]
fn invalid_parameters_are_rejected() {
    let good = || SeparateParams::new(Penalty::Absolute(1.0));
    for (params, word) in [
        (good().with(|p| p.mu = 0.0), "smooth layer"),
        (good().with(|p| p.mu = f64::NAN), "smooth layer"),
        (good().with(|p| p.tolerance = -1.0), "tolerance"),
        (SeparateParams::new(Penalty::Absolute(0.0)), "penalty"),
    ] {
        assert!(params.check().unwrap_err().to_string().contains(word), "{word}");
    }
}
