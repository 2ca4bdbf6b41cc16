//! `lobcod inpaint`: input, output and report.

use crate::common::{Desk, near, number, text, texture};
use lobcod::Signal;
use lobcod_io::{Depth, ReadOptions, read_image};
use lobcod_tasks::metrics;
use std::fs;

/// A folder with an image, a mask of its holes and a mask of its known pixels (one the inverse of
/// the other).
fn desk(channels: usize) -> Desk {
    let desk = Desk::new();
    desk.image("photo.png", &[40, 48], channels, 0.0);
    let holes = mask(&[40, 48]);
    desk.write("holes.png", &holes, Depth::U8);
    let known =
        Signal::from_planar(holes.extent(), 1, holes.data().iter().map(|x| 255.0 - x).collect())
            .unwrap();
    desk.write("known.png", &known, Depth::U8);
    desk
}

/// 255 at two pixels in five.
fn mask(axes: &[usize]) -> Signal<f32> {
    let extent = lobcod::Extent::new(axes).unwrap();
    let hole = |i: usize| if (i * 7919 + i / 11) % 5 < 2 { 255.0 } else { 0.0 };
    Signal::from_planar(extent, 1, (0..extent.volume()).map(hole).collect()).unwrap()
}

fn read(desk: &Desk, name: &str) -> Signal<f32> {
    read_image(&desk.path(name), &ReadOptions::default()).unwrap().signal
}

#[test]
fn the_report_has_the_fields_that_scripts_rely_on() {
    let desk = desk(1);
    let report = desk
        .json("inpaint --threads 1 photo.png --holes holes.png -o out.png --reference photo.png");
    assert_eq!(desk.files(), ["holes.png", "known.png", "out.png", "photo.png"]);
    for name in [
        "psnr_db",
        "psnr_output_db",
        "psnr_holes_db",
        "ssim",
        "penalty",
        "seconds",
        "working_memory_bytes",
        "nonzeros",
    ] {
        assert!(number(&report, name) > 0.0, "{name}");
    }
    for (name, value) in [
        ("status", "converged"),
        ("output", "out.png"),
        ("engine", "cpu"),
        ("precision", "f32"),
        ("learn", "none"),
    ] {
        assert_eq!(report[name], value);
    }
    let path = report["penalty_path"].as_array().unwrap();
    assert!(
        path.len() > 4
            && path.iter().all(|p| number(p, "penalty") > 0.0 && number(p, "held_out_error") > 0.0)
    );
    assert_eq!((number(&report, "pixels"), number(&report, "missing_samples")), (1920.0, 873.0));
    let truth = read(&desk, "photo.png");
    let out = read(&desk, "out.png");
    let holes = mask(&[40, 48]);
    assert!(near(
        number(&report, "psnr_output_db"),
        metrics::psnr(&out, &truth, 255.0).unwrap(),
        1e-5
    ));
    let square: f64 = (0..1920)
        .filter(|&i| holes.data()[i] > 0.0)
        .map(|i| f64::from(out.data()[i] - truth.data()[i]).powi(2))
        .sum();
    assert!(near(
        number(&report, "psnr_holes_db"),
        10.0 * (255.0 * 255.0 * 873.0 / square).log10(),
        1e-5
    ));
    // The fit is scored including its known pixels, which are not exact.
    assert!(number(&report, "psnr_db") != number(&report, "psnr_output_db"));
    assert!(number(&report, "psnr_output_db") > 25.0);
}

#[test]
fn known_pixels_are_kept_unless_the_fit_is_requested() {
    let desk = desk(3);
    let quiet = desk.succeed("inpaint --threads 1 photo.png --holes holes.png -o kept.png --quiet");
    assert_eq!(quiet, "");
    desk.succeed("inpaint photo.png --known known.png -o same.png --quiet --threads 2");
    desk.succeed(
        "inpaint --threads 1 photo.png --holes holes.png -o refit.png --penalty 30 --refit-known \
         --quiet",
    );
    assert_eq!(fs::read(desk.path("kept.png")).unwrap(), fs::read(desk.path("same.png")).unwrap());
    let truth = read(&desk, "photo.png");
    let kept = read(&desk, "kept.png");
    let refit = read(&desk, "refit.png");
    let holes = mask(&[40, 48]);
    let known = |i: &usize| holes.data()[i % 1920] == 0.0;
    assert!((0..truth.data().len()).filter(known).all(|i| kept.data()[i] == truth.data()[i]));
    assert!(
        (0..truth.data().len())
            .filter(known)
            .filter(|&i| refit.data()[i] != truth.data()[i])
            .count()
            > 500
    );
}

#[test]
fn values_under_holes_make_no_difference() {
    let desk = desk(1);
    let mut painted = read(&desk, "photo.png");
    let holes = mask(&[40, 48]);
    (0..1920).filter(|&i| holes.data()[i] > 0.0).for_each(|i| painted.data_mut()[i] = 255.0);
    desk.write("painted.png", &painted, Depth::U8);
    (0..1920).filter(|&i| holes.data()[i] > 0.0).for_each(|i| painted.data_mut()[i] = f32::NAN);
    desk.write("unknown.npy", &painted, Depth::F32);
    for line in ["photo.png --holes holes.png", "painted.png --holes holes.png", "unknown.npy"] {
        desk.succeed(&format!(
            "inpaint --threads 1 {line} -o out-{}.npy --quiet",
            line.split('.').next().unwrap()
        ));
    }
    let photo = fs::read(desk.path("out-photo.npy")).unwrap();
    assert_eq!(photo, fs::read(desk.path("out-painted.npy")).unwrap());
    // An array with NaN holes needs no mask.
    assert_eq!(photo, fs::read(desk.path("out-unknown.npy")).unwrap());
}

#[test]
fn output_keeps_the_sample_type() {
    let desk = desk(1);
    desk.write("deep.png", &texture(&[40, 48], 1, 0.3), Depth::U16);
    let report = desk.json(
        "inpaint --threads 1 deep.png --holes holes.png -o deep-out.png --reference deep.png",
    );
    assert_eq!(report["depth"], "u16");
    let raw = |name: &str| {
        read_image::<f32>(
            &desk.path(name),
            &ReadOptions { scale: 65535.0, ..ReadOptions::default() },
        )
        .unwrap()
    };
    let before = raw("deep.png");
    let after = raw("deep-out.png");
    let holes = mask(&[40, 48]);
    assert_eq!(after.depth, Depth::U16);
    assert!(
        (0..1920)
            .filter(|&i| holes.data()[i] == 0.0)
            .all(|i| before.signal.data()[i] == after.signal.data()[i])
    );
    assert!(
        (0..1920).any(|i| after.signal.data()[i] % 257.0 != 0.0),
        "only 8 of the 16 bits are used"
    );
    // Float files have their own units; the penalty is chosen in them.
    let mut small = texture(&[40, 48], 1, 0.3);
    small.data_mut().iter_mut().for_each(|x| *x /= 255.0);
    desk.write("small.tif", &small, Depth::F32);
    let float = desk.json(
        "inpaint --threads 1 small.tif --holes holes.png -o small-out.tif --reference small.tif \
         --peak 1",
    );
    assert_eq!(float["depth"], "f32");
    assert!(near(number(&float, "psnr_db"), number(&report, "psnr_db"), 0.02));
    assert!(near(255.0 * number(&float, "penalty"), number(&report, "penalty"), 0.05));
}

#[test]
fn an_image_without_holes_is_written_unchanged() {
    let desk = desk(1);
    let output = desk.run("inpaint --threads 1 photo.png -o out.png");
    assert!(output.status.success() && text(&output.stderr).contains("no pixel is missing"));
    assert_eq!(read(&desk, "out.png").data(), read(&desk, "photo.png").data());
    let scored = desk.run("inpaint --threads 1 photo.png -o out.png --reference photo.png");
    let words = text(&scored.stdout);
    assert!(words.contains("PSNR") && !words.contains("NaN"), "{words}");
}

#[test]
fn learning_and_presets_average_several_results() {
    let desk = desk(1);
    let learnt =
        desk.json("inpaint --threads 1 photo.png --holes holes.png -o out.png --learn image");
    let answers = learnt["answers"].as_array().unwrap();
    // Two mirror images of the given atoms, the learnt ones, smooth interpolation, and groups of
    // similar patches.
    assert_eq!((answers.len(), learnt["learn"].as_str()), (5, Some("image")));
    assert_eq!(answers.iter().filter(|a| a["learnt"] == true).count(), 1);
    // Those without a dictionary.
    assert_eq!(answers.iter().filter(|a| a["dictionary"] == "none").count(), 2);
    assert!(near(answers.iter().map(|a| number(a, "weight")).sum(), 1.0, 1e-9));
    let best = desk.json(
        "inpaint --threads 1 photo.png --holes holes.png -o out.png --preset best --dictionary \
         natural --dictionary dct",
    );
    // Thirteen of single patches, and one of groups of similar ones.
    assert_eq!(best["answers"].as_array().unwrap().len(), 14);
    let fast =
        desk.json("inpaint --threads 1 photo.png --holes holes.png -o out.png --preset fast");
    let fast = fast["answers"].as_array().unwrap();
    assert!(fast.len() == 2 && fast.iter().all(|answer| answer["dictionary"] == "none"));
    let given = desk.json(
        "inpaint --threads 1 photo.png --holes holes.png -o out.png --preset fast --dictionary dct",
    );
    assert_eq!(given["answers"][0]["dictionary"], "dct");
    let words = desk.succeed(
        "inpaint --threads 1 photo.png --holes holes.png -o out.png --preset fast --report p.html",
    );
    assert!(words.contains("similar patches") && !words.contains("penalty"), "{words}");
    assert!(fs::read_to_string(desk.path("p.html")).unwrap().contains("Expected error"));
    let report =
        desk.json("inpaint --threads 1 photo.png --holes holes.png -o out.png --penalty 12.5");
    assert_eq!(number(&report, "penalty"), 12.5);
}

#[test]
fn the_report_shows_before_and_after_holes_and_path() {
    let desk = desk(3);
    desk.succeed(
        "inpaint --threads 1 photo.png --holes holes.png -o out.png --reference photo.png \
         --report page.html --quiet",
    );
    let page = fs::read_to_string(desk.path("page.html")).unwrap();
    for part in [
        "with holes",
        "filled",
        "absolute difference",
        "The holes",
        "held-out error",
        "PSNR",
        "--holes",
        "<svg",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert_eq!(page.matches("data:image/png;base64,").count(), 5);
    for address in ["http:", "https:", "href=", "<link"] {
        assert!(!page.contains(address), "{address}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let desk = desk(1);
    let files = desk.files();
    let plan = desk
        .json("inpaint --threads 1 photo.png --holes holes.png -o out.png --preset best --dry-run");
    assert_eq!((plan["variants"].as_u64(), plan["learn"].as_str()), (Some(2), Some("image")));
    assert!(number(&plan, "working_memory_bytes") > 1e5);
    let words =
        desk.succeed("inpaint --threads 1 photo.png --holes holes.png -o out.png --dry-run");
    assert!(words.contains("nothing was done"));
    assert_eq!(desk.files(), files);
}

#[test]
fn every_error_is_one_sentence() {
    let desk = desk(1);
    desk.image("small.png", &[12, 12], 1, 0.0);
    desk.bytes("text.png", b"no image");
    let mut all = texture(&[40, 48], 1, 0.0);
    all.data_mut().fill(255.0);
    desk.write("all.png", &all, Depth::U8);
    let files = desk.files();
    for (line, word) in [
        ("inpaint --threads 1 none.png --holes holes.png -o out.png", "none.png"),
        ("inpaint --threads 1 text.png --holes holes.png -o out.png", "text.png"),
        ("inpaint --threads 1 photo.png --holes none.png -o out.png", "none.png"),
        ("inpaint --threads 1 photo.png --holes small.png -o out.png", "small.png"),
        ("inpaint --threads 1 photo.png --holes all.png -o out.png", "known"),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.txt", "out.txt"),
        ("inpaint --threads 1 photo.png --holes holes.png -o missing/out.png", "missing"),
        ("inpaint --threads 1 photo.png --holes holes.png -o photo.png", "another output file"),
        ("inpaint --threads 1 photo.png --holes holes.png -o holes.png", "another output file"),
        (
            "inpaint --threads 1 photo.png --holes holes.png -o out.png --report page.txt",
            "page.txt",
        ),
        (
            "inpaint --threads 1 photo.png --holes holes.png -o out.png --reference small.png",
            "same shape",
        ),
        (
            "inpaint --threads 1 photo.png --holes holes.png -o out.png --reference photo.png \
             --peak 0",
            "peak",
        ),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --penalty 0", "penalty"),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --penalty -3", "penalty"),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --density 0", "density"),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --variants 9", "variants"),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --windows 1,0", "window"),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --held-out 0.7", "held out"),
        (
            "inpaint --threads 1 photo.png --holes holes.png -o out.png --dictionary none.npz",
            "none.npz",
        ),
        ("inpaint --threads 1 photo.png --holes holes.png -o out.png --max-memory 60k", "60.0 kib"),
        (
            "inpaint --threads 1 photo.png --holes holes.png -o out.png --engine cuda --precision \
             f64",
            "cuda",
        ),
    ] {
        let output = desk.run(line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "lobcod {line}: {err}");
        assert!(
            out.is_empty() && err.lines().count() == 1 && err.to_lowercase().contains(word),
            "lobcod {line}: {err}"
        );
        assert_eq!(desk.files(), files, "lobcod {line} left files behind");
    }
    for line in [
        "inpaint --threads 1 photo.png --holes holes.png",
        "inpaint --threads 1 photo.png --holes holes.png --known known.png -o out.png",
        "inpaint --threads 1 photo.png --holes holes.png -o out.png --penalty much",
        "inpaint --threads 1 photo.png --holes holes.png -o - --json",
    ] {
        assert_eq!(desk.run(line).status.code(), Some(2), "lobcod {line}");
    }
}

#[test]
fn a_time_limit_leaves_a_complete_image() {
    let desk = desk(1);
    let report = desk.json(
        "inpaint --threads 1 photo.png --holes holes.png -o out.png --time-limit 0 --reference \
         photo.png",
    );
    assert_eq!(report["status"], "time_limit");
    assert!(number(&report, "psnr_output_db") > 10.0);
}
