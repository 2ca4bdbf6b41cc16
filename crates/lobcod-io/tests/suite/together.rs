//! Checkpoints that ranks write together: one file, and a failure on one rank fails on all.

use lobcod::checkpoint::{Checkpoint, ScheduleState};
use lobcod::engine::State;
use lobcod::engine::ranks::World as _;
use lobcod::{Code, Control, Observer, Progress, Status};
use lobcod_conformance::ranks::on_ranks;
use lobcod_io::{Keeper, read_checkpoint, write_checkpoint};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const RANKS: usize = 3;

/// The checkpoint of a rank, with one code of its own; of all ranks: in the order of ranks.
fn checkpoint(ranks: std::ops::Range<usize>) -> Checkpoint {
    let code =
        |rank: usize| Code { position: [0, 0, rank as i32], atom: 1, channel: 0, value: 0.5 };
    Checkpoint {
        layers: Vec::new(),
        fingerprint: 7,
        seconds: 1.0,
        discovery_sweeps: 2,
        support_sweeps: 3,
        schedule: ScheduleState {
            stage_penalty: 1.0,
            tolerance: 0.1,
            candidate_slack: None,
            best_gap: 1.0,
            best_objective: 2.0,
            idle_passes: 0,
        },
        state: State::of_codes(vec![ranks.map(code).collect()]),
        history: Vec::new(),
    }
}

/// A checkpoint file that a rank cannot write: where it cannot create, open or rename it.
fn faults(folder: &Path) -> [(usize, PathBuf, &'static str); 3] {
    let directory = folder.join("directory");
    fs::create_dir_all(directory.join("not empty")).unwrap();
    [
        (0, folder.join("missing/run.checkpoint"), "create"),
        (1, folder.join("missing/run.checkpoint"), "open"),
        (0, directory, "rename"),
    ]
}

#[test]
fn a_rank_that_cannot_write_fails_on_all_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("run.checkpoint");
    for (faulty, bad, what) in faults(folder.path()) {
        let results = on_ranks(RANKS, |world| {
            let rank = world.rank();
            let path = if rank == faulty || what == "rename" { &bad } else { &sound };
            let own = checkpoint(rank..rank + 1);
            let error = write_checkpoint(path, &own, Some(&*world)).map_err(|e| e.to_string());
            // The ranks still make the same collective calls.
            assert_eq!(world.gather(vec![rank as u8]), [[0], [1], [2]], "{what}");
            write_checkpoint(&sound, &own, Some(&*world)).unwrap();
            error
        });
        for result in results {
            let sentence = result.expect_err(what);
            assert!(!sentence.contains('\n'), "{sentence}");
        }
        assert_eq!(read_checkpoint(&sound).unwrap(), checkpoint(0..RANKS), "{what}");
        let unfinished = |file: &Path| file.to_string_lossy().contains("unfinished");
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(left.filter(|file| unfinished(file)).count(), 0, "{what}");
    }
}

/// Watches nothing.
struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }
}

#[test]
fn a_keeper_whose_write_fails_on_one_rank_continues_on_all() {
    let folder = tempfile::tempdir().unwrap();
    let (sound, bad) =
        (folder.path().join("run.checkpoint"), folder.path().join("missing/run.checkpoint"));
    let errors = on_ranks(RANKS, |world| {
        let rank = world.rank();
        let path = if rank == 1 { &bad } else { &sound };
        let mut keeper: Keeper<Checkpoint, _> =
            Keeper::new(Quiet, Some(path), Some(Rc::clone(&world) as Rc<_>));
        for _ in 0..3 {
            keeper.between_passes(&mut || Ok(checkpoint(rank..rank + 1)));
            assert_eq!(world.gather(vec![rank as u8]), [[0], [1], [2]]);
        }
        keeper.finish(Status::MaxSweeps).is_err()
    });
    assert_eq!(errors, [true; RANKS]);
    assert!(!sound.exists());
}
