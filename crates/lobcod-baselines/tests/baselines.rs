//! Tests of the baselines against lobcod and their own properties.

use lobcod::engine::CpuEngine;
use lobcod::{Border, Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Signal};
use lobcod_baselines::{Sbdl, SpatialSgd, Update, lasso};
use lobcod_tasks::synthetic;

fn image(size: usize) -> Signal<f64> {
    let grey = synthetic::grey_still_life(size).unwrap();
    let mean = grey.data().iter().map(|x| f64::from(*x)).sum::<f64>() / grey.data().len() as f64;
    let samples = grey.data().iter().map(|x| (f64::from(*x) - mean) / 100.0).collect();
    Signal::from_planar(grey.extent(), 1, samples).unwrap()
}

fn masked(signal: Signal<f64>) -> Observed<f64> {
    let known: Vec<bool> = (0..signal.data().len()).map(|i| (i * 7919) % 11 > 3).collect();
    Observed { mask: Some(Mask::from_known(signal.extent(), &known).unwrap()), ..signal.into() }
}

fn best(
    signals: &[Observed<f64>],
    dictionary: &Dictionary<f64>,
    penalty: f64,
    border: Border,
) -> f64 {
    let params = PursuitParams::new(Penalty::Absolute(penalty)).with(|p| {
        p.border = border;
        p.tolerance = 1e-9;
    });
    let report = params
        .check()
        .unwrap()
        .run(&CpuEngine::new(0).unwrap(), signals, dictionary, &mut ())
        .unwrap()
        .report;
    assert!(report.total.relative_gap() <= 1e-9);
    report.total.objective
}

#[test]
fn lars_satisfies_the_optimality_conditions() {
    for seed in 0..200 {
        let m = 4 + seed as usize % 9;
        let dictionary = Dictionary::<f64>::random(Extent::new(&[6]).unwrap(), 1, m, seed).unwrap();
        let wanted =
            Dictionary::<f64>::random(Extent::new(&[6]).unwrap(), 1, 1, seed + 1000).unwrap();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let correlations: Vec<f64> =
            (0..m).map(|k| dot(dictionary.atom(k), wanted.atom(0))).collect();
        let penalty = 0.02 + 0.1 * (seed % 7) as f64;
        let needle = lasso(&correlations, &dictionary.gram(), penalty);
        let mut rest = wanted.atom(0).to_vec();
        for &(k, value) in &needle {
            rest.iter_mut().zip(dictionary.atom(k)).for_each(|(r, d)| *r -= value * d);
        }
        for k in 0..m {
            let c = dot(dictionary.atom(k), &rest);
            match needle.iter().find(|(atom, _)| *atom == k) {
                Some((_, value)) => assert!(
                    (c - penalty * value.signum()).abs() < 1e-8,
                    "seed {seed}: active {k} at {c}"
                ),
                None => assert!(c.abs() <= penalty + 1e-8, "seed {seed}: idle {k} at {c}"),
            }
        }
    }
}

#[test]
fn slices_reach_the_objective_of_the_pursuit() {
    let image = image(20);
    let sound = Signal::from_planar(
        Extent::new(&[120]).unwrap(),
        1,
        (0..120).map(|t| (0.05 * (t * t) as f64).sin()).collect(),
    )
    .unwrap();
    let flat = Dictionary::random(Extent::new(&[4, 3]).unwrap(), 1, 10, 1).unwrap();
    let long = Dictionary::random(Extent::new(&[8]).unwrap(), 1, 6, 2).unwrap();
    for (signal, dictionary) in [(image, flat), (sound, long)] {
        for border in [Border::Free, Border::Zero] {
            for observed in [Observed::from(signal.clone()), masked(signal.clone())] {
                let signals = [observed];
                let wanted = best(&signals, &dictionary, 0.15, border);
                let sbdl = Sbdl {
                    border,
                    rho: 2.0,
                    iterations: 2500,
                    measure_every: 2500,
                    ..Sbdl::new(0.15)
                };
                let answer = sbdl.run(&signals, &dictionary).unwrap();
                let found = answer.history.last().unwrap().objective;
                assert!(
                    (found / wanted - 1.0).abs() < 1e-5,
                    "{border}, {}: {found} and {wanted}",
                    signal.extent()
                );
                // Both interpret the needles in the same way.
                let synthesis = answer.needles[0].synthesise(&dictionary).unwrap();
                assert_eq!(synthesis.extent(), signal.extent());
            }
        }
    }
}

#[test]
fn both_updates_learn() {
    let signals = [Observed::from(image(32)), masked(image(28))];
    let first = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 12, 0).unwrap();
    let before = best(&signals, &first, 0.2, Border::Free);
    for update in [Update::Ksvd, Update::Mod] {
        let sbdl = Sbdl { update: Some(update), iterations: 40, ..Sbdl::new(0.2) };
        let answer = sbdl.run(&signals, &first).unwrap();
        let after = best(&signals, &answer.dictionary, 0.2, Border::Free);
        assert!(after < 0.85 * before, "{update:?}: {after} and {before} with the first atoms");
    }
}

#[test]
fn hidden_samples_are_not_read() {
    let open = masked(image(24));
    let mut other = open.clone();
    let mask = open.mask.clone().unwrap();
    let hidden =
        other.signal.data_mut().iter_mut().zip(mask.channel(0)).filter(|(_, w)| **w == 0.0);
    hidden.for_each(|(x, _)| *x = f64::NAN);
    let first = Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 6, 0).unwrap();
    let sbdl = Sbdl { update: Some(Update::Ksvd), iterations: 5, ..Sbdl::new(0.2) };
    let [a, b] = [open, other].map(|signal| sbdl.run(&[signal], &first).unwrap());
    assert_eq!(a.needles, b.needles);
    assert_eq!(a.dictionary, b.dictionary);
}

#[test]
fn threads_do_not_change_the_answer() {
    let first = Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 6, 0).unwrap();
    let run = |threads| {
        Sbdl { threads, iterations: 5, ..Sbdl::new(0.2) }
            .run(&[image(24).into()], &first)
            .unwrap()
            .needles
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn stochastic_gradients_learn() {
    let part = |i: usize| -> Observed<f64> {
        let whole = image(64);
        let (top, left) = (i * 13 % 40, i * 29 % 40);
        let sample = |j: usize| whole.data()[(top + j / 24) * 64 + left + j % 24];
        Signal::from_planar(Extent::new(&[24, 24]).unwrap(), 1, (0..576).map(sample).collect())
            .unwrap()
            .into()
    };
    let first = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 10, 3).unwrap();
    let mut sgd = SpatialSgd::new(0.2, &first);
    sgd.gain = 0.2;
    for i in 0..40 {
        sgd.step(&part(i)).unwrap();
    }
    let test = [part(100)];
    let [before, after] = [&first, sgd.dictionary()].map(|d| best(&test, d, 0.2, Border::Free));
    assert!(after < 0.9 * before, "{after} and {before} with the first atoms");
}

#[test]
fn invalid_input_is_rejected() {
    let first = Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 6, 0).unwrap();
    let run = |sbdl: Sbdl| sbdl.run(&[image(20).into()], &first);
    assert!(run(Sbdl { border: Border::Periodic, ..Sbdl::new(0.2) }).is_err());
    assert!(run(Sbdl::new(0.0)).is_err());
    assert!(run(Sbdl { rho: f64::NAN, ..Sbdl::new(0.2) }).is_err());
}
