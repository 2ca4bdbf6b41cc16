//! `--checkpoint` and `--resume` of encode and learn: a resumed run gives the result of an
//! uninterrupted one.

use crate::common::{Desk, number, text};
use lobcod_io::{read_checkpoint, read_learn_checkpoint};
use std::fs;

/// A dictionary that needs several passes; atoms are replaced and shifted on the way.
const LEARN: &str = "--atoms 12 --size 5x5 --penalty 12";

/// Options that require many sweeps.
const LONG: &str = "--relative-penalty 0.02 --tolerance 1e-4";

#[test]
fn a_run_stopped_by_a_limit_resumes_to_the_same_codes() {
    let desk = Desk::new();
    desk.image("a.png", &[36, 40], 3, 0.0);
    desk.image("b.png", &[24, 30], 3, 1.0);
    for images in ["a.png", "a.png b.png"] {
        let run = |options: &str| desk.json(&format!("encode {images} {LONG} {options}"));
        let whole = run("-o whole/");
        assert!(whole["resumed"].is_null() && number(&whole, "discovery_sweeps") > 6.0);
        let broken = run("-o broken/ --max-sweeps 3 --checkpoint run.npz");
        assert_eq!(
            (&broken["status"], &broken["discovery_sweeps"]),
            (&"max_sweeps".into(), &3.into())
        );
        // The run ended before the next write was due; the last state is written all the same.
        assert_eq!(read_checkpoint(&desk.path("run.npz")).unwrap().discovery_sweeps, 3);
        let further = run("-o broken/ --max-sweeps 5 --resume run.npz --checkpoint run.npz");
        assert_eq!(
            (&further["status"], &further["discovery_sweeps"]),
            (&"max_sweeps".into(), &5.into())
        );
        let resumed = run("-o resumed/ --resume run.npz --threads 1");
        assert_eq!((&resumed["status"], &resumed["resumed"]), (&"converged".into(), &true.into()));
        assert_eq!(resumed["discovery_sweeps"], whole["discovery_sweeps"]);
        for image in images.split(' ') {
            let codes = |folder: &str| {
                fs::read(desk.path(folder).join(image).with_extension("npz")).unwrap()
            };
            assert!(codes("resumed") == codes("whole"), "{image}");
            assert!(codes("broken") != codes("whole"), "{image}");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_a_checkpoint() {
    let desk = Desk::new();
    desk.image("a.png", &[90, 90], 1, 0.0);
    let line = "encode a.png -o codes.npz --relative-penalty 0.01 --precision f64";
    desk.interrupt_after("run.npz", &format!("{line} --checkpoint run.npz"));
    let broken = fs::read(desk.path("codes.npz")).unwrap();
    desk.json(&format!("{line} --resume run.npz"));
    let resumed = fs::read(desk.path("codes.npz")).unwrap();
    desk.json(line);
    let whole = fs::read(desk.path("codes.npz")).unwrap();
    assert!(broken != whole && resumed == whole);
}

#[test]
fn the_summary_explains_how_to_resume() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 40], 1, 0.0);
    let stopped = desk.succeed(&format!("encode a.png {LONG} --max-sweeps 2 --checkpoint run.npz"));
    assert!(stopped.contains("--resume run.npz"), "{stopped}");
    let at_once =
        desk.succeed(&format!("encode a.png {LONG} --time-limit 0 --checkpoint other.npz"));
    assert!(at_once.contains("before") && !desk.path("other.npz").exists(), "{at_once}");
    let kept = fs::read(desk.path("run.npz")).unwrap();
    assert!(!desk.succeed(&format!("encode a.png {LONG} --resume run.npz")).contains("--resume"));
    assert!(kept == fs::read(desk.path("run.npz")).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_lose_the_result() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 40], 1, 0.0);
    desk.succeed(&format!("encode a.png {LONG} -o whole.npz"));
    let output =
        desk.run(&format!("encode a.png {LONG} -o codes.npz --json --checkpoint /dev/full"));
    assert_eq!(output.status.code(), Some(1));
    let words = text(&output.stderr);
    assert!(
        words.starts_with("error: /dev/full")
            && words.contains("disk is full")
            && words.lines().count() == 1,
        "{words}"
    );
    assert!(
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["status"]
            == "converged"
    );
    let [codes, whole] = ["codes.npz", "whole.npz"].map(|file| fs::read(desk.path(file)).unwrap());
    assert!(codes == whole);
}

#[test]
fn learning_stopped_after_some_passes_resumes_to_the_same_dictionary() {
    let desk = Desk::new();
    desk.image("a.png", &[36, 40], 1, 0.0);
    desk.image("b.png", &[24, 30], 1, 1.0);
    for (precision, init) in [("f32", "random"), ("f64", "patches")] {
        let learn = |options: &str| {
            let report = desk.json(&format!(
                "learn a.png b.png {LEARN} --precision {precision} --init {init} {options}"
            ));
            (report, fs::read(desk.path("d.npz")).unwrap())
        };
        let (whole, dictionary) = learn("-o d.npz --passes 12");
        assert!(whole["resumed"].is_null());
        let (broken, half) = learn("-o d.npz --passes 5 --checkpoint run.npz");
        assert_eq!((&broken["status"], &broken["passes"]), (&"completed".into(), &5.into()));
        assert_eq!(read_learn_checkpoint(&desk.path("run.npz")).unwrap().history.len(), 5);
        learn("-o d.npz --passes 8 --resume run.npz --checkpoint run.npz --threads 2");
        let (resumed, same) = learn("-o d.npz --passes 12 --resume run.npz --threads 1");
        assert_eq!((&resumed["passes"], &resumed["resumed"]), (&12.into(), &true.into()));
        assert!(same == dictionary && half != dictionary, "{precision}");
        let course = |report: &serde_json::Value| -> Vec<f64> {
            report["history"]
                .as_array()
                .unwrap()
                .iter()
                .map(|point| number(point, "objective"))
                .collect()
        };
        assert_eq!(course(&resumed), course(&whole));
    }
}

#[cfg(unix)]
#[test]
fn interrupted_learning_leaves_dictionary_and_checkpoint() {
    let desk = Desk::new();
    desk.image("a.png", &[80, 80], 1, 0.0);
    let line = format!("learn a.png -o d.npz {LEARN}");
    let broken =
        desk.interrupt_after("run.npz", &format!("{line} --passes 100000 --checkpoint run.npz"));
    let done = broken["passes"].as_u64().unwrap();
    assert!(done > 0);
    assert_eq!(read_learn_checkpoint(&desk.path("run.npz")).unwrap().history.len() as u64, done);
    let dictionary = || fs::read(desk.path("d.npz")).unwrap();
    let half = dictionary();
    let passes = done + 3;
    desk.succeed(&format!("{line} --passes {passes} --resume run.npz --quiet"));
    let resumed = dictionary();
    desk.succeed(&format!("{line} --passes {passes} --quiet"));
    assert!(half != resumed && resumed == dictionary());
}

#[test]
fn the_summary_of_learn_explains_how_to_resume() {
    let desk = Desk::new();
    desk.image("a.png", &[30, 30], 1, 0.0);
    let line = format!("learn a.png -o d.npz {LEARN}");
    let stopped = desk.succeed(&format!("{line} --passes 2 --checkpoint run.npz"));
    assert!(stopped.contains("--resume run.npz and more --passes"), "{stopped}");
    let kept = fs::read(desk.path("run.npz")).unwrap();
    let reached = desk.succeed(&format!(
        "{line} --passes 3 --target-objective 1e12 --resume run.npz --checkpoint run.npz"
    ));
    assert!(
        !reached.contains("--resume") && kept == fs::read(desk.path("run.npz")).unwrap(),
        "{reached}"
    );
    let at_once = desk.succeed(&format!("{line} --time-limit 0 --checkpoint other.npz"));
    assert!(
        at_once.contains("before its first pass") && !desk.path("other.npz").exists(),
        "{at_once}"
    );
}
