//! Constraints on codes and atoms hold after learning with every method, one by one and in pairs;
//! the objective, recomputed here, never rises.

use lobcod::checkpoint::LearnCheckpoint;
use lobcod::dictionary::Window;
use lobcod::learn::{Decay, Method, Step};
use lobcod::{
    Border, Code, Control, Dictionary, Extent, LearnParams, Learnt, Mask, Needles, Observed,
    Observer, Penalty, Progress, Result,
};
use lobcod_conformance::cpu;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const PENALTY: f64 = 0.3;
const CHANNELS: usize = 3;
const LENGTH: usize = 9;
const FROZEN: usize = 2;
const METHODS: [Method; 3] = [
    Method::Atomwise,
    Method::Batch,
    Method::Stochastic { step: Step::SGD, decay: Decay::Exponential { factor: 0.8 } },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    Nonnegative,
    ZeroMean,
    Window,
    RankOne,
    Frozen,
    Grow,
    Sort,
    Sizes,
}

const MODELS: [Model; 8] = [
    Model::Nonnegative,
    Model::ZeroMean,
    Model::Window,
    Model::RankOne,
    Model::Frozen,
    Model::Grow,
    Model::Sort,
    Model::Sizes,
];

impl Model {
    fn set(self, params: &mut LearnParams) {
        match self {
            Model::Nonnegative => params.nonnegative = true,
            Model::ZeroMean => params.zero_mean = true,
            Model::Window => params.window = Some(Window::Tukey(0.5)),
            Model::RankOne => params.rank_one = true,
            Model::Frozen => params.frozen = FROZEN,
            Model::Grow => params.grow = true,
            Model::Sort => params.sort = true,
            Model::Sizes => params.sizes = sizes(),
        }
    }
}

/// Sizes of five atoms in a box of `LENGTH`.
fn sizes() -> Vec<Extent> {
    [4, 4, 7, LENGTH, 5].map(|length| Extent::new(&[length]).unwrap()).to_vec()
}

/// Multichannel signals of planted atoms of random signs, with noise; the first with a mask.
fn signals(axes: &[usize], atom: &[usize]) -> Vec<Observed<f64>> {
    let truth = Dictionary::<f64>::random(Extent::new(atom).unwrap(), CHANNELS, 3, 5).unwrap();
    let extent = Extent::new(axes).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (l, h) = (extent.padded(), truth.extent().padded());
    let mut one = |masked: bool| {
        let codes = (0..extent.volume() / 12).map(|_| Code {
            position: std::array::from_fn(|a| rng.random_range(1 - h[a] as i32..l[a] as i32)),
            atom: rng.random_range(0..3),
            channel: 0,
            value: rng.random_range(-3.0..3.0),
        });
        let codes = codes.collect();
        let mut signal =
            Needles::new(extent, CHANNELS, Border::Free, codes).synthesise(&truth).unwrap();
        signal.data_mut().iter_mut().for_each(|x| *x += rng.random_range(-0.1..0.1));
        let known: Vec<bool> = (0..extent.volume()).map(|i| i % 11 != 3).collect();
        let mask = masked.then(|| Mask::from_known(extent, &known).unwrap());
        Observed { mask, ..signal.into() }
    };
    vec![one(true), one(false)]
}

fn params(method: Method, models: &[Model]) -> LearnParams {
    let mut params = LearnParams::new(Penalty::Absolute(PENALTY)).with(|p| {
        p.method = method;
        p.passes = 10;
        p.tolerance = 1e-4;
    });
    models.iter().for_each(|model| model.set(&mut params));
    if models.contains(&Model::Sizes) {
        params.sizes.drain(..params.frozen);
    }
    params
}

/// The objective of dictionary and needles, from scratch (free border).
fn objective(signals: &[Observed<f64>], learnt: &Learnt<f64>) -> f64 {
    let pairs = signals.iter().zip(&learnt.needles);
    let one = |(observed, needles): (&Observed<f64>, &Needles<f64>)| {
        let made = needles.synthesise(&learnt.dictionary).unwrap();
        let rest = observed.signal.minus(&made).unwrap();
        let weight = |i: usize| observed.mask.as_ref().map_or(1.0, |m| m.weights().data()[i]);
        let volume = observed.signal.extent().volume();
        let data: f64 =
            rest.data().iter().enumerate().map(|(i, r)| weight(i % volume).powi(2) * r * r).sum();
        0.5 * data + PENALTY * needles.codes().iter().map(|c| c.value.abs()).sum::<f64>()
    };
    pairs.map(one).sum()
}

/// Energy of what every atom adds to the signals.
fn explained(learnt: &Learnt<f64>) -> Vec<f64> {
    let of = |k: usize, needles: &Needles<f64>| -> f64 {
        let own = needles.codes().iter().filter(|c| c.atom as usize == k).copied().collect();
        let own = Needles::new(needles.extent(), needles.channels(), needles.border(), own);
        own.synthesise(&learnt.dictionary).unwrap().data().iter().map(|x| x * x).sum()
    };
    (0..learnt.dictionary.len()).map(|k| learnt.needles.iter().map(|n| of(k, n)).sum()).collect()
}

/// The largest 2x2 minor of an atom: 0 if it has rank 1.
fn largest_minor(atom: &[f64], channels: usize) -> f64 {
    let (n, mut most) = (atom.len() / channels, 0.0f64);
    for c in 0..channels {
        for e in c + 1..channels {
            for i in 0..n {
                for j in i + 1..n {
                    let minor =
                        atom[c * n + i] * atom[e * n + j] - atom[c * n + j] * atom[e * n + i];
                    most = most.max(minor.abs());
                }
            }
        }
    }
    most
}

fn check_atoms(name: &str, models: &[Model], first: &Dictionary<f64>, learnt: &Dictionary<f64>) {
    let (has, n) = (|model| models.contains(&model), learnt.extent().volume());
    let free = if has(Model::Frozen) { FROZEN } else { 0 };
    if has(Model::Sizes) {
        check_sizes(name, models, free, learnt);
    }
    for k in 0..free {
        assert_eq!(learnt.atom(k), first.atom(k), "{name}: frozen atom {k} moved");
    }
    for k in free..learnt.len() {
        let atom = learnt.atom(k);
        let norm: f64 = atom.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-9, "{name}: atom {k} has energy {norm}");
        assert_ne!(atom, first.atom(k), "{name}: atom {k} did not move");
        for channel in atom.chunks_exact(n) {
            let sum: f64 = channel.iter().sum();
            assert!(!has(Model::ZeroMean) || sum.abs() < 1e-12, "{name}: atom {k} has sum {sum}");
            let ends = channel[0].abs() + channel[n - 1].abs();
            assert!(!has(Model::Window) || ends == 0.0, "{name}: atom {k} ends at {ends}");
        }
        let minor = largest_minor(atom, learnt.channels());
        assert!(!has(Model::RankOne) || minor < 1e-12, "{name}: atom {k} has a minor of {minor}");
    }
    assert_eq!(learnt.factors().is_some(), has(Model::RankOne) && free == 0, "{name}");
}

/// Samples outside the size of an atom are 0; those inside are not.
fn check_sizes(name: &str, models: &[Model], free: usize, learnt: &Dictionary<f64>) {
    let n = learnt.extent().volume();
    let length = |k: usize| {
        let last = |channel: &[f64]| channel.iter().rposition(|x| *x != 0.0).map_or(0, |at| at + 1);
        learnt.atom(k).chunks_exact(n).map(last).max().unwrap_or(0)
    };
    let mut lengths: Vec<usize> = (free..learnt.len()).map(length).collect();
    // The last sample of a window is 0.
    let window = usize::from(models.contains(&Model::Window));
    let mut wanted: Vec<usize> = sizes()[free..].iter().map(|s| s.volume() - window).collect();
    if models.contains(&Model::Sort) {
        lengths.sort();
        wanted.sort();
    }
    assert_eq!(lengths, wanted, "{name}");
}

#[test]
fn every_pair_of_models_works_with_every_method_or_is_refused() {
    let signals = signals(&[150], &[LENGTH]);
    let first = Dictionary::random(Extent::new(&[LENGTH]).unwrap(), CHANNELS, 5, 8).unwrap();
    for method in METHODS {
        for (i, &one) in MODELS.iter().enumerate() {
            for &other in &MODELS[i..] {
                let models = [one, other];
                let name = format!("{method:?} {models:?}");
                let params = params(method, &models);
                let border = params.border;
                let learner = match params.check() {
                    Ok(learner) => learner,
                    Err(error) => {
                        let stochastic = matches!(method, Method::Stochastic { .. });
                        assert!(stochastic && models.contains(&Model::Grow), "{name}: {error}");
                        continue;
                    }
                };
                let learnt = learner.run(&cpu(1), &signals, &first, &mut ()).unwrap();
                check_atoms(&name, &models, &first, &learnt.dictionary);
                let codes = || learnt.needles.iter().flat_map(|needles| needles.codes());
                assert!(!models.contains(&Model::Nonnegative) || codes().all(|c| c.value > 0.0));
                assert!(codes().count() > 5, "{name}: nothing was coded");
                if models.contains(&Model::Sort) {
                    let free = if models.contains(&Model::Frozen) { FROZEN } else { 0 };
                    let energies = explained(&learnt);
                    let falls = |pair: &[f64]| pair[0] >= pair[1];
                    assert!(energies[free..].windows(2).all(falls), "{name}: {energies:?}");
                }
                let (found, reported) = (objective(&signals, &learnt), &learnt.report);
                assert!((found / reported.pursuit.total.objective - 1.0).abs() < 1e-9, "{name}");
                assert_eq!(border, Border::Free);
                if matches!(method, Method::Stochastic { .. }) {
                    continue;
                }
                let mut highest = f64::INFINITY;
                for point in &reported.history {
                    assert!(
                        point.objective <= highest || point.merged_atoms > 0,
                        "{name}: {} after {highest} in pass {}",
                        point.objective,
                        point.pass
                    );
                    highest = point.objective;
                }
            }
        }
    }
}

#[test]
fn a_stream_keeps_every_pair_of_constraints_and_refuses_the_rest() {
    let signals = signals(&[150], &[LENGTH]);
    let first = Dictionary::random(Extent::new(&[LENGTH]).unwrap(), CHANNELS, 5, 8).unwrap();
    for (i, &one) in MODELS.iter().enumerate() {
        for &other in &MODELS[i..] {
            let models = [one, other];
            let name = format!("stream {models:?}");
            let stream = params(Method::Atomwise, &models).check().unwrap().stream(&first);
            if models.contains(&Model::Grow) || models.contains(&Model::Sort) {
                assert!(stream.unwrap_err().to_string().contains("a stream never"), "{name}");
                continue;
            }
            let mut stream = stream.unwrap();
            for observed in &signals {
                stream.partial_fit(&cpu(1), std::slice::from_ref(observed), &mut ()).unwrap();
            }
            check_atoms(&name, &models, &first, stream.dictionary());
        }
    }
}

#[test]
fn constraints_hold_in_two_dimensions_and_for_every_border() {
    let signals = signals(&[18, 21], &[5, 6]);
    let first = Dictionary::random(Extent::new(&[5, 6]).unwrap(), CHANNELS, 6, 8).unwrap();
    let models = [Model::ZeroMean, Model::Window, Model::RankOne, Model::Nonnegative];
    for border in Border::ALL {
        for method in METHODS {
            let params = params(method, &models).with(|p| p.border = border);
            let learnt = params.check().unwrap().run(&cpu(1), &signals, &first, &mut ()).unwrap();
            check_atoms(&format!("{border} {method:?}"), &models, &first, &learnt.dictionary);
            let history = &learnt.report.history;
            assert!(history.last().unwrap().objective < history[0].objective);
        }
    }
}

#[test]
fn nonnegative_learning_recovers_planted_atoms() {
    let extent = Extent::new(&[LENGTH]).unwrap();
    let truth = Dictionary::<f64>::random(extent, 1, 3, 21).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let codes = (0..90).map(|_| Code {
        position: [0, 0, rng.random_range(-8..1500)],
        atom: rng.random_range(0..3),
        channel: 0,
        value: rng.random_range(1.0..3.0),
    });
    let codes = codes.collect();
    let needles = Needles::new(Extent::new(&[1500]).unwrap(), 1, Border::Free, codes);
    let observed: Observed<f64> = needles.synthesise(&truth).unwrap().into();
    let first = Dictionary::random(extent, 1, 3, 2).unwrap();
    let params = params(Method::Atomwise, &[Model::Nonnegative]).with(|p| p.passes = 60);
    let learnt = params.check().unwrap().run(&cpu(1), &[observed], &first, &mut ()).unwrap();
    for k in 0..3 {
        let shifted = |j: usize, s: i32| -> f64 {
            let at = |i: usize| usize::try_from(i as i32 + s).ok().filter(|&i| i < LENGTH);
            (0..LENGTH)
                .filter_map(|i| at(i).map(|at| truth.atom(k)[i] * learnt.dictionary.atom(j)[at]))
                .sum()
        };
        // With the sign: a non-negative code cannot use an atom upside down.
        let best = (0..3)
            .flat_map(|j| (-8..9).map(move |s| (j, s)))
            .map(|(j, s)| shifted(j, s))
            .fold(0.0, f64::max);
        assert!(best > 0.97, "atom {k} was recovered to {best}");
    }
}

/// Stores every checkpoint.
#[derive(Default)]
struct Keeper(Vec<LearnCheckpoint>);

impl Observer for Keeper {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        self.0.extend(take());
    }
}

#[test]
fn constrained_and_growing_learning_resumes_bit_by_bit() {
    let signals = signals(&[120], &[LENGTH]);
    let first = Dictionary::random(Extent::new(&[LENGTH]).unwrap(), CHANNELS, 5, 8).unwrap();
    for models in [
        &[Model::Grow, Model::Frozen][..],
        &[Model::RankOne, Model::Window, Model::ZeroMean, Model::Nonnegative, Model::Sort],
    ] {
        for method in [Method::Atomwise, Method::Batch] {
            let learner = params(method, models).check().unwrap();
            let mut keeper = Keeper::default();
            let whole = learner.run(&cpu(1), &signals, &first, &mut keeper).unwrap();
            assert_eq!(keeper.0.len(), 10);
            for checkpoint in keeper.0.iter().step_by(3) {
                let resumed =
                    learner.resume(&cpu(2), checkpoint, &signals, &first, &mut ()).unwrap();
                assert_eq!(resumed.dictionary, whole.dictionary);
                assert_eq!(resumed.needles, whole.needles);
            }
            if models.contains(&Model::Grow) {
                let atoms = |c: &LearnCheckpoint| c.dictionary.len() / first.atom_len();
                let counts: Vec<usize> = keeper.0.iter().map(atoms).collect();
                assert_eq!(counts, [3, 3, 3, 4, 4, 4, 5, 5, 5, 5]);
            }
            // Every model is part of the fingerprint, except the order of the answer.
            for model in MODELS.into_iter().filter(|m| !models.contains(m) && *m != Model::Sort) {
                let other = params(method, &[models, &[model]].concat()).check().unwrap();
                let error =
                    other.resume(&cpu(1), &keeper.0[1], &signals, &first, &mut ()).unwrap_err();
                assert!(error.to_string().contains("other parameters"), "{model:?}: {error}");
            }
        }
    }
}

#[test]
fn wrong_constraints_are_refused_in_a_sentence() {
    let signals = signals(&[60], &[LENGTH]);
    let extent = Extent::new(&[LENGTH]).unwrap();
    let first = Dictionary::random(extent, CHANNELS, 2, 8).unwrap();
    let learn = |models: &[Model], first: &Dictionary<f64>| {
        let learner = params(Method::Atomwise, models).with(|p| p.passes = 3).check().unwrap();
        learner.run(&cpu(1), &signals, first, &mut ()).unwrap_err().to_string()
    };
    assert!(learn(&[Model::Frozen], &first).contains("there must be one to learn"));
    let many = Dictionary::random(extent, CHANNELS, 5, 8).unwrap();
    assert!(learn(&[Model::Grow], &many).contains("number of passes is 3"));
    let constant = Dictionary::new(extent, CHANNELS, vec![1.0; LENGTH * CHANNELS]).unwrap();
    assert!(learn(&[Model::ZeroMean], &constant).contains("initial atom 0"));
    let grey = Dictionary::random(extent, 1, 5, 8).unwrap();
    assert!(learn(&[Model::RankOne], &grey).contains("several channels"));
    assert!(learn(&[Model::Sizes], &first).contains("5 sizes for 2 atoms"));
    let small = Dictionary::random(Extent::new(&[6]).unwrap(), CHANNELS, 5, 8).unwrap();
    assert!(learn(&[Model::Sizes], &small).contains("do not fit into the box of 6"));
    let short = Dictionary::random(Extent::new(&[2]).unwrap(), CHANNELS, 5, 8).unwrap();
    assert!(learn(&[Model::Window], &short).contains("at least 3 samples"));
    for wrong in ["tukey", "tukey:", "tukey:0", "tukey:1.1", "tukey:x", "hann:0.5"] {
        assert!(wrong.parse::<Window>().is_err(), "{wrong} was accepted");
    }
    assert_eq!("tukey:0.25".parse::<Window>().unwrap().to_string(), "tukey:0.25");
    let params = LearnParams::new(Penalty::Absolute(1.0)).with(|p| {
        p.window = Some(Window::Tukey(f64::NAN));
    });
    assert!(params.check().unwrap_err().to_string().contains("tapered fraction"));
}
