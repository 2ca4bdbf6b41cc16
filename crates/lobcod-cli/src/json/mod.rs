//! Reports in JSON (`--json`). Scripts rely on the field names; one thing has the same name in all
//! commands. `docs/report.schema.json` is generated from these types.

mod common;
mod others;
mod plan;
mod solvers;
mod tasks;

#[cfg(test)]
mod schema;

pub use common::{Certificate, HistoryPoint, Image, Missing, Pursuit, Run, Score, Sweeps, finite};
pub use others::{
    Advice, Compare, Decode, Demo, DemoEncode, DemoFuse, DemoInpaint, DemoLearn, Doctor, Engines,
    FindDamage, Show, Use,
};
pub use plan::{Plan, Settings};
pub use solvers::{
    Encode, EncodedImage, Learn, LearnCommon, LearnPoint, Stream, StreamImage, StreamPoint,
};
pub use tasks::{
    AveragedAnswer, Crop, Denoise, Fuse, FusedImage, Inpaint, PathPoint, Separate, TaskScores,
};

use crate::output::print as print_text;
use crate::progress;
use anyhow::Result;
use serde::Serialize;
use std::path::Path;

/// Version of the field names and their meanings. It increases when a field is removed or changes
/// its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// A report and the command that made it.
#[derive(Serialize)]
struct Envelope<R> {
    schema_version: u32,
    command: &'static str,
    #[serde(flatten)]
    report: R,
}

/// Prints a report on standard output: readable, or on one line if there is one for each image.
pub fn print<R: Serialize>(command: &'static str, report: R) -> Result<()> {
    let report = Envelope { schema_version: SCHEMA_VERSION, command, report };
    print_text(&if progress::is_batch() {
        serde_json::to_string(&report)?
    } else {
        serde_json::to_string_pretty(&report)?
    })
}

/// A path as text.
pub fn file(path: &Path) -> String {
    path.display().to_string()
}

/// A path as text, if there is one.
pub fn optional_file<P: AsRef<Path>>(path: &Option<P>) -> Option<String> {
    path.as_ref().map(|path| file(path.as_ref()))
}
