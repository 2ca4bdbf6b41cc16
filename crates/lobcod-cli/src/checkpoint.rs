//! Checkpoints of a run: written while it works, read to go on.

use crate::args::CheckpointArgs;
use crate::output::paths::same_file;
use anyhow::{Result, ensure};
use lobcod_image::Kept;
use std::path::PathBuf;

/// The checkpoint to go on from, if one is named. Error, before long work, if it cannot be read, or if the one to be written
/// would overwrite something else, such as one of the `outputs`.
pub fn open<C: Kept>(args: &CheckpointArgs, outputs: &[PathBuf]) -> Result<Option<C>> {
    for path in args.checkpoint.iter().chain(&args.resume) {
        let taken = outputs.iter().any(|output| same_file(output, path));
        ensure!(!taken, "{} cannot be both a checkpoint and a result; name another file for one of them", path.display());
    }
    let resumed = args.resume.as_deref().map(C::read).transpose()?;
    args.checkpoint.as_deref().map(C::check_place).transpose()?;
    Ok(resumed)
}

/// What there is to go on from after a run that could go on; `None` if no checkpoint was asked for.
pub fn words(args: &CheckpointArgs) -> Option<String> {
    let file = args.checkpoint.as_deref()?;
    let place = file.display();
    Some(if file.exists() {
        format!("{place}; go on with --resume {place}")
    } else {
        "none: the run ended before its first pass did".into()
    })
}
