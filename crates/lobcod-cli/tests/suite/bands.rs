//! Encoding of images that exceed the memory limit.

use crate::common::{Desk, near, number, text, texture};
use lobcod::{Extent, Signal};
use lobcod_io::{Depth, read_codes};
use serde_json::Value;

/// Less than the whole image needs, more than a band needs.
const LIMIT: &str = "--max-memory 44M";
const USUAL: &str = "--penalty 40 --threads 1";

/// An image that is constant except for a few columns: large, and quickly encoded.
fn tall() -> Signal<f32> {
    let height = 1600;
    let width = 900;
    let busy = 24;
    let pattern = texture(&[height, busy], 1, 0.3);
    let value = |i: usize| match (i / width, i % width) {
        (y, x) if x < busy => pattern.data()[y * busy + x],
        _ => 90.0,
    };
    let extent = Extent::new(&[height, width]).unwrap();
    Signal::from_planar(extent, 1, (0..height * width).map(value).collect()).unwrap()
}

/// Runs a command that must succeed with `--json`; returns standard error and the report.
fn in_bands(desk: &Desk, line: &str) -> (String, Value) {
    let output = desk.run(&format!("{line} {LIMIT} --json"));
    let err = text(&output.stderr);
    assert!(output.status.success(), "lobcod {line}: {err}");
    (err, serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn arrays_and_tiffs_are_encoded_in_bands_automatically() {
    let desk = Desk::new();
    let image = tall();
    desk.write("a.npy", &image, Depth::U8);
    desk.write("a.tif", &image, Depth::U8);
    let whole = desk.json(&format!("encode a.npy -o whole.npz {USUAL} --tolerance 1e-4"));
    assert!(whole.get("bands").is_none());
    desk.succeed("decode whole.npz -o whole.npy");
    let mut objective = None;
    for file in ["a.npy", "a.tif"] {
        let (said, report) = in_bands(&desk, &format!("encode {file} -o codes.npz {USUAL}"));
        assert!(said.lines().count() == 1 && said.contains("bands"), "{said}");
        assert!(report["bands"].as_u64().unwrap() > 1 && report["status"] == "converged");
        assert!(near(number(&report, "objective"), number(&whole, "objective"), 1e-3));
        assert!(near(number(&report, "penalty_max"), number(&whole, "penalty_max"), 1e-5));
        assert!(number(&report, "relative_gap") <= 1e-3);
        let codes = read_codes::<f32>(&desk.path("codes.npz"), None).unwrap();
        let of_whole = read_codes::<f32>(&desk.path("whole.npz"), None).unwrap();
        assert_eq!(codes.needles.nonzeros() as f64, number(&report, "nonzeros"));
        assert_eq!(codes.base, of_whole.base, "the same base layer, row by row");
        assert_eq!(codes.axes, of_whole.axes);
        desk.succeed("decode codes.npz -o back.npy");
        let close = desk.json("compare back.npy whole.npy");
        assert!(number(&close, "psnr_db") > 45.0, "{close}");
        // A file is read the same way whatever its format.
        assert_eq!(
            *objective.get_or_insert(number(&report, "objective")),
            number(&report, "objective")
        );
    }
    assert_eq!(
        desk.files(),
        ["a.npy", "a.tif", "back.npy", "codes.npz", "whole.npy", "whole.npz"],
        "nothing is left behind"
    );
}

#[test]
fn unsupported_options_are_refused_with_advice() {
    let desk = Desk::new();
    desk.write("a.npy", &tall(), Depth::U8);
    for (options, cure) in [
        ("--reference a.npy", "--reference"),
        ("--report page.html", "--report"),
        ("--checkpoint run.npz", "--checkpoint"),
        ("--resume run.npz", "--resume"),
        ("--start spread", "--start zero"),
        ("--penalty-map a.npy", "--penalty-map"),
        ("--max-nonzeros a.npy", "--max-nonzeros"),
        ("--known a.npy", "--known"),
        ("--holes a.npy", "--holes"),
        ("--base smooth", "--base local-mean"),
        ("--border periodic", "--border free"),
        ("--max-memory 4M", "limit"),
    ] {
        let limit = if options.contains("memory") { "" } else { LIMIT };
        let output = desk.run(&format!("encode a.npy -o codes.npz {limit} {options}"));
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{options}: {err}");
        assert!(
            err.lines().count() == 1 && err.contains(cure) && output.stdout.is_empty(),
            "{options}: {err}"
        );
        assert_eq!(desk.files(), ["a.npy"], "{options}");
    }
}

#[test]
fn a_dry_run_reports_the_bands() {
    let desk = Desk::new();
    desk.write("a.npy", &tall(), Depth::F32);
    let (said, plan) = in_bands(&desk, "encode a.npy -o codes.npz --dry-run --base none");
    assert!(said.is_empty() && plan["fits"] == true && plan["bands"].as_u64().unwrap() > 1);
    assert!(number(&plan, "memory_bytes") <= 44.0 * 1048576.0);
    let said = desk.succeed(&format!("encode a.npy --dry-run {LIMIT}"));
    assert!(said.contains("bands"), "{said}");
    assert_eq!(desk.files(), ["a.npy"]);
}
