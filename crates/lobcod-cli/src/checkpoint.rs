//! Checkpoints of a run: written while it works, read to go on.

use crate::args::CheckpointArgs;
use crate::output::paths::same_file;
use crate::progress::Watcher;
use anyhow::{Result, ensure};
use lobcod::{Checkpoint, Control, LearnCheckpoint, Observer, Progress, Status};
use lobcod_image::{check_writable, read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two writes: little work is lost, and writing takes little of it.
const INTERVAL: Duration = Duration::from_secs(2);

/// A kind of checkpoint, which is kept in files of its own.
pub trait Kept: Sized {
    /// Reads one; error if the file holds anything else.
    fn read(path: &Path) -> lobcod_image::Result<Self>;
    /// Writes it, whole or not at all.
    fn write(&self, path: &Path) -> lobcod_image::Result<()>;
}

impl Kept for Checkpoint {
    fn read(path: &Path) -> lobcod_image::Result<Self> {
        read_checkpoint(path)
    }
    fn write(&self, path: &Path) -> lobcod_image::Result<()> {
        write_checkpoint(path, self)
    }
}

impl Kept for LearnCheckpoint {
    fn read(path: &Path) -> lobcod_image::Result<Self> {
        read_learn_checkpoint(path)
    }
    fn write(&self, path: &Path) -> lobcod_image::Result<()> {
        write_learn_checkpoint(path, self)
    }
}

/// The checkpoint to go on from, if one is named. Error, before long work, if it cannot be read, or if the one to be written
/// would overwrite something else, such as one of the `outputs`.
pub fn open<C: Kept>(args: &CheckpointArgs, outputs: &[PathBuf]) -> Result<Option<C>> {
    for path in args.checkpoint.iter().chain(&args.resume) {
        let taken = outputs.iter().any(|output| same_file(output, path));
        ensure!(!taken, "{} cannot be both a checkpoint and a result; name another file for one of them", path.display());
    }
    let resumed = args.resume.as_deref().map(C::read).transpose()?;
    if let Some(path) = &args.checkpoint {
        check_writable(path)?;
        let replaceable = !fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) || C::read(path).is_ok();
        ensure!(
            replaceable,
            "{} is there and is not a checkpoint of this kind of work; name another file, or remove it",
            path.display()
        );
    }
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

/// Watches a run like its watcher does, and keeps the run's newest checkpoint in a file.
pub struct Keeper<'a, C> {
    watcher: Watcher,
    file: Option<&'a Path>,
    /// The newest checkpoint, unless it is in the file.
    unwritten: Option<C>,
    last_try: Option<Instant>,
    fault: Option<lobcod_image::Error>,
}

impl<'a, C: Kept> Keeper<'a, C> {
    /// Keeps checkpoints in the file asked for, if there is one.
    pub fn new(watcher: Watcher, args: &'a CheckpointArgs) -> Self {
        Self { watcher, file: args.checkpoint.as_deref(), unwritten: None, last_try: None, fault: None }
    }

    /// Brings the file up to date, unless the run came to its end. Error if the last attempt to write it failed.
    pub fn finish(mut self, status: Status) -> Result<()> {
        let ended = matches!(status, Status::Converged | Status::Stalled);
        if !ended || self.fault.is_some() {
            self.write();
        }
        self.fault.map_or(Ok(()), |fault| Err(fault.into()))
    }

    fn keep(&mut self, take: &mut dyn FnMut() -> C) {
        if self.file.is_none() {
            return;
        }
        // Whatever ends the run comes in the middle of a pass, so a checkpoint is at hand after every one.
        self.unwritten = Some(take());
        if self.last_try.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.write();
        }
    }

    /// A fault is kept, not raised: it must not cost the run.
    fn write(&mut self) {
        if let (Some(path), Some(checkpoint)) = (self.file, self.unwritten.take()) {
            self.fault = checkpoint.write(path).err();
            self.unwritten = self.fault.is_some().then_some(checkpoint);
            self.last_try = Some(Instant::now());
        }
    }
}

impl Observer for Keeper<'_, Checkpoint> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.watcher.progress(progress)
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Checkpoint) {
        self.keep(take);
    }
}

impl Observer for Keeper<'_, LearnCheckpoint> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.watcher.progress(progress)
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> LearnCheckpoint) {
        self.keep(take);
    }
}
