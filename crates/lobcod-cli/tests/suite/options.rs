//! Options: those without effect are accepted with a warning, and the help shows each where it
//! works.

use crate::common::{Desk, text};

#[test]
fn options_without_effect_are_accepted_with_a_warning() {
    let desk = Desk::new();
    desk.image("a.png", &[24, 30], 1, 0.0);
    desk.mask("mask.png", &[24, 30]);
    for (line, warnings) in [
        ("denoise a.png -o out.png --noise 5 --seed 3", &["--seed has no effect in denoise"][..]),
        ("denoise a.png -o out.png --noise 5 --precision f64", &["single precision"]),
        ("fuse a.png a.png -o out.png --seed 3 --precision f64", &["--seed", "--precision"]),
        ("separate a.png --smooth-out out.png --texture-out t.png --seed 1", &["--seed"]),
        ("inpaint a.png --known mask.png -o out.png --tolerance 0.1", &["--tolerance"]),
        (
            "denoise a.png -o out.png --noise 5 --peak 9",
            &["--peak has no effect without --reference"],
        ),
        ("denoise a.png -o out.png --noise 5", &[]),
    ] {
        let output = desk.run(line);
        let printed = text(&output.stderr);
        assert!(output.status.success(), "lobcod {line}: {printed}");
        for warning in warnings {
            assert!(printed.contains(warning), "lobcod {line}: {printed}");
        }
        assert_eq!(printed.lines().count(), warnings.len(), "lobcod {line}: {printed}");
        assert!(desk.run(&format!("{line} --quiet")).stderr.is_empty(), "lobcod {line} --quiet");
    }
}

#[test]
fn the_help_lists_tasks_first_and_options_where_they_work() {
    let desk = Desk::new();
    let help = desk.succeed("--help");
    let places = ["inpaint", "fuse", "denoise", "separate", "encode", "learn", "decode"]
        .map(|command| help.find(&format!("\n  {command} ")).unwrap());
    assert!(places.is_sorted(), "{help}");
    assert!(!desk.succeed("fuse --help").contains("--seed"));
    assert!(desk.succeed("learn --help").contains("--seed"));
    assert!(!desk.succeed("learn -h").contains("--seed"));
}

#[test]
fn groups_of_patches_are_refused_on_a_gpu() {
    let desk = Desk::new();
    desk.image("a.png", &[24, 30], 1, 0.0);
    let output = desk.run("denoise a.png -o out.png --noise 5 --engine cuda");
    assert!(!output.status.success());
    let printed = text(&output.stderr);
    assert!(printed.contains("similar patches are processed on the CPU"), "{printed}");
}

/// On a machine without a usable GPU, which an empty list of devices imitates.
#[test]
fn auto_without_a_gpu_uses_the_cpu_and_says_why() {
    let desk = Desk::new();
    desk.image("a.png", &[24, 30], 1, 0.0);
    for (line, why) in [
        ("encode a.png -o auto.npz --engine auto", "using the CPU, because the CUDA engine needs"),
        ("encode a.png -o auto.npz --engine auto --precision f64", "because the GPU engine uses"),
        ("denoise a.png -o out.png --noise 5 --engine auto", "using the CPU, because"),
    ] {
        let run = |line: &str| desk.command(line).env("CUDA_VISIBLE_DEVICES", "").output().unwrap();
        let output = run(line);
        let printed = text(&output.stderr);
        assert!(output.status.success(), "lobcod {line}: {printed}");
        assert!(printed.contains(why) && printed.lines().count() == 1, "lobcod {line}: {printed}");
        assert!(run(&format!("{line} --quiet")).stderr.is_empty(), "lobcod {line} --quiet");
    }
    desk.succeed("encode a.png -o cpu.npz --precision f64");
    let bytes = |name: &str| std::fs::read(desk.path(name)).unwrap();
    assert_eq!(bytes("auto.npz"), bytes("cpu.npz"));
}
