//! `lobcod demo`, `show` and `doctor`.

use crate::common::browser::{Browser, look};
use crate::common::{Desk, number};
use lobcod::{Dictionary, Extent};
use lobcod_io::{ReadOptions, read_image, write_dictionary};
#[cfg(target_os = "linux")]
use std::path::Path;

#[test]
fn the_demo_learns_encodes_inpaints_and_fuses() {
    let desk = Desk::new();
    let report = desk.json("demo");
    assert_eq!(
        (&report["status"], &report["output"]),
        (&"converged".into(), &"lobcod-demo".into())
    );
    assert!(number(&report, "relative_gap") <= 5e-4);
    let image = |name: &str| {
        let path = desk.path("lobcod-demo").join(name);
        read_image::<f32>(&path, &ReadOptions::default()).unwrap().signal
    };
    let original = image("original.png");
    assert_eq!((original.extent().axes(), original.channels()), (&[320, 320][..], 3));
    // The scores in the report match the written files.
    for (file, reported, least) in [
        ("reconstruction.png", &report["encode"]["psnr_db"], 41.0),
        ("filled.png", &report["inpaint"]["psnr_output_db"], 31.0),
        ("near.png", &report["fuse"]["near_psnr_db"], 20.0),
        ("fused.png", &report["fuse"]["psnr_db"], 40.0),
    ] {
        let decibels = lobcod_tasks::metrics::psnr(&original, &image(file), 255.0).unwrap();
        assert!(
            decibels > least && (decibels - reported.as_f64().unwrap()).abs() < 0.5,
            "{file}: {decibels}"
        );
    }
    assert!(number(&report["fuse"], "psnr_db") > number(&report["fuse"], "far_psnr_db") + 10.0);
    // The written files are usable examples for other commands.
    let codes = desk.json("show lobcod-demo/codes.npz -o atoms.png");
    let times: u64 =
        codes["uses"].as_array().unwrap().iter().map(|row| row["times"].as_u64().unwrap()).sum();
    assert_eq!(times, report["nonzeros"].as_u64().unwrap());
    let damaged =
        desk.json("encode lobcod-demo/stack.tif lobcod-demo/stack.tif --axes dhw --dry-run");
    assert_eq!(damaged["images"][1]["shape"], serde_json::json!([12, 64, 64]));
    let page = std::fs::read_to_string(desk.path("lobcod-demo").join("index.html")).unwrap();
    assert_eq!(page.matches("type=\"range\"").count(), 5);
    for words in ["1. Learn", "2. Encode", "Certificate", "3. Inpaint", "4. Fuse"] {
        assert!(page.contains(words), "{words}");
    }
    if let Some(mut browser) = Browser::start(&desk.path("profile")) {
        // Two images under each of five sliders, two maps of codes, three maps of errors and
        // decisions, and the atoms.
        look(&mut browser, &desk.path("lobcod-demo").join("index.html"), 2 * 5 + 2 + 3 + 64, 5);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_demo_opens_its_report_or_says_where_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    // Without any program that opens pages, the work is done and a warning names the page.
    let programs = desk.path("programs");
    std::fs::create_dir(&programs).unwrap();
    let page = desk.path("lobcod-demo").join("index.html");
    let output = desk.command("demo --open").env("PATH", &programs).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && page.exists(), "{words}");
    assert!(words.contains("no browser") && words.contains("lobcod-demo/index.html"), "{words}");
    // Otherwise it gets the page.
    let opener = programs.join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\necho \"$1\" >opened\n").unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = desk.command("demo --open").env("PATH", &programs).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !words.contains("no browser"), "{words}");
    let written = || std::fs::read_to_string(desk.path("opened")).unwrap_or_default();
    while !written().ends_with('\n') {
        // On a busy machine it may still be running.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(Path::new(written().trim()).canonicalize().unwrap(), page.canonicalize().unwrap());
    // Without a page there is nothing to open.
    assert_eq!(
        desk.command("demo --only-examples --open").output().unwrap().status.code(),
        Some(2)
    );
}

#[test]
fn atom_usage_is_counted() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 33], 1, 0.0);
    let report = desk.json("encode a.png -o codes.npz");
    let printed = desk.succeed("show codes.npz -o atoms.png --rows 81");
    let rows: Vec<Vec<&str>> =
        printed.lines().map(|line| line.split_whitespace().collect()).collect();
    let first = rows.iter().position(|row| row.first() == Some(&"atom")).unwrap() + 1;
    // Counts are written with separated thousands, but none here is that large.
    let counts: Vec<u64> = rows[first..].iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b) && counts.len() == 81);
    assert_eq!(counts.iter().sum::<u64>(), report["nonzeros"].as_u64().unwrap());
    assert!(desk.succeed("show codes.npz -o atoms.png --rows 3").contains("78 atoms more"));
    assert!(desk.json("show natural -o atoms.png")["uses"].is_null());
}

#[test]
fn atoms_of_every_kind_are_shown() {
    let desk = Desk::new();
    for (name, axes, channels) in [
        ("grey", vec![7, 9], 1),
        ("colour", vec![8, 8], 3),
        ("line", vec![20], 1),
        ("stereo", vec![20], 2),
        ("volume", vec![3, 4, 5], 1),
    ] {
        let atoms =
            Dictionary::<f32>::random(Extent::new(&axes).unwrap(), channels, 10, 3).unwrap();
        write_dictionary(&desk.path("d.npz"), &atoms, &[]).unwrap();
        let report = desk.json(&format!("show d.npz -o {name}.png"));
        assert_eq!((&report["atoms"], &report["channels"]), (&10.into(), &channels.into()));
        assert!((0.0..=1.0).contains(&number(&report, "coherence")));
        let image =
            read_image::<f32>(&desk.path(&format!("{name}.png")), &ReadOptions::default()).unwrap();
        assert_eq!(image.signal.channels(), if channels == 3 { 3 } else { 1 });
    }
    assert!(desk.succeed("show dct -o dct.png").contains("81 atoms of 8x8"));
}

#[test]
fn the_doctor_reports() {
    let desk = Desk::new();
    let report = desk.json("doctor");
    assert_eq!(report["engines"]["cpu"], true);
    assert!(report["simd"].is_string() && number(&report, "threads") >= 1.0);
    assert!(desk.succeed("doctor").contains("threads"));
}

#[test]
fn help_and_version_are_printed() {
    let desk = Desk::new();
    assert!(desk.succeed("--version").starts_with("lobcod "));
    for command in [
        "",
        "demo",
        "encode",
        "learn",
        "inpaint",
        "fuse",
        "denoise",
        "separate",
        "compare",
        "decode",
        "show",
        "doctor",
        "find-damage",
    ] {
        let help = desk.succeed(&format!("{command} --help"));
        assert!(
            help.contains("Usage: lobcod") && (command.is_empty() || help.contains("Example")),
            "{command}"
        );
    }
}
