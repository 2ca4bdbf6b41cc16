//! Checkpoints survive the disk; damaged ones are refused.

use lobcod::engine::State;
use lobcod::{Checkpoint, Code, HistoryPoint, ScheduleState};
use lobcod_image::{read_checkpoint, write_checkpoint};

fn sample() -> Checkpoint {
    let code = |x: i32, value: f64| Code { position: [0, -3, x], atom: 7, channel: 0, value };
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

#[test]
fn a_checkpoint_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    write_checkpoint(&path, &sample()).unwrap();
    assert_eq!(read_checkpoint(&path).unwrap(), sample());
}

#[test]
fn a_damaged_checkpoint_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    write_checkpoint(&path, &sample()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let error = read_checkpoint(&path).expect_err("a cut file must be refused");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    // A flipped bit in the payload is caught by the checksums.
    let at = whole.windows(8).position(|w| w == 3.0f64.to_le_bytes()).expect("the last code's value");
    let mut flipped = whole.clone();
    flipped[at + 3] ^= 1;
    std::fs::write(&path, &flipped).unwrap();
    assert!(read_checkpoint(&path).is_err(), "a flipped bit went unnoticed");
}
