//! Checkpoints survive the disk; damaged ones, and those of another kind, are refused.

use lobcod::engine::State;
use lobcod::{Checkpoint, Code, HistoryPoint, LearnCheckpoint, LearnPoint, Memory, ScheduleState};
use lobcod_image::{Result, read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint};
use std::fmt::Debug;
use std::fs;
use std::path::Path;

/// Bytes between two places that are tried: no multiple of the sizes of numbers, so that each of their bytes has its turn.
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
        memory: Memory::from([("before".into(), vec![0.25, -0.0]), ("steps taken".into(), vec![]), ("größe".into(), vec![7.0])]),
    }
}

/// Both kinds, each with the way to write its sample and the way to read a file, bit for bit, into words.
type Kind = (&'static str, fn(&Path) -> Result<()>, fn(&Path) -> Result<String>);
const KINDS: [Kind; 2] = [
    ("pursuit", |path| write_checkpoint(path, &pursuit()), |path| read_checkpoint(path).map(|c| words(&c))),
    ("learning", |path| write_learn_checkpoint(path, &learning()), |path| read_learn_checkpoint(path).map(|c| words(&c))),
];

/// Debug prints the shortest digits that give the same bits, and the sign of zeros.
fn words(checkpoint: &impl Debug) -> String {
    format!("{checkpoint:?}")
}

#[test]
fn a_checkpoint_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    write_checkpoint(&path, &pursuit()).unwrap();
    assert_eq!(read_checkpoint(&path).unwrap(), pursuit());
    write_learn_checkpoint(&path, &learning()).unwrap();
    assert_eq!(read_learn_checkpoint(&path).unwrap(), learning());
    assert_eq!(words(&read_learn_checkpoint(&path).unwrap()), words(&learning()));
    write_learn_checkpoint(&path, &LearnCheckpoint::default()).unwrap();
    assert_eq!(read_learn_checkpoint(&path).unwrap(), LearnCheckpoint::default());
}

#[test]
fn a_cut_checkpoint_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for (kind, write, read) in KINDS {
        write(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in (0..whole.len()).step_by(STRIDE) {
            fs::write(&path, &whole[..cut]).unwrap();
            let error = read(&path).expect_err("a cut file must be refused").to_string();
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
        // Most bytes are data; dates and the like may be anything.
        assert!(refused > tried / 2, "{kind}: {refused} of {tried}");
    }
}

#[test]
fn one_kind_is_not_taken_for_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for ((kind, write, _), (other, _, read)) in [(KINDS[0], KINDS[1]), (KINDS[1], KINDS[0])] {
        write(&path).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("is a checkpoint of a {kind}, not of a {other};")), "{error}");
    }
}
