//! `lobcod learn --stream`: reports, checkpoints and errors.

use crate::common::{Desk, near, number, text, texture};
use lobcod_io::{Depth, read_dictionary, read_learn_checkpoint};
use serde_json::Value;
use std::fs;

/// A small dictionary, quickly learnt.
const SMALL: &str = "--stream --atoms 8 --size 5x5";

/// A folder with three greyscale images.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("a.png", &[40, 36], 1, 0.0);
    desk.image("b.png", &[30, 44], 1, 1.0);
    desk.image("c.png", &[34, 34], 1, 2.0);
    desk
}

fn column(report: &Value, field: &str) -> Vec<f64> {
    report["history"].as_array().unwrap().iter().map(|point| number(point, field)).collect()
}

#[test]
fn the_report_has_every_field_and_they_agree() {
    let desk = desk();
    let report = desk.json(&format!(
        "learn a.png b.png c.png -o d.npz {SMALL} --passes 2 --relative-penalty 0.1"
    ));
    assert_eq!(
        (&report["status"], &report["passes"], &report["method"]),
        (&"completed".into(), &2.into(), &"stream".into())
    );
    assert_eq!((&report["dictionary"], &report["normalised_atoms"]), (&"d.npz".into(), &0.into()));
    let history = report["history"].as_array().unwrap();
    let files: Vec<_> = history.iter().map(|point| point["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["a.png", "b.png", "c.png", "a.png", "b.png", "c.png"]);
    assert_eq!(column(&report, "pass"), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    for field in ["objective", "data_term", "nonzeros"] {
        assert!(
            near(number(&report, field), column(&report, field)[3..].iter().sum(), 1e-12),
            "{field}"
        );
    }
    let objective = column(&report, "objective");
    assert!(
        objective[3..].iter().sum::<f64>() < objective[..3].iter().sum(),
        "nothing was learnt: {objective:?}"
    );
    assert_eq!(
        number(&report, "replaced_atoms"),
        column(&report, "replaced_atoms").iter().sum::<f64>()
    );
    assert!(column(&report, "seconds").is_sorted() && number(&report, "seconds") > 0.0);
    assert!(report["gap"].is_null() && report["relative_gap"].is_null());

    // The penalty is relative to the first image.
    let first = desk.json(&format!("learn a.png -o d.npz {SMALL} --relative-penalty 0.1"));
    assert_eq!((&first["penalty"], &first["passes"]), (&report["penalty"], &1.into()));
}

#[test]
fn learnt_atoms_code_images_better_than_initial_ones() {
    let desk = desk();
    desk.succeed(&format!(
        "learn a.png b.png c.png -o first.npz {SMALL} --penalty 12 --time-limit 0"
    ));
    desk.succeed(&format!("learn a.png b.png c.png -o d.npy {SMALL} --penalty 12 --passes 2"));
    let cost = |name: &str| {
        number(&desk.json(&format!("encode c.png --dictionary {name} --penalty 12")), "objective")
    };
    assert!(cost("d.npy") < 0.9 * cost("first.npz"), "{} {}", cost("d.npy"), cost("first.npz"));
    assert_eq!(desk.succeed(&format!("learn a.png -o d.npz {SMALL} --quiet")), "");
    let summary = desk.succeed(&format!("learn a.png b.png -o d.npz {SMALL}"));
    assert!(
        summary.contains("one at a time") && summary.contains("1 pass, 2 images in total"),
        "{summary}"
    );
}

#[test]
fn memory_holds_one_image_at_a_time() {
    let desk = Desk::new();
    let names: Vec<String> = (0..8).map(|i| format!("{i}.png")).collect();
    names
        .iter()
        .zip(0u8..)
        .for_each(|(name, i)| drop(desk.image(name, &[60, 60], 1, f32::from(i))));
    let line = format!("learn {} -o d.npz --atoms 6 --size 4x4 --threads 1", names.join(" "));
    let plan = |options: &str| desk.json(&format!("{line} --dry-run {options}"));
    let (one, all) = (plan("--stream"), plan(""));
    assert!(
        2.0 * number(&one, "working_memory_bytes") < number(&all, "working_memory_bytes"),
        "{one} {all}"
    );
    let one = number(&one, "memory_bytes");
    assert!(!desk.path("d.npz").exists());
    assert_eq!(desk.run(&format!("{line} --max-memory {one}")).status.code(), Some(1));
    assert_eq!(desk.json(&format!("{line} --stream --max-memory {one}"))["passes"], 1);
    let plan = desk.json(&format!("{line} --stream --dry-run --max-memory 20k"));
    assert_eq!((&plan["fits"], plan["images"].as_array().unwrap().len()), (&false.into(), 8));
    assert!(
        desk.succeed(&format!("{line} --stream --dry-run")).contains("1 pass, one image at a time")
    );
}

#[test]
fn a_stream_interrupted_anywhere_resumes_to_the_same_dictionary() {
    let desk = desk();
    for (precision, init) in [("f32", "random"), ("f64", "patches")] {
        let learn = |images: &str, options: &str| {
            let report = desk.json(&format!(
                "learn {images} -o d.npz {SMALL} --precision {precision} --init {init} {options}"
            ));
            (report, fs::read(desk.path("d.npz")).unwrap())
        };
        let (whole, dictionary) = learn("a.png b.png c.png", "--passes 2");
        assert!(whole["resumed"].is_null());
        // Two images, then the third and the second pass.
        let (_, part) = learn("a.png b.png", "--checkpoint run.npz");
        assert_eq!(read_learn_checkpoint(&desk.path("run.npz")).unwrap().history.len(), 2);
        learn("a.png b.png c.png", "--resume run.npz --checkpoint run.npz --threads 2");
        let (resumed, same) = learn("a.png b.png c.png", "--resume run.npz --passes 2 --threads 1");
        assert!(same == dictionary && part != dictionary, "{precision}");
        assert_eq!((&resumed["resumed"], &resumed["passes"]), (&true.into(), &2.into()));
        assert_eq!(column(&resumed, "objective"), column(&whole, "objective"));
    }
    // Options that the stream does not know are checked as well.
    for options in ["--base none", "--scale 1", "--seed 7"] {
        let output = desk.run(&format!(
            "learn a.png -o d.npz {SMALL} --precision f64 --init patches --resume run.npz \
             {options}"
        ));
        let err = text(&output.stderr);
        assert!(output.status.code() == Some(1) && err.contains("resume with"), "{options}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_stream_leaves_dictionary_and_checkpoint() {
    let desk = desk();
    let line = format!("learn a.png b.png -o d.npz {SMALL} --penalty 12");
    let broken =
        desk.interrupt_after("run.npz", &format!("{line} --passes 100000 --checkpoint run.npz"));
    let seen = broken["history"].as_array().unwrap().len();
    assert_eq!(read_learn_checkpoint(&desk.path("run.npz")).unwrap().history.len(), seen);
    let dictionary = || fs::read(desk.path("d.npz")).unwrap();
    let (half, passes) = (dictionary(), seen / 2 + 1);
    desk.succeed(&format!("{line} --passes {passes} --resume run.npz --quiet"));
    let resumed = dictionary();
    desk.succeed(&format!("{line} --passes {passes} --quiet"));
    assert!(half != resumed && resumed == dictionary());
}

#[test]
fn the_time_limit_ends_learning() {
    let desk = desk();
    let hurried = desk.json(&format!(
        "learn a.png b.png -o d.npz {SMALL} --time-limit 0 --checkpoint run.npz --report r.html"
    ));
    assert_eq!(
        (&hurried["status"], &hurried["passes"], &hurried["objective"]),
        (&"time_limit".into(), &0.into(), &0.0.into())
    );
    assert!(hurried["penalty"].is_null() && !desk.path("run.npz").exists());
    assert_eq!(read_dictionary::<f32>(&desk.path("d.npz")).unwrap().len(), 8);
    let longer =
        desk.json(&format!("learn a.png b.png -o d.npz {SMALL} --time-limit 0.5 --passes 1000000"));
    assert_eq!(longer["status"], "time_limit");
    assert!(!longer["history"].as_array().unwrap().is_empty() && number(&longer, "seconds") <= 0.5);
}

#[test]
fn the_report_shows_atoms_curve_and_images() {
    let desk = desk();
    let report = desk.json(&format!("learn a.png b.png c.png -o d.npz {SMALL} --report r.html"));
    assert_eq!(report["report"], "r.html");
    let page = fs::read_to_string(desk.path("r.html")).unwrap();
    for words in [
        "The learnt atoms",
        "The initial atoms",
        "objective against images",
        "c.png",
        "Learnt from 3 images",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(page.matches("alt=\"atom ").count(), 8);
}

#[test]
fn an_unreadable_image_does_not_lose_what_was_learnt() {
    let desk = desk();
    desk.image("colour.png", &[24, 26], 3, 0.0);
    desk.bytes("broken.png", b"no image");
    let before = desk.files();
    for (bad, word) in
        [("broken.png", "broken.png"), ("gone.png", "gone.png"), ("colour.png", "channels")]
    {
        let output = desk.run(&format!("learn a.png {bad} b.png -o d.npz {SMALL}"));
        let err = text(&output.stderr);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{err}");
        assert!(
            err.starts_with("error: ")
                && err.lines().count() == 1
                && err.contains(bad)
                && err.contains(word),
            "{err}"
        );
        assert_eq!(desk.files(), before);
    }
    let output =
        desk.run(&format!("learn a.png b.png broken.png -o d.npz {SMALL} --checkpoint run.npz"));
    let err = text(&output.stderr);
    assert!(
        err.contains("broken.png") && err.contains("saved in run.npz") && err.lines().count() == 1,
        "{err}"
    );
    assert_eq!(read_learn_checkpoint(&desk.path("run.npz")).unwrap().history.len(), 2);
    desk.succeed(&format!("learn a.png b.png c.png -o d.npz {SMALL} --resume run.npz"));
    desk.succeed(&format!("learn a.png b.png c.png -o whole.npz {SMALL}"));
    assert!(fs::read(desk.path("d.npz")).unwrap() == fs::read(desk.path("whole.npz")).unwrap());
}

#[test]
fn incompatible_options_are_refused_in_one_sentence() {
    let desk = desk();
    for (options, word) in [
        ("--method stochastic", "--method stochastic"),
        ("--method batch", "--method batch"),
        ("--target-objective 5", "--target-objective"),
        ("--peak 1", "--peak"),
        ("--step adam", "--step"),
    ] {
        let output = desk.run(&format!("learn a.png -o d.npz {SMALL} {options}"));
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {err}");
        assert!(
            err.starts_with("error: ") && err.lines().next().unwrap().contains(word),
            "{options}: {err}"
        );
    }
    let mut flat = texture(&[20, 20], 1, 0.0);
    flat.data_mut().fill(77.0);
    desk.write("flat.png", &flat, Depth::U8);
    let output = desk.run(&format!("learn flat.png -o d.npz {SMALL}"));
    assert!(
        output.status.code() == Some(1) && text(&output.stderr).starts_with("error: flat.png"),
        "{}",
        text(&output.stderr)
    );
    // A constant image in the middle teaches nothing and does no harm.
    assert_eq!(
        column(&desk.json(&format!("learn a.png flat.png b.png -o d.npz {SMALL}")), "nonzeros")[1],
        0.0
    );
    // A checkpoint of an atomwise run is not accepted for a stream, nor the other way round.
    let whole = SMALL.trim_start_matches("--stream ");
    desk.succeed(&format!("learn a.png -o d.npz {SMALL} --checkpoint stream.npz"));
    desk.succeed(&format!("learn a.png -o d.npz {whole} --passes 2 --checkpoint whole.npz"));
    for (options, file) in [(SMALL, "whole.npz"), (whole, "stream.npz")] {
        assert_eq!(
            desk.run(&format!("learn a.png -o d.npz {options} --resume {file}")).status.code(),
            Some(1)
        );
    }
}
