//! JSON reports: they satisfy the published schema, and their fields stay.

use crate::common::{Desk, text};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// A report with each value replaced by its type, and each list by its first element.
fn types(value: &Value) -> Value {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Array(list) => list.iter().take(1).map(types).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), types(value))).collect())
        }
    }
}

#[test]
fn reports_satisfy_the_schema_and_keep_their_fields() {
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let desk = Desk::new();
    desk.image("a.png", &[24, 30], 1, 0.0);
    desk.image("b.png", &[24, 30], 1, 0.4);
    desk.mask("mask.png", &[24, 30]);
    let mut reports = Map::new();
    for (name, line) in [
        ("encode", "encode a.png b.png -o codes --reference a.png --reference b.png"),
        ("encode, dry run", "encode a.png --dry-run"),
        ("learn", "learn a.png -o d.npz --atoms 6 --size 5x5 --passes 2"),
        ("learn, dry run", "learn a.png -o d.npz --atoms 6 --size 5x5 --passes 2 --dry-run"),
        ("learn, stream", "learn a.png b.png -o d.npz --atoms 6 --size 5x5 --stream"),
        ("inpaint", "inpaint a.png --known mask.png -o out.png --reference b.png --variants 1"),
        ("inpaint, dry run", "inpaint a.png --known mask.png -o out.png --preset fast --dry-run"),
        ("fuse", "fuse a.png a.png -o out.png --reference a.png"),
        ("fuse, dry run", "fuse a.png a.png -o out.png --dry-run"),
        ("denoise", "denoise a.png -o out.png --noise 5 --reference b.png"),
        ("denoise, whole", "denoise a.png -o out.png --noise 5 --method convolutional"),
        ("denoise, dry run", "denoise a.png -o out.png --dry-run"),
        ("separate", "separate a.png --smooth-out s.png --texture-out t.png"),
        ("separate, dry run", "separate a.png --smooth-out s.png --texture-out t.png --dry-run"),
        ("decode", "decode codes/a.npz -o out.png"),
        ("show", "show codes/a.npz -o atoms.png"),
        ("find-damage", "find-damage a.png -o damage.png"),
        ("compare", "compare a.png b.png"),
        ("doctor", "doctor"),
    ] {
        let output = desk.run(&format!("{line} --json"));
        assert!(output.status.success(), "lobcod {line}: {}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        if let Some(error) = schema.iter_errors(&report).next() {
            panic!("lobcod {line}: {error} at {}", error.instance_path());
        }
        assert_eq!(report["command"], line.split_whitespace().next().unwrap());
        reports.insert(name.into(), types(&report));
    }
    // What this machine has is not part of the contract.
    let doctor = reports["doctor"].as_object_mut().unwrap();
    doctor.retain(|_, kind| kind == "string" || kind == "number");
    insta::assert_json_snapshot!("reports", Value::Object(reports));
}

#[test]
fn the_schema_refuses_reports_that_lack_a_field() {
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let desk = Desk::new();
    desk.image("a.png", &[24, 30], 1, 0.0);
    let whole = desk.json("encode a.png");
    assert!(schema.is_valid(&whole));
    for field in ["schema_version", "command", "status", "objective", "history", "images"] {
        let mut report = whole.clone();
        report.as_object_mut().unwrap().remove(field);
        assert!(!schema.is_valid(&report), "{field}");
    }
}
