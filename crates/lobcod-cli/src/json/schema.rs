//! The published JSON Schema, generated from the types of the reports.

use super::*;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The schema of one kind of report, under the conditions in which it applies.
fn rule<R: schemars::JsonSchema>(generator: &mut SchemaGenerator, condition: Value) -> Value {
    json!({ "if": condition, "then": generator.subschema_for::<R>() })
}

fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let of = |command: &str| json!({ "properties": { "command": { "const": command } }, "not": { "required": ["dry_run"] } });
    let with_method = |condition: Value, method: Value| json!({ "allOf": [condition, { "properties": { "method": method } }] });
    let rules = vec![
        rule::<Plan>(&mut generator, json!({ "required": ["dry_run"] })),
        rule::<Inpaint>(&mut generator, of("inpaint")),
        rule::<Fuse>(&mut generator, of("fuse")),
        rule::<Denoise>(&mut generator, of("denoise")),
        rule::<Separate>(&mut generator, of("separate")),
        rule::<Encode>(&mut generator, of("encode")),
        rule::<Learn>(
            &mut generator,
            with_method(of("learn"), json!({ "not": { "const": "stream" } })),
        ),
        rule::<Stream>(&mut generator, with_method(of("learn"), json!({ "const": "stream" }))),
        rule::<Decode>(&mut generator, of("decode")),
        rule::<Show>(&mut generator, of("show")),
        rule::<FindDamage>(&mut generator, of("find-damage")),
        rule::<Compare>(&mut generator, of("compare")),
        rule::<Demo>(&mut generator, of("demo")),
        rule::<Doctor>(&mut generator, of("doctor")),
    ];
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Reports of lobcod (--json)",
        "type": "object",
        "properties": {
            "schema_version": {
                "description": "Version of the field names and their meanings.",
                "const": SCHEMA_VERSION,
            },
            "command": {
                "description": "The command that made the report.",
                "enum": [
                    "inpaint", "fuse", "denoise", "separate", "encode", "learn", "decode", "show",
                    "find-damage", "compare", "demo", "doctor",
                ],
            },
        },
        "required": ["schema_version", "command"],
        "allOf": rules,
        "$defs": generator.take_definitions(true),
    })
}

#[test]
fn the_published_schema_is_current() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let schema = format!("{:#}\n", schema());
    if std::env::var_os("LOBCOD_UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &schema).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).is_ok_and(|published| published == schema),
        "docs/report.schema.json is out of date; run: LOBCOD_UPDATE_SCHEMA=1 cargo test -p \
         lobcod-cli --bin lobcod schema"
    );
}
