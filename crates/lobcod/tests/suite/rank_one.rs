//! Pursuits with atoms of rank 1 over many channels are optimal, by conditions recomputed here.

use lobcod::{
    Border, Code, Dictionary, Extent, Mask, Needles, Observed, Penalty, PursuitParams, Signal,
};
use lobcod_conformance::cpu;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Atoms `u v^T` of random factors.
fn rank_one(size: &[usize], channels: usize, atoms: usize, seed: u64) -> Dictionary<f64> {
    let extent = Extent::new(size).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |n: usize| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let mut data = Vec::new();
    for _ in 0..atoms {
        let (u, v) = (draw(channels), draw(extent.volume()));
        data.extend(u.iter().flat_map(|u| v.iter().map(move |v| u * v)));
    }
    Dictionary::new(extent, channels, data).unwrap()
}

/// A signal of planted codes with noise.
fn planted(truth: &Dictionary<f64>, axes: &[usize], codes: usize, noise: f64) -> Signal<f64> {
    let extent = Extent::new(axes).unwrap();
    let (l, h) = (extent.padded(), truth.extent().padded());
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let codes = (0..codes).map(|_| Code {
        position: std::array::from_fn(|a| rng.random_range(1 - h[a] as i32..l[a] as i32)),
        atom: rng.random_range(0..truth.len() as u32),
        channel: 0,
        value: rng.random_range(1.0..3.0),
    });
    let codes = codes.collect();
    let needles = Needles::new(extent, truth.channels(), Border::Free, codes);
    let mut signal = needles.synthesise(truth).unwrap();
    signal.data_mut().iter_mut().for_each(|x| *x += rng.random_range(-noise..noise));
    signal
}

/// The largest violation of the optimality conditions, as a fraction of the penalty.
fn violation(
    observed: &Observed<f64>,
    needles: &Needles<f64>,
    dictionary: &Dictionary<f64>,
    penalty: f64,
) -> f64 {
    let rest = observed.signal.minus(&needles.synthesise(dictionary).unwrap()).unwrap();
    let (l, h) = (rest.extent().padded(), dictionary.extent().padded());
    let volume = rest.extent().volume();
    let weight = |i: usize| observed.mask.as_ref().map_or(1.0, |m| m.weights().data()[i % volume]);
    let periodic = needles.border() == Border::Periodic;
    let first = h.map(|h| if periodic { 0 } else { 1 - h as i32 });
    let mut worst = 0.0f64;
    for z in first[0]..l[0] as i32 {
        for y in first[1]..l[1] as i32 {
            for x in first[2]..l[2] as i32 {
                for k in 0..dictionary.len() {
                    let mut c = 0.0;
                    for (i, d) in dictionary.atom(k).iter().enumerate() {
                        let (channel, i) = (i / (h[0] * h[1] * h[2]), i % (h[0] * h[1] * h[2]));
                        let cell = [i / (h[1] * h[2]), i / h[2] % h[1], i % h[2]];
                        let at: [i32; 3] = std::array::from_fn(|a| {
                            let at = [z, y, x][a] + cell[a] as i32;
                            if periodic { at.rem_euclid(l[a] as i32) } else { at }
                        });
                        if (0..3).all(|a| (0..l[a] as i32).contains(&at[a])) {
                            let [z, y, x] = at.map(|x| x as usize);
                            let sample = channel * volume + (z * l[1] + y) * l[2] + x;
                            c += d * weight(sample).powi(2) * rest.data()[sample];
                        }
                    }
                    let same =
                        |code: &&Code<f64>| code.position == [z, y, x] && code.atom as usize == k;
                    let excess = match needles.codes().iter().find(same) {
                        Some(code) => (c - penalty * code.value.signum()).abs(),
                        None => (c.abs() - penalty).max(0.0),
                    };
                    worst = worst.max(excess / penalty);
                }
            }
        }
    }
    worst
}

#[test]
fn pursuits_with_projections_are_optimal() {
    for (axes, size, channels) in
        [(&[170][..], &[13][..], 11), (&[19, 23], &[4, 5], 9), (&[12], &[9], 8)]
    {
        let dictionary = rank_one(size, channels, 5, 3);
        assert!(dictionary.factors().is_some());
        let signal = planted(&dictionary, axes, 14, 0.1);
        let volume = signal.extent().volume();
        let known: Vec<bool> = (0..volume).map(|i| i * 7 % 13 != 5).collect();
        for border in [Border::Free, Border::Periodic] {
            for masked in [false, true] {
                let mask = masked.then(|| Mask::from_known(signal.extent(), &known).unwrap());
                let observed = Observed { mask, ..signal.clone().into() };
                let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| {
                    p.border = border;
                    p.tolerance = 1e-10;
                });
                let answer = params
                    .check()
                    .unwrap()
                    .run(&cpu(1), std::slice::from_ref(&observed), &dictionary, &mut ())
                    .unwrap();
                let (penalty, needles) = (answer.report.penalty, &answer.needles[0]);
                let found = violation(&observed, needles, &dictionary, penalty);
                assert!(
                    needles.nonzeros() > 5 && found < 1e-4,
                    "{axes:?} {border} masked {masked}: {found}, {} codes",
                    needles.nonzeros()
                );
            }
        }
    }
}

#[test]
fn the_factors_of_rank_one_atoms_are_found_and_others_have_none() {
    let dictionary = rank_one(&[3, 4], 5, 6, 9);
    let factors = dictionary.factors().unwrap();
    for k in 0..6 {
        let (u, v) = (&factors.u[5 * k..5 * (k + 1)], &factors.v[12 * k..12 * (k + 1)]);
        for (c, u) in u.iter().enumerate() {
            for (i, v) in v.iter().enumerate() {
                assert!((u * v - dictionary.atom(k)[12 * c + i]).abs() < 1e-14);
            }
        }
        let largest = u.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
        assert!(largest > 0.0);
    }
    assert!(dictionary.cast::<f32>().factors().is_some(), "rounding raises no rank");
    let other = Dictionary::<f64>::random(dictionary.extent(), 5, 6, 1).unwrap();
    assert!(other.factors().is_none());
    assert!(Dictionary::<f64>::random(dictionary.extent(), 1, 6, 1).unwrap().factors().is_none());
}

#[test]
fn factors_of_large_atoms_are_found_in_both_precisions() {
    let dictionary = rank_one(&[64], 200, 40, 5);
    let single = dictionary.cast::<f32>().factors().expect("atoms of rank 1 in f32");
    let factors = dictionary.factors().expect("atoms of rank 1 in f64");
    for (a, b) in factors.u.iter().zip(&single.u) {
        assert!((a - f64::from(*b)).abs() < 1e-6, "{a} {b}");
    }
    // An atom that is only nearly of rank 1 has no factors.
    let mut data = dictionary.data().to_vec();
    data[77] += 1e-9;
    let near = Dictionary::new(dictionary.extent(), 200, data).unwrap();
    assert!(near.factors().is_none());
}
