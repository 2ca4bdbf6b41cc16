//! The stochastic and the batch method lower the objective for every border, rank, mask and step,
//! and satisfy the guarantees of the learner.

use lobcod::checkpoint::LearnCheckpoint;
use lobcod::learn::{Decay, Method, Step};
use lobcod::{
    Border, Control, Dictionary, Extent, LearnParams, Learnt, Mask, Needles, Observed, Observer,
    Penalty, Progress, PursuitParams, Result, Signal,
};
use lobcod_conformance::cpu;

const PENALTY: f64 = 0.4;
const SGD: Method =
    Method::Stochastic { step: Step::SGD, decay: Decay::Exponential { factor: 0.8 } };

/// Bursts of slanted waves with some noise, depending on the seed.
fn bursts(axes: &[usize], channels: usize, seed: usize) -> Observed<f32> {
    let extent = Extent::new(axes).unwrap();
    let l = extent.padded();
    let sample = |i: usize| {
        let (c, at) = (i / extent.volume(), i % extent.volume());
        let [z, y, x] = [at / (l[1] * l[2]), at / l[2] % l[1], at % l[2]].map(|p| p as f32);
        let wave = (1.1 * x + 0.4 * y + 0.7 * z + c as f32 + seed as f32).sin()
            * (0.21 * (x - y) + z).cos().max(0.0);
        3.0 * wave + (((i + 7919 * seed) * 2_654_435_761 % 1000) as f32 / 1000.0 - 0.5) * 0.4
    };
    Signal::from_planar(extent, channels, (0..channels * extent.volume()).map(sample).collect())
        .unwrap()
        .into()
}

fn learn(params: LearnParams, signals: &[Observed<f32>], first: &Dictionary<f32>) -> Learnt<f32> {
    learn_on(1, params, signals, first)
}

fn learn_on(
    threads: usize,
    params: LearnParams,
    signals: &[Observed<f32>],
    first: &Dictionary<f32>,
) -> Learnt<f32> {
    params.check().unwrap().run(&cpu(threads), signals, first, &mut ()).unwrap()
}

fn params(method: Method) -> LearnParams {
    LearnParams::new(Penalty::Absolute(PENALTY)).with(|p| {
        p.method = method;
        p.passes = 8;
    })
}

/// Quality of a dictionary: the objective of a pursuit with it.
fn worth(signals: &[Observed<f32>], dictionary: &Dictionary<f32>, border: Border) -> f64 {
    let pursuit = PursuitParams::new(Penalty::Absolute(PENALTY)).with(|p| {
        p.border = border;
        p.tolerance = 1e-2;
    });
    pursuit
        .check()
        .unwrap()
        .run(&cpu(1), signals, dictionary, &mut ())
        .unwrap()
        .report
        .total
        .objective
}

#[test]
fn every_step_lowers_the_objective() {
    let signals = [bursts(&[30, 41], 1, 1), bursts(&[37, 22], 1, 2)];
    let first = Dictionary::random(Extent::new(&[5, 6]).unwrap(), 1, 8, 3).unwrap();
    let before = worth(&signals, &first, Border::Free);
    for step in Step::ALL {
        // Sizes for signals of this scale: gradients grow with its square.
        let step = match step {
            Step::Momentum { .. } => step.with_size(1e-3),
            Step::Adam { .. } => step.with_size(0.005),
            Step::Adadelta { .. } => step.with_size(3.0),
            Step::Paper { size, momentum, .. } => {
                Step::Paper { adam_passes: 5, size, momentum_size: 1e-3, momentum }
            }
            other => other,
        };
        let learnt =
            learn(params(Method::Stochastic { step, decay: Decay::None }), &signals, &first);
        let after = worth(&signals, &learnt.dictionary, Border::Free);
        assert!(after < 0.9 * before, "{step}: {before} became {after}");
        for k in 0..8 {
            let norm: f32 = learnt.dictionary.atom(k).iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-5, "{step}: atom {k} has energy {norm}");
        }
    }
}

#[test]
fn steps_that_are_too_large_do_no_lasting_harm() {
    let signals = [bursts(&[30, 41], 1, 1)];
    let first = Dictionary::random(Extent::new(&[5, 6]).unwrap(), 1, 8, 3).unwrap();
    let energy: f64 =
        signals[0].signal.data().iter().map(|&x| 0.5 * f64::from(x) * f64::from(x)).sum();
    let learnt = learn(
        params(Method::Stochastic { step: Step::MOMENTUM.with_size(10.0), decay: Decay::None }),
        &signals,
        &first,
    );
    assert!(
        learnt.report.history.iter().any(|point| point.nonzeros == 0),
        "the steps were not too large"
    );
    assert!(learnt.report.history.iter().all(|point| point.objective <= energy * (1.0 + 1e-6)));
    assert!(learnt.report.pursuit.total.objective < energy);
}

#[test]
fn the_objective_falls_for_every_border_rank_and_number_of_channels() {
    let shapes: [(&[usize], &[usize], usize, usize); 4] = [
        (&[400], &[9], 1, 1),
        (&[25, 32], &[4, 5], 3, 3),
        (&[24, 21], &[4, 4], 2, 1),
        (&[9, 10, 12], &[3, 3, 3], 1, 1),
    ];
    for (axes, atom, channels, atom_channels) in shapes {
        let signals = [bursts(axes, channels, 1), bursts(axes, channels, 5)];
        let first = Dictionary::random(Extent::new(atom).unwrap(), atom_channels, 6, 3).unwrap();
        for border in Border::ALL {
            let before = worth(&signals, &first, border);
            for method in [SGD, Method::Batch] {
                let learnt = learn(params(method).with(|p| p.border = border), &signals, &first);
                let after = worth(&signals, &learnt.dictionary, border);
                assert!(
                    after < 0.95 * before,
                    "{axes:?} {border} {method:?}: {before} became {after}"
                );
            }
        }
    }
}

#[test]
fn the_batch_objective_never_rises() {
    let signals = [bursts(&[30, 41], 1, 1), bursts(&[37, 22], 1, 2)];
    let first = Dictionary::random(Extent::new(&[5, 6]).unwrap(), 1, 8, 3).unwrap();
    for border in Border::ALL {
        let learnt = learn(
            params(Method::Batch).with(|p| {
                p.border = border;
                p.passes = 30;
            }),
            &signals,
            &first,
        );
        for pair in learnt.report.history.windows(2) {
            let risen = pair[1].objective > pair[0].objective;
            assert!(
                !risen || pair[1].merged_atoms > 0,
                "{border}: {} after {}",
                pair[1].objective,
                pair[0].objective
            );
        }
        let last = learnt.report.history.last().unwrap().objective;
        assert!(learnt.report.pursuit.total.objective <= last * (1.0 + 1e-6));
    }
}

/// Stores the last checkpoint.
struct Last(Option<LearnCheckpoint>);

impl Observer for Last {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        self.0 = take().ok();
    }
}

#[test]
fn the_objective_reported_is_that_of_dictionary_and_needles() {
    let signals = [bursts(&[30, 41], 1, 1), bursts(&[37, 22], 1, 2)];
    let extent = Extent::new(&[5, 6]).unwrap();
    let first = Dictionary::random(extent, 1, 8, 3).unwrap();
    for method in [SGD, Method::STOCHASTIC, Method::Batch] {
        let mut last = Last(None);
        params(method).check().unwrap().run(&cpu(0), &signals, &first, &mut last).unwrap();
        let checkpoint = last.0.unwrap();
        let dictionary = Dictionary::new(extent, 1, checkpoint.dictionary).unwrap();
        let mut objective = 0.0;
        for (observed, codes) in signals.iter().zip(checkpoint.codes) {
            objective += codes.iter().map(|c| PENALTY * c.value.abs()).sum::<f64>();
            let made = Needles::new(observed.signal.extent(), 1, Border::Free, codes)
                .synthesise(&dictionary)
                .unwrap();
            let rest = observed.signal.cast::<f64>().minus(&made).unwrap();
            objective += rest.data().iter().map(|r| 0.5 * r * r).sum::<f64>();
        }
        let reported = checkpoint.history.last().unwrap().objective;
        assert!(
            (objective / reported - 1.0).abs() < 1e-5,
            "{method:?}: {objective}, reported {reported}"
        );
    }
}

#[test]
fn threads_change_no_bit_and_the_seed_decides_the_order() {
    let signals = [bursts(&[50, 61], 1, 1), bursts(&[37, 42], 1, 2), bursts(&[40, 33], 1, 3)];
    let first = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 8, 1).unwrap();
    for method in [SGD, Method::STOCHASTIC, Method::Batch] {
        let [one, two, three] =
            [1, 2, 3].map(|threads| learn_on(threads, params(method), &signals, &first));
        for other in [two, three] {
            assert_eq!(one.dictionary, other.dictionary, "{method:?}");
            assert_eq!(one.needles, other.needles, "{method:?}");
            assert_eq!(one.report.pursuit.total, other.report.pursuit.total, "{method:?}");
        }
        let other = learn(params(method).with(|p| p.seed = 1), &signals, &first);
        assert_eq!(one.dictionary == other.dictionary, method == Method::Batch, "{method:?}");
    }
}

#[test]
fn masked_samples_do_not_affect_learning() {
    let first = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 8, 1).unwrap();
    let known: Vec<bool> = (0..1600).map(|i| i * 37 % 10 > 2).collect();
    for method in [SGD, Method::Batch] {
        let [clean, spoilt] = [0.0, f32::NAN].map(|hidden| {
            let mut observed = bursts(&[40, 40], 1, 1);
            observed
                .signal
                .data_mut()
                .iter_mut()
                .zip(&known)
                .for_each(|(x, &k)| *x = if k { *x } else { hidden });
            observed.mask = Some(Mask::from_known(observed.signal.extent(), &known).unwrap());
            let before = worth(std::slice::from_ref(&observed), &first, Border::Free);
            let learnt = learn(params(method), std::slice::from_ref(&observed), &first);
            let after = worth(std::slice::from_ref(&observed), &learnt.dictionary, Border::Free);
            assert!(after < 0.95 * before, "{method:?}: {before} became {after}");
            learnt.dictionary
        });
        assert_eq!(clean, spoilt, "{method:?}");
    }
}

#[test]
fn an_unused_atom_is_replaced_by_data() {
    // Slow waves, and one atom alternating from sample to sample, which they do not contain.
    let extent = Extent::new(&[8]).unwrap();
    let wave = |i: usize| 5.0 * (i as f32 * 0.2).sin() + 3.0 * (i as f32 * 0.043).cos();
    let signal =
        Signal::from_planar(Extent::new(&[400]).unwrap(), 1, (0..400).map(wave).collect()).unwrap();
    let mut data = Dictionary::<f32>::dct(extent, 1, 3).unwrap().data().to_vec();
    data.extend((0..8).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }));
    let first = Dictionary::new(extent, 1, data).unwrap();
    for method in [Method::Atomwise, SGD, Method::Batch] {
        let params = LearnParams::new(Penalty::Absolute(1.0)).with(|p| {
            p.method = method;
            p.passes = 6;
        });
        let learnt = learn(params, &[signal.clone().into()], &first);
        assert!(learnt.report.replaced_atoms > 0, "{method:?}: the idle atom was kept");
        let same: f32 =
            learnt.dictionary.atom(3).iter().zip(first.atom(3)).map(|(a, b)| a * b).sum();
        assert!(same.abs() < 0.9, "{method:?}: the idle atom is still there: {same}");
    }
}

#[test]
fn steps_and_decays_out_of_range_are_rejected() {
    let refused = |step, decay| {
        let params = params(Method::Stochastic { step, decay });
        params.check().unwrap_err().to_string()
    };
    assert!(
        refused(Step::SGD.with_size(0.0), Decay::None)
            .contains("step size is 0, but must be a number above 0")
    );
    assert!(refused(Step::PAPER.with_size(f64::NAN), Decay::None).contains("step size"));
    assert!(
        refused(Step::Momentum { size: 0.1, momentum: 1.0 }, Decay::None)
            .contains("forgetting factor of the step is 1")
    );
    assert!(
        refused(
            Step::Adam { size: 0.1, momentum: 0.9, forgetting: -0.1, guard: 1e-8 },
            Decay::None
        )
        .contains("-0.1")
    );
    assert!(refused(Step::Adagrad { size: 0.1, guard: 0.0 }, Decay::None).contains("guard"));
    assert!(refused(Step::SGD, Decay::Online { images: 0 }).contains("at least 1"));
    assert!(refused(Step::SGD, Decay::Exponential { factor: 1.5 }).contains("at most 1"));
}

#[test]
fn steps_have_names() {
    for step in Step::ALL {
        assert_eq!(step.to_string().parse::<Step>().unwrap(), step);
        assert_eq!(step.with_size(0.5).size(), 0.5);
    }
    assert!("newton".parse::<Step>().unwrap_err().to_string().contains("adadelta"));
}

#[test]
fn decays_are_read_and_written() {
    for decay in [Decay::None, Decay::Online { images: 7 }, Decay::Exponential { factor: 0.9 }] {
        assert_eq!(decay.to_string().parse::<Decay>().unwrap(), decay);
    }
    assert_eq!("online".parse::<Decay>().unwrap(), Decay::Online { images: 200 });
    for wrong in [
        "",
        "some",
        "online:",
        "online:0",
        "online:-3",
        "exponential",
        "exponential:0",
        "exponential:1.1",
        "none:1",
    ] {
        assert!(wrong.parse::<Decay>().is_err(), "{wrong} was accepted");
    }
}
