//! `lobcod demo`, `show` and `doctor`.

mod common;

use common::{Desk, number};
use lobcod::{Dictionary, Extent};
use lobcod_image::{ReadOptions, read_picture, write_dictionary};

#[test]
fn the_demo_is_a_close_likeness() {
    let desk = Desk::new();
    let report = desk.json("demo");
    assert_eq!((&report["status"], &report["output"]), (&"converged".into(), &"lobcod-demo".into()));
    assert!(number(&report, "psnr_db") > 37.0 && number(&report, "ssim") > 0.98);
    let picture = |name: &str| {
        let path = desk.path("lobcod-demo").join(name);
        read_picture::<f32>(&path, &ReadOptions::default()).unwrap().signal
    };
    let (original, reconstruction) = (picture("original.png"), picture("reconstruction.png"));
    assert_eq!((original.extent().axes(), original.channels()), (&[256, 256][..], 3));
    let decibels = lobcod::metrics::psnr(&original, &reconstruction, 255.0).unwrap();
    assert!((decibels - number(&report, "psnr_db")).abs() < 0.3, "{decibels}");
    assert_eq!(picture("dictionary.png").extent().axes(), [298, 298]);
    let page = std::fs::read_to_string(desk.path("lobcod-demo").join("index.html")).unwrap();
    assert!(page.contains("type=\"range\"") && page.contains("converged"));
    assert_eq!(desk.files(), ["lobcod-demo"]);
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
        let atoms = Dictionary::<f32>::random(Extent::new(&axes).unwrap(), channels, 10, 3).unwrap();
        write_dictionary(&desk.path("d.npz"), &atoms, &[]).unwrap();
        let report = desk.json(&format!("show d.npz -o {name}.png"));
        assert_eq!((&report["atoms"], &report["channels"]), (&10.into(), &channels.into()));
        assert!((0.0..=1.0).contains(&number(&report, "coherence")));
        let picture = read_picture::<f32>(&desk.path(&format!("{name}.png")), &ReadOptions::default()).unwrap();
        assert_eq!(picture.signal.channels(), if channels == 3 { 3 } else { 1 });
    }
    assert!(desk.succeed("show dct -o dct.png").contains("81 atoms of 8x8"));
}

#[test]
fn the_doctor_answers() {
    let desk = Desk::new();
    let report = desk.json("doctor");
    assert_eq!(report["engines"]["cpu"], true);
    assert!(report["simd"].is_string() && number(&report, "threads") >= 1.0);
    assert!(desk.succeed("doctor").contains("threads"));
}

#[test]
fn help_and_version_are_given() {
    let desk = Desk::new();
    assert!(desk.succeed("--version").starts_with("lobcod "));
    for verb in ["", "demo", "encode", "learn", "decode", "show", "doctor"] {
        assert!(desk.succeed(&format!("{verb} --help")).contains("Usage: lobcod"));
    }
}
