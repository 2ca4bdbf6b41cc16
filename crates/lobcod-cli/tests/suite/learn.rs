//! `lobcod learn`: reports, files, folders and errors.

use crate::common::{Desk, near, number, text, texture};
use lobcod::{Dictionary, Extent};
use lobcod_io::{Depth, read_dictionary, write_dictionary};
use serde_json::Value;
use std::fs;

/// A small dictionary, quickly learnt.
const SMALL: &str = "--atoms 12 --size 5x5 --passes 6";

/// A folder with two greyscale images.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("a.png", &[40, 36], 1, 0.0);
    desk.image("b.png", &[30, 44], 1, 1.0);
    desk
}

#[test]
fn the_report_has_every_field_and_they_agree() {
    let desk = desk();
    let report = desk.json(&format!("learn a.png b.png -o d.npz {SMALL} --relative-penalty 0.1"));
    assert_eq!((&report["status"], &report["passes"]), (&"completed".into(), &6.into()));
    assert_eq!((&report["dictionary"], &report["normalised_atoms"]), (&"d.npz".into(), &0.into()));
    assert_eq!(report["pixels"], 40 * 36 + 30 * 44);
    let (objective, gap) = (number(&report, "objective"), number(&report, "gap"));
    assert!(gap >= 0.0 && near(number(&report, "relative_gap"), gap / objective, 1e-12));
    assert!(number(&report, "relative_gap") <= 1e-3);
    for field in [
        "data_term",
        "penalty",
        "penalty_max",
        "nonzeros",
        "seconds",
        "working_memory_bytes",
        "threads",
    ] {
        assert!(number(&report, field) > 0.0, "{field}");
    }
    let history = report["history"].as_array().unwrap();
    assert_eq!(history.len(), 6);
    for (i, point) in history.iter().enumerate() {
        assert_eq!(point["pass"], i + 1);
        assert!(point["seconds"].is_number() && point["nonzeros"].is_number());
    }
    for pair in history.windows(2) {
        let same_problem = pair[0]["replaced_atoms"] == 0;
        assert!(
            !same_problem || number(&pair[1], "objective") <= number(&pair[0], "objective"),
            "{pair:?}"
        );
    }
    for field in ["replaced_atoms", "merged_atoms"] {
        let sum: f64 = history.iter().map(|point| number(point, field)).sum();
        assert_eq!(sum, number(&report, field), "{field}");
    }
    assert!(objective <= number(&history[5], "objective") * (1.0 + 1e-6));
    assert!(objective < 0.98 * number(&history[0], "objective"));
    let sum: f64 =
        report["images"].as_array().unwrap().iter().map(|image| number(image, "objective")).sum();
    assert!(near(sum, objective, 1e-9));
}

#[test]
fn psnr_is_that_of_the_reconstruction() {
    let desk = desk();
    let report =
        desk.json(&format!("learn a.png b.png -o d.npz {SMALL} --penalty 12 --tolerance 1e-5"));
    let samples = 40.0 * 36.0 + 30.0 * 44.0;
    let psnr = |data_term: f64, samples: f64| {
        20.0 * (255.0 * f64::sqrt(samples) / f64::sqrt(2.0 * data_term)).log10()
    };
    for point in report["history"].as_array().unwrap() {
        let data_term = number(point, "data_term");
        assert!(data_term > 0.0 && data_term < number(point, "objective"), "{point}");
        assert!(near(number(point, "psnr_db"), psnr(data_term, samples), 1e-12), "{point}");
    }
    // Encode scores the reconstruction itself, sample by sample.
    let scores = "--reference a.png --reference b.png --tolerance 1e-5";
    let coded = desk.json(&format!("encode a.png b.png --dictionary d.npz --penalty 12 {scores}"));
    assert!((number(&coded, "psnr_db") - number(&report, "psnr_db")).abs() < 0.01);
    for i in 0..2 {
        assert!(
            (number(&coded["images"][i], "psnr_db") - number(&report["images"][i], "psnr_db"))
                .abs()
                < 0.01
        );
    }
    let louder = desk.json(&format!(
        "learn a.png b.png -o d.npz {SMALL} --penalty 12 --tolerance 1e-5 --peak 2550"
    ));
    assert!(near(number(&louder, "psnr_db"), number(&report, "psnr_db") + 20.0, 1e-9));

    // Missing samples are excluded.
    let mut holes = texture(&[40, 36], 1, 0.0);
    holes
        .data_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x = if i % 36 < 9 { 255.0 } else { 0.0 });
    desk.write("holes.png", &holes, Depth::U8);
    let damaged =
        desk.json(&format!("learn a.png --holes holes.png -o d.npz {SMALL} --penalty 12"));
    assert!(near(
        number(&damaged, "psnr_db"),
        psnr(number(&damaged, "data_term"), 40.0 * 27.0),
        1e-12
    ));
    assert!(desk.succeed(&format!("learn a.png -o d.npz {SMALL}")).contains(" dB, peak 255\n"));
}

#[test]
fn encode_and_show_accept_learnt_dictionaries() {
    let desk = desk();
    for output in ["d.npz", "d.npy"] {
        let report = desk.json(&format!("learn a.png b.png -o {output} {SMALL} --penalty 12"));
        let penalty = number(&report, "penalty");
        assert_eq!(penalty, 12.0);
        let coded =
            desk.json(&format!("encode a.png b.png --dictionary {output} --penalty {penalty}"));
        assert!(near(number(&coded, "objective"), number(&report, "objective"), 2e-3), "{output}");
        assert_eq!(coded["normalised_atoms"], 0);
        let dct = desk.json("encode a.png b.png --size 5x5 --penalty 12");
        assert!(number(&coded, "objective") < number(&dct, "objective"));
        assert_eq!(desk.json(&format!("show {output} -o atoms.png"))["atoms"], 12);
        let summary = desk.succeed(&format!("learn a.png --init {output} --passes 1 -o more.npz"));
        assert!(summary.contains("1 pass,") && summary.contains("more.npz"), "{summary}");
    }
    assert_eq!(desk.succeed(&format!("learn a.png -o d.npz {SMALL} --quiet")), "");
}

#[test]
fn dictionaries_are_the_same_for_any_number_of_threads() {
    let desk = desk();
    let learn = |options: &str| {
        desk.succeed(&format!("learn a.png b.png -o d.npz {SMALL} {options}"));
        fs::read(desk.path("d.npz")).unwrap()
    };
    for init in ["random", "patches"] {
        let one = learn(&format!("--seed 3 --threads 1 --init {init}"));
        assert!(one == learn(&format!("--seed 3 --threads 2 --init {init}")), "{init}");
        assert!(one != learn(&format!("--seed 4 --threads 2 --init {init}")), "{init}");
    }
}

#[test]
fn a_folder_is_expanded_to_its_images() {
    let desk = desk();
    fs::create_dir(desk.path("set")).unwrap();
    fs::create_dir(desk.path("set/more.png")).unwrap();
    for name in ["a.png", "b.png"] {
        fs::copy(desk.path(name), desk.path("set").join(name)).unwrap();
    }
    desk.bytes("set/metadata.txt", b"no image");
    desk.bytes("set/old.npz", b"no image either");
    let files = |report: &Value| -> Vec<String> {
        report["images"]
            .as_array()
            .unwrap()
            .iter()
            .map(|image| image["file"].as_str().unwrap().into())
            .collect()
    };
    let report = desk.json(&format!("learn set -o d.npz {SMALL}"));
    assert_eq!(files(&report), ["set/a.png", "set/b.png"]);
    desk.succeed(&format!("learn a.png b.png -o same.npz {SMALL}"));
    assert!(fs::read(desk.path("d.npz")).unwrap() == fs::read(desk.path("same.npz")).unwrap());
    assert_eq!(
        files(&desk.json(&format!("learn b.png set -o d.npz {SMALL}"))),
        ["b.png", "set/a.png", "set/b.png"]
    );
}

#[test]
fn every_option_takes_effect() {
    let desk = desk();
    let first = desk.json(
        "learn a.png -o d.npz --passes 1 --init dct --border periodic --base smooth --precision \
         f64",
    );
    assert_eq!((&first["atoms"], &first["atom_shape"]), (&81.into(), &vec![8, 8].into()));
    assert_eq!(
        (&first["border"], &first["precision"], &first["passes"]),
        (&"periodic".into(), &"f64".into(), &1.into())
    );

    let reached = desk.json(&format!("learn a.png -o d.npz {SMALL} --target-objective 1e12"));
    assert_eq!((&reached["status"], &reached["passes"]), (&"converged".into(), &1.into()));
    let hurried = desk.json(&format!("learn a.png -o d.npz {SMALL} --time-limit 0"));
    assert_eq!((&hurried["status"], &hurried["passes"]), (&"time_limit".into(), &0.into()));

    desk.image("colour.png", &[24, 26], 3, 0.0);
    assert_eq!(desk.json(&format!("learn colour.png -o rgb.npz {SMALL}"))["channels"], 3);
    assert_eq!(read_dictionary::<f32>(&desk.path("rgb.npz")).unwrap().channels(), 3);
    let grey = desk.json("learn colour.png -o grey.npz --init d.npz --passes 2");
    assert_eq!((&grey["channels"], &grey["init"]), (&1.into(), &"d.npz".into()));

    desk.write("sound.npy", &texture(&[400], 1, 0.0), Depth::F32);
    let sound = desk.json("learn sound.npy --axes t -o sound.npz --atoms 5 --passes 2");
    assert_eq!(sound["atom_shape"], Value::from(vec![16]));

    let needed = |line: &str| {
        number(
            &desk.json(&format!("learn a.png b.png -o never.npz {line} --dry-run")),
            "working_memory_bytes",
        )
    };
    let used = number(
        &desk.json(&format!("learn a.png b.png -o d.npz {SMALL} --threads 2")),
        "working_memory_bytes",
    );
    assert!((used..4.0 * used).contains(&needed(&format!("{SMALL} --threads 2"))));
    let plan = desk.json(
        "learn a.png b.png -o never.npz --dry-run --max-memory 20k --checkpoint run.npz --report \
         r.html",
    );
    assert!(!desk.path("run.npz").exists() && !desk.path("r.html").exists());
    assert_eq!(
        (&plan["dry_run"], &plan["fits"], &plan["atoms"]),
        (&true.into(), &false.into(), &81.into())
    );
    assert!(desk.succeed("learn a.png -o never.npz --dry-run").contains("40 passes"));
    assert!(!desk.path("never.npz").exists());
}

#[test]
fn values_under_holes_are_never_used() {
    let desk = Desk::new();
    let image = desk.image("a.png", &[32, 30], 1, 0.0);
    let hidden = |i: usize| (i * 7919 / 13).is_multiple_of(3);
    let (mut spoiled, mut holes) = (image.clone(), image);
    for i in 0..32 * 30 {
        holes.data_mut()[i] = if hidden(i) { 255.0 } else { 0.0 };
        if hidden(i) {
            spoiled.data_mut()[i] = (i * 31 % 256) as f32;
        }
    }
    desk.write("spoiled.png", &spoiled, Depth::U8);
    desk.write("holes.png", &holes, Depth::U8);
    for init in ["random", "patches"] {
        let learn = |name: &str| {
            desk.succeed(&format!("learn {name} --holes holes.png -o d.npz {SMALL} --init {init}"));
            fs::read(desk.path("d.npz")).unwrap()
        };
        assert!(learn("a.png") == learn("spoiled.png"), "{init}");
    }
}

#[test]
fn every_error_is_one_sentence_and_leaves_no_file() {
    let desk = desk();
    desk.image("colour.png", &[24, 26], 3, 0.0);
    let mut flat = texture(&[20, 20], 1, 0.0);
    flat.data_mut().fill(77.0);
    desk.write("flat.png", &flat, Depth::U8);
    desk.write("tiny.png", &texture(&[4, 30], 1, 0.0), Depth::U8);
    desk.write("array.npy", &texture(&[20, 20], 1, 0.0), Depth::F32);
    fs::create_dir(desk.path("empty")).unwrap();
    let atoms = Dictionary::<f32>::random(Extent::new(&[5, 5]).unwrap(), 3, 4, 1).unwrap();
    write_dictionary(&desk.path("rgb.npz"), &atoms, &[]).unwrap();
    let before = desk.files();
    for (line, word) in [
        ("learn empty -o d.npz", "contains no images"),
        ("learn a.png empty -o d.npz", "empty"),
        ("learn missing.png -o d.npz", "missing.png"),
        ("learn a.png -o d.npz --method stochastic --step-size -1", "step size"),
        ("learn a.png -o nowhere/d.npz", "nowhere"),
        ("learn a.png -o empty", "empty"),
        ("learn a.png -o d.png", ".npz"),
        ("learn a.png -o -", "standard output"),
        ("learn array.npy -o ./array.npy", "another output file"),
        ("learn a.png colour.png -o d.npz", "channels"),
        ("learn a.png -o d.npz --init rgb.npz", "channel"),
        ("learn colour.png -o d.npz --init rgb.npz --atoms 5", "4 atoms of 5x5"),
        ("learn a.png -o d.npz --init missing.npz", "missing.npz"),
        ("learn a.png -o d.npz --size 8", "axes"),
        ("learn flat.png -o d.npz", "no detail"),
        ("learn tiny.png -o d.npz --init patches", "large enough"),
        ("learn a.png -o d.npz --passes 0", "passes"),
        ("learn a.png -o d.npz --penalty 0", "above 0"),
        ("learn a.png -o d.npz --time-limit -1", "time limit"),
        ("learn a.png -o d.npz --max-memory 20k", "limit"),
        ("learn a.png -o d.npz --engine cuda --precision f64", "CUDA"),
    ] {
        let output = desk.run(line);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "lobcod {line}\n{err}");
        assert!(err.starts_with("error: ") && err.lines().count() == 1, "lobcod {line}\n{err}");
        assert!(
            err.contains(word) && output.stdout.is_empty(),
            "lobcod {line}: no {word} in {err}"
        );
        assert_eq!(desk.files(), before, "lobcod {line} left a file behind");
    }
    for options in
        ["--step adam", "--step-size 0.1", "--decay none", "--method batch --decay online"]
    {
        let output = desk.run(&format!("learn a.png -o d.npz {options}"));
        assert_eq!(output.status.code(), Some(2), "lobcod learn {options}");
        assert!(
            text(&output.stderr).contains("requires --method stochastic"),
            "lobcod learn {options}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_the_dictionary_so_far() {
    let desk = Desk::new();
    desk.image("a.png", &[200, 200], 1, 0.0);
    let line =
        "learn a.png -o d.npz --passes 100000 --time-limit 30 --tolerance 0 --checkpoint run.npz";
    desk.interrupt_after("run.npz", line);
    assert_eq!(read_dictionary::<f32>(&desk.path("d.npz")).unwrap().len(), 81);
}

#[test]
fn every_method_learns_and_is_reported() {
    let desk = Desk::new();
    desk.write("a.png", &texture(&[40, 40], 1, 0.0), Depth::U8);
    for options in [
        "--method atomwise",
        "--method batch",
        "--method stochastic --step sgd --step-size 0.05 --decay exponential:0.9",
        "--method stochastic",
    ] {
        let line = format!("learn a.png -o d.npz --atoms 6 --size 5x5 --passes 5 {options}");
        let report = desk.json(&line);
        let objective = |i: usize| report["history"][i]["objective"].as_f64().unwrap();
        assert!(
            objective(4) < objective(0),
            "{options}: {} after one pass, {} after five",
            objective(0),
            objective(4)
        );
        assert_eq!(report["method"], options.split(' ').nth(1).unwrap());
    }
}
