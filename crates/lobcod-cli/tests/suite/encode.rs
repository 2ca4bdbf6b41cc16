//! `lobcod encode` and `decode`: reports, files, options.

use crate::common::{Desk, near, number, text, texture};
use lobcod_io::{Depth, ReadOptions, read_codes, read_image};
use lobcod_tasks::metrics::psnr;
use serde_json::Value;
use std::fs;

#[test]
fn the_report_has_every_field_and_they_agree() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 33], 1, 0.0);
    let report = desk.json("encode a.png -o codes.npz --threads 2 --reference a.png");
    assert_eq!(report["status"], "converged");
    assert_eq!(
        (&report["engine"], &report["precision"], &report["threads"]),
        (&"cpu".into(), &"f32".into(), &2.into())
    );
    assert_eq!((&report["output"], &report["pixels"]), (&"codes.npz".into(), &(40 * 33).into()));
    let (objective, gap) = (number(&report, "objective"), number(&report, "gap"));
    assert!(number(&report, "data_term") > 0.0 && number(&report, "data_term") < objective);
    assert!(gap >= 0.0 && near(number(&report, "relative_gap"), gap / objective, 1e-12));
    assert!(number(&report, "relative_gap") <= 1e-3);
    assert!(near(number(&report, "penalty"), 0.05 * number(&report, "penalty_max"), 1e-5));
    for count in ["discovery_sweeps", "support_sweeps", "working_memory_bytes", "seconds"] {
        assert!(number(&report, count) > 0.0, "{count}");
    }
    if cfg!(target_os = "linux") {
        assert!(number(&report, "peak_memory_bytes") > 1e6);
    }
    assert!(number(&report, "psnr_db") > 20.0 && number(&report, "ssim") > 0.5);

    let history = report["history"].as_array().unwrap();
    assert!(!history.is_empty());
    for point in history {
        assert!(
            ["seconds", "objective", "nonzeros"].iter().all(|f| point[f].is_number()),
            "{point}"
        );
        assert!(point["relative_gap"].is_number() || point["relative_gap"].is_null());
    }
    assert!(near(number(&history[history.len() - 1], "objective"), objective, 1e-6));

    let image = &report["images"][0];
    assert_eq!((&image["file"], &image["output"]), (&"a.png".into(), &"codes.npz".into()));
    for field in [
        "objective",
        "data_term",
        "gap",
        "relative_gap",
        "nonzeros",
        "pixels",
        "penalty_max",
        "psnr_db",
        "ssim",
    ] {
        assert!(near(number(image, field), number(&report, field), 1e-12), "{field}");
    }
    let codes = read_codes::<f32>(&desk.path("codes.npz"), None).unwrap();
    assert_eq!(codes.needles.nonzeros() as u64, report["nonzeros"].as_u64().unwrap());
    assert!(near(codes.penalty, number(&report, "penalty"), 1e-12));
}

#[test]
fn codes_are_the_same_for_any_number_of_threads() {
    let desk = Desk::new();
    desk.image("a.png", &[70, 90], 3, 0.5);
    for (threads, file) in [(1, "one.npz"), (2, "two.npz"), (2, "again.npz")] {
        desk.succeed(&format!("encode a.png -o {file} --threads {threads}"));
    }
    let [one, two, again] =
        ["one.npz", "two.npz", "again.npz"].map(|f| fs::read(desk.path(f)).unwrap());
    assert!(one == two && two == again);
}

#[test]
fn decoding_returns_the_scored_image() {
    let desk = Desk::new();
    let original = desk.image("a.png", &[40, 48], 3, 0.0);
    let report = desk.json("encode a.png -o codes.npz --relative-penalty 0.01 --reference a.png");
    desk.succeed("decode codes.npz -o back.npy");
    let back = read_image::<f32>(&desk.path("back.npy"), &ReadOptions::default()).unwrap();
    let decibels = psnr(&back.signal, &original, 255.0).unwrap();
    assert!(decibels > 35.0 && near(decibels, number(&report, "psnr_db"), 1e-4), "{decibels}");

    desk.succeed("decode codes.npz -o back.png");
    let rounded = read_image::<f32>(&desk.path("back.png"), &ReadOptions::default()).unwrap();
    assert_eq!(rounded.depth, Depth::U8);
    assert!(psnr(&rounded.signal, &back.signal, 255.0).unwrap() > 50.0);
}

#[test]
fn decoding_keeps_depth_and_scale() {
    let desk = Desk::new();
    desk.write("deep.png", &texture(&[30, 31], 1, 0.0), Depth::U16);
    desk.succeed("encode deep.png -o codes.npz --scale 1 --relative-penalty 0.01");
    let report = desk.json("decode codes.npz -o back.png");
    assert_eq!(report["depth"], "u16");
    let [deep, back] = ["deep.png", "back.png"]
        .map(|f| read_image::<f32>(&desk.path(f), &ReadOptions::default()).unwrap());
    assert_eq!(back.depth, Depth::U16);
    assert!(psnr(&deep.signal, &back.signal, 255.0).unwrap() > 30.0);
    assert_eq!(desk.json("decode codes.npz -o back8.png --depth u8")["depth"], "u8");
}

#[test]
fn several_images_are_one_problem() {
    let desk = Desk::new();
    fs::create_dir(desk.path("other")).unwrap();
    desk.image("a.png", &[30, 40], 1, 0.0);
    desk.image("b.png", &[25, 33], 1, 1.0);
    desk.image("other/a.png", &[20, 20], 1, 2.0);
    let report = desk.json("encode a.png b.png other/a.png -o codes --penalty 15");
    let images = report["images"].as_array().unwrap();
    for field in ["objective", "data_term", "gap", "nonzeros", "pixels"] {
        let sum: f64 = images.iter().map(|image| number(image, field)).sum();
        assert!(near(sum, number(&report, field), 1e-9), "{field}: {sum}");
    }
    let largest = images.iter().map(|image| number(image, "penalty_max")).fold(0.0, f64::max);
    assert!(near(largest, number(&report, "penalty_max"), 1e-12));
    let outputs: Vec<&str> = images.iter().map(|image| image["output"].as_str().unwrap()).collect();
    assert_eq!(outputs, ["codes/a.npz", "codes/b.npz", "codes/a-2.npz"]);
    assert_eq!(report["output"], "codes");
    for (output, shape) in outputs.iter().zip([[30, 40], [25, 33], [20, 20]]) {
        assert_eq!(
            read_codes::<f32>(&desk.path(output), None).unwrap().needles.extent().axes(),
            shape
        );
    }
    assert_eq!(desk.json("encode b.png -o codes --penalty 15")["output"], "codes/b.npz");
    desk.succeed("encode a.png b.png other/a.png -o codes --penalty 15");
    let again = desk.json("encode a.png b.png other/a.png --start codes --penalty 15");
    assert!(number(&again, "objective") <= number(&report, "objective") * (1.0 + 1e-6));
    let summary =
        desk.succeed("encode a.png b.png --penalty 15 --reference a.png --reference b.png");
    assert!(
        summary.contains("2 images") && summary.contains("b.png, 33x25: objective"),
        "{summary}"
    );
}

#[test]
fn sounds_and_volumes_are_coded_too() {
    let desk = Desk::new();
    let sound = texture(&[900], 1, 0.0);
    let options = lobcod_io::WriteOptions {
        depth: Depth::I16,
        sample_rate: Some(8000),
        ..Default::default()
    };
    lobcod_io::write_image(&desk.path("a.wav"), &sound, &options).unwrap();
    let report = desk.json("encode a.wav --axes t --size 24 -o sound.npz");
    assert_eq!((&report["pixels"], &report["status"]), (&900.into(), &"converged".into()));
    desk.succeed("decode sound.npz -o back.wav");
    let back = read_image::<f32>(&desk.path("back.wav"), &ReadOptions::default()).unwrap();
    assert_eq!((back.sample_rate, back.depth), (Some(8000), Depth::I16));

    desk.write("volume.npy", &texture(&[7, 16, 18], 1, 0.0), Depth::F32);
    let report = desk.json("encode volume.npy --axes dhw -o volume.npz --size 3x5x4");
    assert_eq!(
        (&report["pixels"], &report["status"]),
        (&(7 * 16 * 18).into(), &"converged".into())
    );
    desk.succeed("decode volume.npz -o back.npy");
    let options = ReadOptions { axes: Some(lobcod_io::Axes::Dhw), ..Default::default() };
    assert_eq!(
        read_image::<f32>(&desk.path("back.npy"), &options).unwrap().signal.extent().axes(),
        [7, 16, 18]
    );
}

#[test]
fn values_under_holes_are_never_used() {
    let desk = Desk::new();
    let image = desk.image("a.png", &[32, 30], 1, 0.0);
    let hidden = |i: usize| {
        (i * 7919 / 13).is_multiple_of(3)
            || (8..20).contains(&(i % 30)) && (8..20).contains(&(i / 30))
    };
    let mut spoiled = image.clone();
    let mut holes = image.clone();
    let mut known = image;
    for i in 0..32 * 30 {
        holes.data_mut()[i] = if hidden(i) { 255.0 } else { 0.0 };
        known.data_mut()[i] = 255.0 - holes.data()[i];
        if hidden(i) {
            spoiled.data_mut()[i] = (i * 31 % 256) as f32;
        }
    }
    let mut unknown = spoiled.clone();
    (0..32 * 30).filter(|&i| hidden(i)).for_each(|i| unknown.data_mut()[i] = f32::NAN);
    for (name, signal) in [("spoiled.png", &spoiled), ("holes.png", &holes), ("known.png", &known)]
    {
        desk.write(name, signal, Depth::U8);
    }
    desk.write("unknown.npy", &unknown, Depth::F32);
    for base in ["local-mean", "smooth"] {
        desk.succeed(&format!("encode a.png --holes holes.png --base {base} -o one.npz"));
        desk.succeed(&format!("encode spoiled.png --known known.png --base {base} -o two.npz"));
        let [one, two] = ["one.npz", "two.npz"].map(|f| fs::read(desk.path(f)).unwrap());
        assert!(one == two, "{base}");
        desk.succeed(&format!("encode unknown.npy --base {base} -o three.npz"));
        let [one, three] = ["one.npz", "three.npz"]
            .map(|f| read_codes::<f32>(&desk.path(f), None).unwrap().needles);
        assert!(one == three, "{base}");
    }
}

#[test]
fn every_option_takes_effect() {
    let desk = Desk::new();
    desk.image("a.png", &[26, 24], 1, 0.0);
    let map = |value: &dyn Fn(usize) -> f32| {
        let mut map = texture(&[26, 24], 1, 0.0);
        map.data_mut().iter_mut().enumerate().for_each(|(i, x)| *x = value(i));
        map
    };
    desk.write("map.npy", &map(&|i| if i % 24 < 12 { 1.0 } else { 1e6 }), Depth::F32);
    desk.write("caps.npy", &map(&|_| 1.0), Depth::F32);
    let mut weights = texture(&[81], 1, 0.0);
    weights
        .data_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(k, w)| *w = if k == 1 { 1e6 } else { 1.0 });
    desk.write("weights.npy", &weights, Depth::F32);
    desk.succeed("encode a.png --penalty 20 -o start.npz");

    let usual = desk.json("encode a.png --penalty 20 --tolerance 1e-5");
    let same_problem = [
        "--schedule layers",
        "--schedule needles --local lars",
        "--local lars --tile 16",
        "--start spread",
        "--start start.npz",
        "--precision f64",
        "--schedule layers --seed 7 --threads 1 --engine cpu",
        "--max-memory 1G --time-limit 60",
    ];
    for options in same_problem {
        let report = desk.json(&format!("encode a.png --penalty 20 --tolerance 1e-5 {options}"));
        assert_eq!(report["status"], "converged", "{options}");
        assert!(near(number(&report, "objective"), number(&usual, "objective"), 3e-5), "{options}");
    }

    let codes = |options: &str| {
        desk.succeed(&format!("encode a.png --penalty 20 -o codes.npz {options}"));
        read_codes::<f32>(&desk.path("codes.npz"), None).unwrap()
    };
    for border in lobcod::Border::ALL {
        assert_eq!(codes(&format!("--border {border}")).needles.border(), border);
    }
    assert!(codes("--base none").base.is_none());
    assert!(codes("--base smooth:2").base.is_some());
    assert!(codes("--nonnegative").needles.codes().iter().all(|c| c.value > 0.0));
    assert!(codes("").needles.codes().iter().any(|c| c.atom == 1));
    assert!(codes("--atom-weights weights.npy").needles.codes().iter().all(|c| c.atom != 1));
    assert!(codes("--penalty-map map.npy").needles.codes().iter().all(|c| c.position[2] <= 12));
    for cap in ["1", "caps.npy"] {
        let capped = codes(&format!("--max-nonzeros {cap} --max-sweeps 20"));
        assert!(capped.needles.nonzeros() > 0);
        assert!(
            capped.needles.codes().windows(2).all(|pair| pair[0].position != pair[1].position),
            "{cap}"
        );
    }
    // The weights of all coefficients: atom 1 is forbidden, atom 0 costs half.
    let plain = codes("");
    let (atoms, positions) =
        (plain.dictionary.len(), plain.needles.position_extent(&plain.dictionary));
    let weight =
        |i: usize| [0.5, f32::INFINITY].get(i / positions.volume()).copied().unwrap_or(1.0);
    let weights: Vec<f32> = (0..atoms * positions.volume()).map(weight).collect();
    let shape = [&[atoms], positions.axes()].concat();
    let array = lobcod_io::Array::from_reals(&shape, &weights);
    desk.bytes("all.npy", &lobcod_io::npy::encode(&array));
    assert!(codes("--weights all.npy").needles.codes().iter().all(|c| c.atom != 1));
    assert!(codes("--elastic 2").needles.codes() != plain.needles.codes());
    let debiased = codes("--debias").needles;
    assert_eq!(debiased.nonzeros(), plain.needles.nonzeros());
    assert_ne!(debiased, plain.needles);
    desk.image("colours.png", &[20, 24], 3, 0.0);
    let joint = desk.json("encode colours.png --dictionary natural --penalty 0 --joint 40");
    assert_eq!((&joint["status"], &joint["penalty"]), (&"converged".into(), &0.0.into()));
    assert!(number(&joint, "nonzeros") > 0.0);
    let bounded = desk.json("encode a.png --max-error 300 --tolerance 1e-2");
    assert_eq!(bounded["status"], "converged");
    assert!(number(&bounded, "error") <= 300.0);
    assert!(number(&bounded, "error") > 290.0);

    assert_eq!(codes("--size 5x7").dictionary.extent().axes(), [5, 7]);

    let hurried = desk.json("encode a.png --relative-penalty 0.01 --max-sweeps 1 --tolerance 1e-9");
    assert_eq!(hurried["status"], "max_sweeps");
    assert_eq!(desk.json("encode a.png --relative-penalty 1.5 --quiet")["nonzeros"], 0);
}

#[test]
fn small_and_flat_images_are_coded_too() {
    let desk = Desk::new();
    desk.image("dot.png", &[1, 1], 1, 0.0);
    desk.image("row.png", &[1, 50], 1, 0.0);
    desk.image("small.png", &[5, 6], 3, 0.0);
    let mut flat = texture(&[20, 20], 1, 0.0);
    flat.data_mut().fill(77.0);
    desk.write("flat.png", &flat, Depth::U8);
    for name in ["dot", "row", "small", "flat"] {
        for base in ["local-mean", "smooth", "none"] {
            let report = desk.json(&format!(
                "encode {name}.png --base {base} -o codes.npz --reference {name}.png"
            ));
            assert_eq!(report["status"], "converged", "{name} {base}");
            desk.succeed("decode codes.npz -o back.png");
        }
    }
    desk.succeed("encode flat.png -o codes.npz");
    desk.succeed("decode codes.npz -o back.png");
    let [flat, back] = ["flat.png", "back.png"]
        .map(|f| read_image::<f32>(&desk.path(f), &ReadOptions::default()).unwrap());
    assert_eq!(flat.signal, back.signal);
}

#[test]
fn a_dry_run_reports_the_memory_and_does_nothing() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 33], 1, 0.0);
    let plan = desk.json("encode a.png -o codes.npz --dry-run --max-memory 20k");
    assert_eq!(
        (&plan["dry_run"], &plan["fits"], &plan["atoms"]),
        (&true.into(), &false.into(), &81.into())
    );
    assert!(number(&plan, "working_memory_bytes") > 20e3);
    assert!(desk.succeed("encode a.png -o codes.npz --dry-run").contains("memory"));
    assert_eq!(desk.files(), ["a.png"]);
}

#[test]
fn quiet_prints_nothing() {
    let desk = Desk::new();
    desk.image("a.png", &[30, 30], 1, 0.0);
    assert_eq!(desk.succeed("encode a.png -o codes.npz --quiet"), "");
    assert_eq!(desk.succeed("decode codes.npz -o back.png --quiet"), "");
    // Not a terminal: no progress bar, which `succeed` asserts, and plain text.
    let summary = desk.succeed("encode a.png -o codes.npz");
    assert!(!summary.contains('\u{1b}') && summary.contains("objective"), "{summary}");
}

#[test]
fn atoms_without_unit_norm_cause_a_warning_and_are_counted() {
    let desk = Desk::new();
    desk.image("a.png", &[30, 30], 1, 0.0);
    let mut atoms = texture(&[5, 6, 6], 1, 0.0);
    atoms.data_mut().iter_mut().for_each(|x| *x *= 0.01);
    let axes = lobcod_io::Axes::Dhw;
    lobcod_io::write_image(
        &desk.path("d.npy"),
        &atoms,
        &lobcod_io::WriteOptions { axes, ..Default::default() },
    )
    .unwrap();
    let output = desk.run("encode a.png --dictionary d.npy --json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["normalised_atoms"], 5);
    let words = text(&output.stderr);
    assert!(
        words.starts_with("warning: 5 of the 5 atoms") && words.lines().count() == 1,
        "{words}"
    );
}

#[test]
fn a_penalty_that_zeroes_all_codes_causes_a_warning() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 40], 1, 0.0);
    desk.image("b.png", &[40, 40], 1, 1.0);
    desk.image("holes.png", &[40, 40], 1, 2.0);
    for line in [
        "encode a.png --penalty 1e7",
        "encode a.png b.png --relative-penalty 1.001",
        "learn a.png -o d.npz --atoms 4 --size 5x5 --passes 2 --penalty 1e7",
        "separate a.png --smooth-out s.png --texture-out t.png --penalty 1e7",
        "denoise a.png -o d.png --noise gaussian:5 --method convolutional --penalty 1e7",
        "fuse a.png b.png -o f.png --penalty 1e7",
    ] {
        let output = desk.run(&format!("{line} --json"));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = report["warnings"].as_array().unwrap();
        let words = text(&output.stderr);
        assert!(output.status.success() && warnings.len() == 1, "lobcod {line}: {report}");
        assert!(
            words.contains(&format!("warning: {}", warnings[0].as_str().unwrap())),
            "lobcod {line}: {words}"
        );
        assert!(
            words.contains("all codes are zero") && words.contains("smaller --penalty"),
            "lobcod {line}: {words}"
        );
        assert_eq!(text(&desk.run(&format!("{line} --quiet")).stderr), "", "lobcod {line} --quiet");
    }
    assert_eq!(desk.json("encode a.png")["warnings"], serde_json::json!([]));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_saves_the_result_so_far() {
    let desk = Desk::new();
    desk.image("a.png", &[400, 400], 1, 0.0);
    let line = "encode a.png -o codes.npz --relative-penalty 0.001 --tolerance 0 --time-limit 30 \
                --precision f64 --checkpoint run.npz";
    let report = desk.interrupt_after("run.npz", line);
    let codes = read_codes::<f64>(&desk.path("codes.npz"), None).unwrap();
    assert_eq!(codes.needles.nonzeros() as u64, report["nonzeros"].as_u64().unwrap());
}
