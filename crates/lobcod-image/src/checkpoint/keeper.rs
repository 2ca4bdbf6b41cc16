//! Checkpoints kept in a file while a run works.

use super::{read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint};
use crate::atomic::check_writable;
use crate::error::{Error, Result};
use lobcod::{Checkpoint, Control, LearnCheckpoint, Observer, Progress, Status, Stop};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two writes: little work is lost, and writing takes little of it.
const INTERVAL: Duration = Duration::from_secs(2);

/// A kind of checkpoint, which is kept in files of its own.
pub trait Kept: Sized {
    /// Reads one; error if the file holds anything else.
    fn read(path: &Path) -> Result<Self>;
    /// Writes it, whole or not at all.
    fn write(&self, path: &Path) -> Result<()>;

    /// Error, before long work, if checkpoints of this kind cannot be written there, or would overwrite something else.
    fn check_place(path: &Path) -> Result<()> {
        check_writable(path)?;
        let replaceable = !fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) || Self::read(path).is_ok();
        if replaceable {
            return Ok(());
        }
        Err(Error::format(path, "is there and is not a checkpoint of this kind of work; name another file, or remove it"))
    }
}

impl Kept for Checkpoint {
    fn read(path: &Path) -> Result<Self> {
        read_checkpoint(path)
    }
    fn write(&self, path: &Path) -> Result<()> {
        write_checkpoint(path, self)
    }
}

impl Kept for LearnCheckpoint {
    fn read(path: &Path) -> Result<Self> {
        read_learn_checkpoint(path)
    }
    fn write(&self, path: &Path) -> Result<()> {
        write_learn_checkpoint(path, self)
    }
}

/// Watches a run like its watcher does, and keeps the run's newest checkpoint in a file.
pub struct Keeper<C, W> {
    watcher: W,
    file: Option<PathBuf>,
    /// The newest checkpoint, unless it is in the file.
    unwritten: Option<C>,
    last_try: Option<Instant>,
    fault: Option<Error>,
}

impl<C: Kept, W: Observer> Keeper<C, W> {
    /// Keeps checkpoints in the file, if there is one.
    pub fn new(watcher: W, file: Option<&Path>) -> Self {
        Self { watcher, file: file.map(Path::to_path_buf), unwritten: None, last_try: None, fault: None }
    }

    /// Brings the file up to date, unless the run came to its end. Error if the last attempt to write it failed.
    pub fn finish(mut self, status: Status) -> Result<()> {
        let ended = matches!(status, Status::Converged | Status::Stalled);
        if !ended || self.fault.is_some() {
            self.write();
        }
        self.fault.map_or(Ok(()), Err)
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
        if let (Some(path), Some(checkpoint)) = (&self.file, self.unwritten.take()) {
            self.fault = checkpoint.write(path).err();
            self.unwritten = self.fault.is_some().then_some(checkpoint);
            self.last_try = Some(Instant::now());
        }
    }
}

impl<W: Observer> Observer for Keeper<Checkpoint, W> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.watcher.progress(progress)
    }

    fn stop(&self) -> Stop {
        self.watcher.stop()
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Checkpoint) {
        self.keep(take);
    }
}

impl<W: Observer> Observer for Keeper<LearnCheckpoint, W> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.watcher.progress(progress)
    }

    fn stop(&self) -> Stop {
        self.watcher.stop()
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> LearnCheckpoint) {
        self.keep(take);
    }
}
