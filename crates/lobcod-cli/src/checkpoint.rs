//! Checkpoints: written during a run, read to resume it.

use crate::args::CheckpointArgs;
use crate::output::paths::same_file;
use anyhow::{Result, ensure};
use lobcod_io::Kept;
use std::path::PathBuf;

/// Reads the checkpoint to resume from, if one is given. Error, before long work, if it cannot be
/// read, or if the one to be written would overwrite another file, such as one of the `outputs`.
pub fn open<C: Kept>(args: &CheckpointArgs, outputs: &[PathBuf]) -> Result<Option<C>> {
    for path in args.checkpoint.iter().chain(&args.resume) {
        let taken = outputs.iter().any(|output| same_file(output, path));
        ensure!(
            !taken,
            "{} cannot be both a checkpoint and a result; choose another file for one of them",
            path.display()
        );
    }
    let resumed = args.resume.as_deref().map(C::read).transpose()?;
    args.checkpoint.as_deref().map(C::check_place).transpose()?;
    Ok(resumed)
}

/// Describes the checkpoint of a run that can be resumed; `None` if none was requested.
pub fn words(args: &CheckpointArgs) -> Option<String> {
    let file = args.checkpoint.as_deref()?;
    let place = file.display();
    Some(if file.exists() {
        format!("{place}; resume with --resume {place}")
    } else {
        "none: the run ended before its first pass was complete".into()
    })
}
