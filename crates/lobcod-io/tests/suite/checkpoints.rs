//! Checkpoints round-trip; damaged ones and those of another kind are refused.

use lobcod::checkpoint::{Checkpoint, LearnCheckpoint, LearnerState, ScheduleState};
use lobcod::engine::State;
use lobcod::learn::{Decay, LearnPoint, Method, Step};
use lobcod::pursuit::HistoryPoint;
use lobcod::{
    Border, Code, Control, Dictionary, Extent, LearnParams, Learner, Observed, Observer, Penalty,
    Progress, Pursuit, PursuitParams, Signal, Status,
};
use lobcod_conformance::cpu;
use lobcod_io::{
    Result, read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint,
};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

/// Distance between tested bytes: not a multiple of number sizes, so that every byte of a number is
/// tested.
const STRIDE: usize = 11;

fn code(x: i32, value: f64) -> Code<f64> {
    Code { position: [0, -3, x], atom: 7, channel: 0, value }
}

fn pursuit() -> Checkpoint {
    Checkpoint {
        fingerprint: 0xfedc_ba98_7654_3210,
        seconds: 1.5,
        discovery_sweeps: 4,
        support_sweeps: 30,
        schedule: ScheduleState {
            stage_penalty: 2.0,
            tolerance: 1e-4,
            candidate_slack: Some(2e-4),
            best_gap: f64::INFINITY,
            best_objective: 12.25,
            idle_passes: 2,
        },
        state: State {
            codes: vec![vec![code(1, 0.1), code(2, -0.2)], vec![], vec![code(5, 3.0)]],
            pending: vec![vec![0.5, f64::INFINITY]],
        },
        layers: vec![1.0, 0.25, -0.5],
        history: vec![
            HistoryPoint { seconds: 0.5, objective: 20.0, nonzeros: 1, relative_gap: None },
            HistoryPoint { seconds: 1.0, objective: 12.25, nonzeros: 3, relative_gap: Some(0.25) },
        ],
    }
}

fn learning() -> LearnCheckpoint {
    let point = |pass: usize| LearnPoint {
        seconds: 0.1 * pass as f64,
        pass,
        objective: 20.0 / pass as f64,
        data_term: 1.0 / 3.0,
        nonzeros: 4,
        replaced_atoms: pass - 1,
        merged_atoms: 2 * pass,
    };
    LearnCheckpoint {
        fingerprint: 0x8000_0000_0000_0001,
        seconds: 0.1 + 0.2,
        penalty: f64::MIN_POSITIVE / 8.0,
        dictionary: vec![1.0 / 3.0, -0.0, 0.0, f64::EPSILON, -1e300, f64::INFINITY],
        codes: vec![vec![], vec![code(1, 0.1), code(-2, 3.0)], vec![]],
        history: vec![point(1), point(2)],
        learner: LearnerState::from([
            ("before".into(), vec![0.25, -0.0]),
            ("steps taken".into(), vec![]),
            ("größe".into(), vec![7.0]),
        ]),
    }
}

/// Both kinds, each with a function that writes a sample and one that reads a file into a bit-exact
/// string.
type Kind = (&'static str, fn(&Path) -> Result<()>, fn(&Path) -> Result<String>);
const KINDS: [Kind; 2] = [
    (
        "pursuit",
        |path| write_checkpoint(path, &pursuit(), None),
        |path| read_checkpoint(path).map(|c| words(&c)),
    ),
    (
        "learning",
        |path| write_learn_checkpoint(path, &learning(), None),
        |path| read_learn_checkpoint(path).map(|c| words(&c)),
    ),
];

/// Debug prints the shortest digits that give the same bits, and the sign of zeros.
fn words(checkpoint: &impl Debug) -> String {
    format!("{checkpoint:?}")
}

#[test]
fn a_checkpoint_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    write_checkpoint(&path, &pursuit(), None).unwrap();
    assert_eq!(read_checkpoint(&path).unwrap(), pursuit());
    write_learn_checkpoint(&path, &learning(), None).unwrap();
    assert_eq!(read_learn_checkpoint(&path).unwrap(), learning());
    assert_eq!(words(&read_learn_checkpoint(&path).unwrap()), words(&learning()));
    write_learn_checkpoint(&path, &LearnCheckpoint::default(), None).unwrap();
    assert_eq!(read_learn_checkpoint(&path).unwrap(), LearnCheckpoint::default());
}

#[test]
fn a_truncated_checkpoint_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for (kind, write, read) in KINDS {
        write(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in (0..whole.len()).step_by(STRIDE) {
            fs::write(&path, &whole[..cut]).unwrap();
            let error = read(&path).expect_err("a truncated file must be refused").to_string();
            assert!(error.contains("run.checkpoint") && !error.contains('\n'), "{kind}: {error}");
        }
    }
}

#[test]
fn a_changed_byte_is_refused_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for (kind, write, read) in KINDS {
        write(&path).unwrap();
        let (whole, sound) = (fs::read(&path).unwrap(), read(&path).unwrap());
        let (mut tried, mut refused) = (0, 0);
        for at in (0..whole.len()).step_by(STRIDE) {
            tried += 1;
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, &changed).unwrap();
            match read(&path) {
                Ok(read) => assert_eq!(read, sound, "{kind}: byte {at} went unnoticed"),
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().contains('\n'), "{kind}: {error}");
                }
            }
        }
        // Most bytes are data; dates and similar fields may have any value.
        assert!(refused > tried / 2, "{kind}: {refused} of {tried}");
    }
}

#[test]
fn one_kind_is_not_accepted_as_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for ((kind, write, _), (other, _, read)) in [(KINDS[0], KINDS[1]), (KINDS[1], KINDS[0])] {
        write(&path).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains(&format!("is a {kind} checkpoint, not a {other} checkpoint;")),
            "{error}"
        );
    }
}

/// Checkpoints of every version of the format, made from synthetic signals.
fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept").join(name)
}

#[test]
fn checkpoints_of_older_versions_are_refused_by_name() {
    let pursuit = read_checkpoint(&kept("v2-pursuit.npz")).unwrap_err().to_string();
    let learning = read_learn_checkpoint(&kept("v2-learning.npz")).unwrap_err().to_string();
    for sentence in [pursuit, learning] {
        assert!(
            sentence.contains("checkpoint of version 2") && sentence.contains("reads version 3"),
            "{sentence}"
        );
    }
}

fn waves() -> (Observed<f64>, Dictionary<f64>) {
    let wave = |i: usize| ((i % 20) as f64 * 0.9).sin() + ((i / 20) as f64 * 0.4).cos();
    let signal =
        Signal::from_planar(Extent::new(&[20, 20]).unwrap(), 1, (0..400).map(wave).collect())
            .unwrap();
    (signal.into(), Dictionary::dct(Extent::new(&[4, 4]).unwrap(), 1, 16).unwrap())
}

fn long_pursuit() -> Pursuit {
    let params = PursuitParams::new(Penalty::Relative(0.01)).with(|p| {
        p.border = Border::Zero;
        p.tolerance = 1e-9;
        p.atom_weights = Some((0..16).map(|k| 1.0 + 0.1 * f64::from(k)).collect());
    });
    params.check().unwrap()
}

fn long_learner() -> Learner {
    let method = Method::Stochastic { step: Step::ADAM, decay: Decay::Exponential { factor: 0.9 } };
    let params =
        LearnParams::new(Penalty::Absolute(0.05)).with(|p| (p.method, p.passes) = (method, 5));
    params.check().unwrap()
}

/// An observer that keeps the first checkpoint.
#[derive(Default)]
struct First {
    pursuit: Option<Checkpoint>,
    learning: Option<LearnCheckpoint>,
}

impl Observer for First {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> lobcod::Result<Checkpoint>) {
        self.pursuit.get_or_insert_with(|| take().unwrap());
    }

    fn between_learning_passes(
        &mut self,
        take: &mut dyn FnMut() -> lobcod::Result<LearnCheckpoint>,
    ) {
        self.learning.get_or_insert_with(|| take().unwrap());
    }
}

/// Creates the files of a new version: `cargo test -p lobcod-io checkpoints:: -- --ignored`.
#[test]
#[ignore = "writes the kept files of this version"]
fn keep_checkpoints_of_this_version() {
    let (signal, dictionary) = waves();
    let mut first = First::default();
    long_pursuit().run(&cpu(1), std::slice::from_ref(&signal), &dictionary, &mut first).unwrap();
    long_learner().run(&cpu(1), &[signal], &dictionary, &mut first).unwrap();
    write_checkpoint(&kept("v3-pursuit.npz"), &first.pursuit.unwrap(), None).unwrap();
    write_learn_checkpoint(&kept("v3-learning.npz"), &first.learning.unwrap(), None).unwrap();
}

#[test]
fn a_kept_checkpoint_of_this_version_is_resumed() {
    let (signal, dictionary) = waves();
    let signals = [signal];
    let checkpoint = read_checkpoint(&kept("v3-pursuit.npz")).unwrap();
    let resumed =
        long_pursuit().resume(&cpu(1), &checkpoint, &signals, &dictionary, &mut ()).unwrap();
    let whole = long_pursuit().run(&cpu(1), &signals, &dictionary, &mut ()).unwrap();
    assert!((resumed.report.total.objective / whole.report.total.objective - 1.0).abs() < 1e-8);
    let checkpoint = read_learn_checkpoint(&kept("v3-learning.npz")).unwrap();
    let resumed =
        long_learner().resume(&cpu(1), &checkpoint, &signals, &dictionary, &mut ()).unwrap();
    assert_eq!((resumed.report.passes, resumed.report.status), (5, Status::Completed));
}
