//! Checkpoints of a run: written while it works, read to go on.

use crate::args::CheckpointArgs;
use crate::output::paths::same_file;
use crate::progress::Watcher;
use anyhow::{Result, ensure};
use lobcod::{Checkpoint, Control, Observer, Progress, Status};
use lobcod_image::{check_writable, read_checkpoint, write_checkpoint};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two writes: little work is lost, and writing takes little of it.
const INTERVAL: Duration = Duration::from_secs(2);

/// The checkpoint to go on from, if one is named. Error, before long work, if it cannot be read, or if the one to be written
/// would overwrite something else, such as one of the `outputs`.
pub fn open(args: &CheckpointArgs, outputs: &[PathBuf]) -> Result<Option<Checkpoint>> {
    for path in args.checkpoint.iter().chain(&args.resume) {
        let taken = outputs.iter().any(|output| same_file(output, path));
        ensure!(!taken, "{} cannot be both a checkpoint and a result; name another file for one of them", path.display());
    }
    let resumed = args.resume.as_deref().map(read_checkpoint).transpose()?;
    if let Some(path) = &args.checkpoint {
        check_writable(path)?;
        let replaceable = !fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) || read_checkpoint(path).is_ok();
        ensure!(replaceable, "{} is there and is not a checkpoint; name another file, or remove it", path.display());
    }
    Ok(resumed)
}

/// Watches a run like its watcher does, and keeps the run's newest checkpoint in a file.
pub struct Keeper<'a> {
    watcher: Watcher,
    file: Option<&'a Path>,
    /// The newest checkpoint, unless it is in the file.
    unwritten: Option<Checkpoint>,
    last_try: Option<Instant>,
    fault: Option<lobcod_image::Error>,
}

impl<'a> Keeper<'a> {
    /// Keeps checkpoints in `file`, if there is one.
    pub fn new(watcher: Watcher, file: Option<&'a Path>) -> Self {
        Self { watcher, file, unwritten: None, last_try: None, fault: None }
    }

    /// Brings the file up to date, unless the run came to its end. Error if the last attempt to write it failed.
    pub fn finish(mut self, status: Status) -> Result<()> {
        let ended = matches!(status, Status::Converged | Status::Stalled);
        if !ended || self.fault.is_some() {
            self.write();
        }
        self.fault.map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// A fault is kept, not raised: it must not cost the run.
    fn write(&mut self) {
        if let (Some(path), Some(checkpoint)) = (self.file, self.unwritten.take()) {
            self.fault = write_checkpoint(path, &checkpoint).err();
            self.unwritten = self.fault.is_some().then_some(checkpoint);
            self.last_try = Some(Instant::now());
        }
    }
}

impl Observer for Keeper<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.watcher.progress(progress)
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Checkpoint) {
        if self.file.is_none() {
            return;
        }
        // Whatever ends the run comes in the middle of a pass, so a checkpoint is at hand after every one.
        self.unwritten = Some(take());
        if self.last_try.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.write();
        }
    }
}
