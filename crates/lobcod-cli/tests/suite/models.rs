//! Models of `lobcod encode` and `lobcod learn`.

use crate::common::{Desk, near, number, text, texture};
use lobcod::Dictionary;
use lobcod_io::{read_codes, read_dictionary};

const SMALL: &str = "--atoms 4 --size 5x5 --passes 8 --base none";
const FEW: &str = "--atoms 4 --base none";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("a.png", &[30, 34], 1, 0.0);
    desk.image("colour.png", &[26, 22], 3, 1.0);
    desk
}

fn atoms(desk: &Desk, name: &str) -> Dictionary<f64> {
    read_dictionary(&desk.path(name)).unwrap()
}

#[test]
fn every_option_shapes_the_atoms_and_is_reported() {
    let desk = desk();
    let summary = desk.succeed(&format!(
        "learn a.png -o d.npz {SMALL} --zero-mean --window tukey:0.5 --nonnegative --sort \
         variance --precision f64"
    ));
    assert!(
        summary.contains("nonnegative, zero-mean, sort variance, window tukey:0.5"),
        "{summary}"
    );
    let learnt = atoms(&desk, "d.npz");
    for k in 0..4 {
        assert!(learnt.atom(k).iter().sum::<f64>().abs() < 1e-12, "atom {k} has a mean");
        assert!(learnt.atom(k)[..5].iter().all(|x| *x == 0.0), "atom {k} is not tapered");
    }
    desk.succeed("encode a.png --dictionary d.npz --nonnegative --base none -o codes.npz");
    let codes = read_codes::<f32>(&desk.path("codes.npz"), None).unwrap();
    assert!(codes.needles.codes().iter().all(|code| code.value > 0.0));

    desk.succeed(&format!("learn colour.png -o rank.npz {SMALL} --rank 1 --precision f64"));
    assert!(atoms(&desk, "rank.npz").factors().is_some());

    let more = desk.json(&format!("learn a.png -o more.npz {SMALL} --freeze d.npz --grow"));
    assert_eq!(more["atoms"], 8);
    let more = atoms(&desk, "more.npz").cast::<f32>();
    assert_eq!(more.data()[..100], learnt.cast::<f32>().data()[..], "frozen atoms moved");
}

#[test]
fn atoms_of_several_sizes_are_learnt_and_coded() {
    let desk = desk();
    let sizes = "--size 4x4:3,6x7:2";
    let report = desk.json(&format!("learn a.png -o d.npz {sizes} --passes 5 --base none"));
    assert_eq!((&report["atoms"], &report["atom_shape"]), (&5.into(), &vec![6, 7].into()));
    assert_eq!(report["model"], serde_json::json!(["sizes 4x4:3,6x7:2"]));
    let learnt = atoms(&desk, "d.npz");
    for k in 0..5 {
        let (height, width) = if k < 3 { (4, 4) } else { (6, 7) };
        let inside = |i: usize| i / 7 < height && i % 7 < width;
        let kept = |(i, x): (usize, &f64)| (*x != 0.0) == inside(i);
        assert!(learnt.atom(k).iter().enumerate().all(kept), "atom {k}");
    }
    let coded = desk.json("encode a.png --dictionary d.npz --base none --elastic 2 --joint 0");
    assert_eq!(
        (&coded["status"], &coded["model"]),
        (&"converged".into(), &vec!["elastic 2"].into())
    );
    desk.succeed(&format!("learn a.png -o e.npz {sizes} --init d.npz --passes 2 --stream"));
    for (options, code, words) in [
        ("--size 4x4:3,6x7", 2, "a number of atoms for each size"),
        ("--size 4x4:0", 2, "1 to 65535 atoms after the colon"),
        ("--size 4x4:3,6:2", 2, "the same number of axes"),
        ("--size 4x4:3,6x7:2 --atoms 4", 1, "remove --atoms"),
        ("--size 4x4:3,6x7:3 --init d.npz", 1, "contains 5 atoms"),
    ] {
        let output = desk.run(&format!("learn a.png -o no.npz --base none {options}"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options}: {error}");
        assert!(error.contains(words), "{options}: {error}");
    }
}

#[test]
fn a_stream_takes_the_constraints_and_every_wrong_use_gets_a_sentence() {
    let desk = desk();
    desk.succeed(&format!(
        "learn a.png -o d.npz {FEW} --size 5x5 --stream --zero-mean --precision f64"
    ));
    let learnt = atoms(&desk, "d.npz");
    assert!((0..4).all(|k| learnt.atom(k).iter().sum::<f64>().abs() < 1e-12));
    for (options, code, words) in [
        ("--stream --grow", 2, "--grow has no meaning with --stream"),
        ("--stream --sort variance", 2, "--sort has no meaning with --stream"),
        ("--grow --method stochastic", 1, "atomwise or batch"),
        ("--size 5x5 --grow --passes 3", 1, "number of passes is 3"),
        ("--rank 1", 1, "several channels"),
        ("--rank 2", 2, "2 is not in 1..=1"),
        ("--window hann", 2, "tukey:ALPHA"),
        ("--window tukey:2", 2, "at most 1"),
        ("--zero-mean --init dct", 1, "initial atom 0"),
        ("--freeze nothing.npz", 1, "nothing.npz"),
        ("--passes 1 --freeze d.npz --size 4x4", 1, "--size of the frozen atoms, 5x5"),
    ] {
        let output = desk.run(&format!("learn a.png -o no.npz {FEW} {options}"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options}: {error}");
        assert!(error.contains(words), "{options}: {error}");
        assert!(!desk.path("no.npz").exists(), "{options}");
    }
}

#[test]
fn a_smooth_layer_is_estimated_with_codes_and_atoms() {
    let desk = desk();
    desk.mask("known.png", &[30, 34]);
    let options = "--base joint-smooth:8 --known known.png --relative-penalty 0.1";
    let coded = desk.json(&format!("encode a.png -o c.npz {options} --precision f64"));
    assert_eq!((&coded["status"], &coded["base"]), (&"converged".into(), &"joint-smooth:8".into()));
    assert_eq!(coded["model"], serde_json::json!(["joint-smooth:8"]));
    let codes = read_codes::<f64>(&desk.path("c.npz"), None).unwrap();
    let layer = codes.base.expect("a layer");
    let made = codes.needles.synthesise(&codes.dictionary).unwrap();
    let image = texture(&[30, 34], 1, 0.0);
    let error = |i: usize| f64::from(image.data()[i]) - layer.data()[i] - made.data()[i];
    let term: f64 = (0..1020).filter(|i| i % 11 != 0).map(|i| 0.5 * error(i).powi(2)).sum();
    assert!(near(term, number(&coded, "data_term"), 1e-9), "{term} {coded}");
    desk.succeed("decode c.npz -o out.png");
    let plan = desk.succeed(&format!("encode a.png {options} --dry-run"));
    assert!(plan.contains("joint-smooth:8"), "{plan}");
    desk.succeed(&format!("encode a.png {options} --report page.html"));

    let learn = format!("learn a.png -o d.npz --atoms 4 --size 5x5 --passes 6 {options}");
    let learnt = desk.json(&format!("{learn} --init patches --report learnt.html"));
    assert_eq!(learnt["model"], serde_json::json!(["joint-smooth:8"]));
    let last = learnt["history"][5]["objective"].as_f64().unwrap();
    assert!(number(&learnt, "objective") <= 1.001 * last, "{learnt}");
    for (line, words) in [
        ("encode a.png --base joint-smooth --debias", "cannot be combined with debiased codes"),
        ("encode a.png --base joint-smooth --loss l1", "cannot be combined with a robust loss"),
        ("learn a.png -o no.npz --base joint-smooth --stream", "never estimates smooth layers"),
    ] {
        let output = desk.run(line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {error}");
        assert!(error.contains(words), "{line}: {error}");
    }
    assert_eq!(desk.run("encode a.png --base joint-smooth:0").status.code(), Some(2));
}
