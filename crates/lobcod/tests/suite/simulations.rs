//! The simulations with which alphacsc is presented: short trials that contain a triangle and a
//! square wave (and a sine, over channels), each at a few random times, always with one sign.

use lobcod::dictionary::Dictionary;
use lobcod::learn::{Decay, Method, Step};
use lobcod::{
    Border, Code, Extent, LearnParams, Needles, Observed, Penalty, PursuitParams, Signal,
};
use lobcod_conformance::cpu;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::StandardNormal;
use std::f64::consts::TAU;

const LENGTH: usize = 16;

/// A triangle, a square wave and a sine of zero mean, one period each.
fn waves() -> [Vec<f64>; 3] {
    let wave = |f: &dyn Fn(f64) -> f64| {
        let mut wave: Vec<f64> = (0..LENGTH).map(|i| f(i as f64 / LENGTH as f64)).collect();
        let mean = wave.iter().sum::<f64>() / LENGTH as f64;
        wave.iter_mut().for_each(|x| *x -= mean);
        wave
    };
    [
        wave(&|t| 1.0 - (2.0 * t - 1.0).abs()),
        wave(&|t| if t < 0.5 { 1.0 } else { -1.0 }),
        wave(&|t| (2.0 * TAU * t).sin()),
    ]
}

/// Trials in which every atom occurs a few times, with noise.
fn trials(
    truth: &Dictionary<f64>,
    (count, samples): (usize, usize),
    noise: f64,
) -> Vec<Observed<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    let extent = Extent::new(&[samples]).unwrap();
    let trial = |_| {
        let mut codes = Vec::new();
        for atom in 0..truth.len() as u32 {
            for _ in 0..rng.random_range(1..3) {
                let position = [0, 0, rng.random_range(0..(samples - LENGTH) as i32)];
                codes.push(Code { position, atom, channel: 0, value: rng.random_range(1.0..3.0) });
            }
        }
        let needles = Needles::new(extent, truth.channels(), Border::Free, codes);
        let mut signal = needles.synthesise(truth).unwrap();
        signal
            .data_mut()
            .iter_mut()
            .for_each(|x| *x += noise * rng.sample::<f64, _>(StandardNormal));
        signal.into()
    };
    (0..count).map(trial).collect()
}

/// Largest product of two patterns over all shifts, of either sign.
fn likeness(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as i32;
    let at = |s: i32| (0.max(-s)..n.min(n - s)).map(move |i| (i as usize, (i + s) as usize));
    (1 - n..n).map(|s| at(s).map(|(i, j)| a[i] * b[j]).sum::<f64>().abs()).fold(0.0, f64::max)
}

#[test]
fn codes_of_known_waves_reconstruct_the_trials() {
    let data = waves()[..2].concat();
    let truth = Dictionary::new(Extent::new(&[LENGTH]).unwrap(), 1, data).unwrap();
    let trials = trials(&truth, (10, 128), 0.0);
    let params = PursuitParams::new(Penalty::Absolute(0.01)).with(|p| {
        p.nonnegative = true;
        p.tolerance = 1e-6;
    });
    let answer = params.check().unwrap().run(&cpu(1), &trials, &truth, &mut ()).unwrap();
    for (trial, needles) in trials.iter().zip(&answer.needles) {
        let rest = trial.signal.minus(&needles.synthesise(&truth).unwrap()).unwrap();
        let energy = |signal: &Signal<f64>| signal.data().iter().map(|x| x * x).sum::<f64>();
        assert!(energy(&rest) < 0.01 * energy(&trial.signal));
        assert!(rest.data().iter().all(|r| r.abs() < 0.1));
    }
}

#[test]
fn the_waves_of_simulated_trials_are_recovered() {
    let extent = Extent::new(&[LENGTH]).unwrap();
    let truth = Dictionary::new(extent, 1, waves()[..2].concat()).unwrap();
    let trials = trials(&truth, (20, 128), 0.05);
    let first = Dictionary::random(extent, 1, 2, 0).unwrap();
    let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
        p.nonnegative = true;
        p.passes = 50;
    });
    let learnt = params.check().unwrap().run(&cpu(1), &trials, &first, &mut ()).unwrap();
    for k in 0..2 {
        let best =
            (0..2).map(|j| likeness(truth.atom(k), learnt.dictionary.atom(j))).fold(0.0, f64::max);
        assert!(best > 0.97, "wave {k} was recovered to {best}");
    }
}

#[test]
fn waves_and_weights_of_a_multichannel_simulation_are_recovered() {
    const CHANNELS: usize = 5;
    let extent = Extent::new(&[LENGTH]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut data = Vec::new();
    for wave in waves() {
        let weights: Vec<f64> = (0..CHANNELS).map(|_| rng.sample(StandardNormal)).collect();
        data.extend(weights.iter().flat_map(|u| wave.iter().map(move |v| u * v)));
    }
    let truth = Dictionary::new(extent, CHANNELS, data).unwrap();
    let trials = trials(&truth, (30, 128), 0.05);
    let first = Dictionary::random(extent, CHANNELS, 3, 1).unwrap();
    let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
        p.nonnegative = true;
        p.rank_one = true;
        p.passes = 60;
    });
    let learnt = params.check().unwrap().run(&cpu(1), &trials, &first, &mut ()).unwrap();
    for (k, found) in recovered(&truth, &learnt.dictionary).into_iter().enumerate() {
        assert!(found > 0.95, "source {k} was recovered to {found}");
    }
}

/// For every source, how well the most similar learnt atom has its weights and its wave.
fn recovered(truth: &Dictionary<f64>, learnt: &Dictionary<f64>) -> Vec<f64> {
    let (found, wanted) = (learnt.factors().unwrap(), truth.factors().unwrap());
    let (channels, length) = (truth.channels(), truth.extent().volume());
    let like = |k: usize, j: usize| {
        let weights =
            wanted.u[channels * k..channels * (k + 1)].iter().zip(&found.u[channels * j..]);
        let weights = weights.map(|(a, b)| a * b).sum::<f64>().abs();
        let [a, b] = [(&wanted.v, k), (&found.v, j)].map(|(v, k)| &v[length * k..length * (k + 1)]);
        weights.min(likeness(a, b))
    };
    let best = |k| (0..learnt.len()).map(|j| like(k, j)).fold(0.0, f64::max);
    (0..truth.len()).map(best).collect()
}

/// White patterns have no similar shifts, so an atom that begins with a part of one stays there
/// unless it moves with its codes.
#[test]
fn white_patterns_in_noise_are_recovered() {
    const CHANNELS: usize = 5;
    let extent = Extent::new(&[LENGTH]).unwrap();
    for seed in 0..4 {
        let mut rng = ChaCha8Rng::seed_from_u64(100 + seed);
        let mut draw = |n: usize| (0..n).map(|_| rng.sample(StandardNormal)).collect::<Vec<f64>>();
        let mut data = Vec::new();
        for _ in 0..2 {
            let (u, v) = (draw(CHANNELS), draw(LENGTH));
            data.extend(u.iter().flat_map(|u| v.iter().map(move |v| u * v)));
        }
        let truth = Dictionary::new(extent, CHANNELS, data).unwrap();
        let trials = trials(&truth, (30, 128), 0.1);
        let first = Dictionary::random(extent, CHANNELS, 2, seed).unwrap();
        // Ten times the default step leaves poor starts behind, but takes more passes to settle.
        let step = Step::ADAGRAD.with_size(0.1);
        let stochastic = Method::Stochastic { step, decay: Decay::None };
        for (method, passes) in [(Method::Atomwise, 60), (Method::Batch, 60), (stochastic, 200)] {
            let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
                p.method = method;
                p.nonnegative = true;
                p.rank_one = true;
                p.passes = passes;
            });
            let learnt = params.check().unwrap().run(&cpu(1), &trials, &first, &mut ()).unwrap();
            let found = recovered(&truth, &learnt.dictionary);
            assert!(found.iter().all(|&found| found > 0.99), "{seed} {method:?}: {found:?}");
        }
    }
}
