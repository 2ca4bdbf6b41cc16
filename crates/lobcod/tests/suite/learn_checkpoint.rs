//! Learning interrupted between any two passes and resumed gives a bit-identical answer.

use lobcod::checkpoint::LearnCheckpoint;
use lobcod::learn::{Decay, Method, Step};
use lobcod::{
    Border, Control, Dictionary, Extent, LearnParams, Learner, Mask, Observed, Observer, Penalty,
    Progress, Result, Signal, Status,
};
use lobcod_conformance::cpu;

/// Stores every checkpoint, and stops at the second progress report of a pass.
#[derive(Default)]
struct Keeper {
    checkpoints: Vec<LearnCheckpoint>,
    stop_in: Option<usize>,
    words: usize,
}

impl Observer for Keeper {
    fn progress(&mut self, progress: &Progress) -> Control {
        if self.stop_in.is_none() || progress.pass != self.stop_in {
            return Control::Continue;
        }
        self.words += 1;
        if self.words < 2 { Control::Continue } else { Control::Stop }
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        self.checkpoints.extend(take());
    }
}

fn problem() -> (Vec<Observed<f32>>, Dictionary<f32>) {
    let signal = |h: usize, w: usize, phase: f32| {
        let wave = |i: usize| {
            ((i % w) as f32 * 0.9 + phase).sin()
                + ((i / w) as f32 * 0.31 * phase).cos()
                + (i * i % 17) as f32 * 0.1
        };
        Signal::from_planar(Extent::new(&[h, w]).unwrap(), 1, (0..h * w).map(wave).collect())
            .unwrap()
    };
    let known = (0..29 * 41).map(|i| if i % 7 == 0 { 0.0 } else { 1.0 }).collect();
    let mask =
        Mask::new(Signal::from_planar(Extent::new(&[29, 41]).unwrap(), 1, known).unwrap()).unwrap();
    let dictionary = Dictionary::random(Extent::new(&[4, 5]).unwrap(), 1, 12, 3).unwrap();
    (
        vec![
            Observed { mask: Some(mask), ..signal(29, 41, 1.0).into() },
            signal(17, 23, 2.0).into(),
        ],
        dictionary,
    )
}

fn learner(method: Method, smooth_layer: f64) -> Learner {
    let params = LearnParams::new(Penalty::Relative(0.05));
    params
        .with(|p| {
            p.method = method;
            p.smooth_layer = smooth_layer;
            p.border = Border::Zero;
            p.passes = 19;
        })
        .check()
        .unwrap()
}

/// The paper's schedule with both of its rules within the passes of this test.
const PAPER: Step = Step::Paper { adam_passes: 8, size: 0.02, momentum_size: 1e-4, momentum: 0.8 };
const METHODS: [Method; 5] = [
    Method::Atomwise,
    Method::Stochastic { step: PAPER, decay: Decay::None },
    Method::Stochastic { step: Step::SGD, decay: Decay::Exponential { factor: 0.9 } },
    Method::Stochastic { step: Step::ADADELTA, decay: Decay::Online { images: 5 } },
    Method::Batch,
];

#[test]
fn resumed_learning_is_bit_identical() {
    let (signals, first) = problem();
    let with_layers = [(Method::Atomwise, 5.0), (Method::STOCHASTIC, 5.0)];
    for (method, smooth_layer) in METHODS.map(|method| (method, 0.0)).into_iter().chain(with_layers)
    {
        let learner = learner(method, smooth_layer);
        let mut keeper = Keeper::default();
        let whole = learner.run(&cpu(0), &signals, &first, &mut keeper).unwrap();
        assert_eq!(keeper.checkpoints.len(), 19);
        for checkpoint in keeper.checkpoints.iter().step_by(3) {
            let resumed = learner.resume(&cpu(0), checkpoint, &signals, &first, &mut ()).unwrap();
            assert_eq!(
                resumed.dictionary,
                whole.dictionary,
                "{method:?} after {} passes",
                checkpoint.history.len()
            );
            assert_eq!(resumed.needles, whole.needles);
            assert_eq!(resumed.report.pursuit.total, whole.report.pursuit.total);
            assert_eq!(resumed.report.passes, whole.report.passes);
        }
    }
}

#[test]
fn stopped_in_the_middle_of_a_pass_it_resumes_from_the_last_boundary() {
    let (signals, first) = problem();
    for method in METHODS {
        let learner = learner(method, 0.0);
        let whole = learner.run(&cpu(0), &signals, &first, &mut ()).unwrap();
        let mut keeper = Keeper { stop_in: Some(6), ..Keeper::default() };
        let stopped = learner.run(&cpu(0), &signals, &first, &mut keeper).unwrap();
        assert_eq!(stopped.report.status, Status::Interrupted);
        assert_eq!(keeper.checkpoints.len(), 5, "{method:?}");
        let last = &keeper.checkpoints[4];
        let current: Vec<f64> = stopped.dictionary.data().iter().map(|&x| f64::from(x)).collect();
        assert_eq!(current, last.dictionary, "an unfinished pass was not discarded");
        let resumed = learner.resume(&cpu(0), last, &signals, &first, &mut ()).unwrap();
        assert_eq!(resumed.dictionary, whole.dictionary);
    }
}

#[test]
fn a_checkpoint_of_something_else_is_rejected() {
    let (signals, first) = problem();
    let mut keeper = Keeper::default();
    learner(Method::Atomwise, 0.0).run(&cpu(0), &signals, &first, &mut keeper).unwrap();
    let checkpoint = &keeper.checkpoints[4];
    let refused = |learner: Learner, checkpoint: &LearnCheckpoint, signals: &[Observed<f32>]| {
        learner.resume(&cpu(0), checkpoint, signals, &first, &mut ()).unwrap_err().to_string()
    };
    let other =
        learner(Method::Atomwise, 0.0).params().clone().with(|p| p.seed = 9).check().unwrap();
    assert!(refused(other, checkpoint, &signals).contains("other parameters"));
    assert!(
        refused(learner(Method::Atomwise, 0.0), checkpoint, &signals[..1])
            .contains("other signals")
    );
    let mut damaged = checkpoint.clone();
    damaged.learner.clear();
    assert!(refused(learner(Method::Atomwise, 0.0), &damaged, &signals).contains("damaged"));
    let mut damaged = checkpoint.clone();
    damaged.dictionary.pop();
    assert!(refused(learner(Method::Atomwise, 0.0), &damaged, &signals).contains("damaged"));
    let mut damaged = checkpoint.clone();
    damaged.codes[0][0].atom = 12;
    refused(learner(Method::Atomwise, 0.0), &damaged, &signals);
}
