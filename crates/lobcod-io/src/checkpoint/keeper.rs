//! Periodic writing of checkpoints during a run.

use super::{read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint};
use crate::atomic::check_writable;
use crate::error::{Error, Result};
use lobcod::checkpoint::{Checkpoint, LearnCheckpoint};
use lobcod::engine::ranks::World;
use lobcod::run::Clock;
use lobcod::run::Stop;
use lobcod::{Control, Observer, Progress, Status};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Interval between writes: little work is lost, and writing is a small fraction of it.
const INTERVAL: Duration = Duration::from_secs(2);

/// A kind of checkpoint, with its own file format.
pub trait Kept: Sized {
    /// Reads one; error if the file is anything else.
    fn read(path: &Path) -> Result<Self>;
    /// Writes it atomically. With several ranks each has its own codes, and all write at once.
    fn write(&self, path: &Path, ranks: Option<&dyn World>) -> Result<()>;

    /// Error, before long work, if checkpoints of this kind cannot be written there, or would
    /// overwrite something else.
    fn check_place(path: &Path) -> Result<()> {
        check_writable(path)?;
        let replaceable = !fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0)
            || Self::read(path).is_ok();
        if replaceable {
            return Ok(());
        }
        Err(Error::format(
            path,
            "exists and is not a checkpoint of this kind; choose another file, or remove it",
        ))
    }
}

impl Kept for Checkpoint {
    fn read(path: &Path) -> Result<Self> {
        read_checkpoint(path)
    }
    fn write(&self, path: &Path, ranks: Option<&dyn World>) -> Result<()> {
        write_checkpoint(path, self, ranks)
    }
}

impl Kept for LearnCheckpoint {
    fn read(path: &Path) -> Result<Self> {
        read_learn_checkpoint(path)
    }
    fn write(&self, path: &Path, ranks: Option<&dyn World>) -> Result<()> {
        write_learn_checkpoint(path, self, ranks)
    }
}

/// Wraps the observer of a run and keeps its newest checkpoint in a file.
pub struct Keeper<C, W> {
    watcher: W,
    file: Option<PathBuf>,
    ranks: Option<Rc<dyn World>>,
    /// The newest checkpoint, unless it has been written.
    unwritten: Option<C>,
    last_try: Option<Clock>,
    fault: Option<Error>,
}

impl<C: Kept, W: Observer> Keeper<C, W> {
    /// Keeps checkpoints in the file, if given; with several ranks, in one file for all.
    pub fn new(watcher: W, file: Option<&Path>, ranks: Option<Rc<dyn World>>) -> Self {
        Self {
            watcher,
            file: file.map(Path::to_path_buf),
            ranks,
            unwritten: None,
            last_try: None,
            fault: None,
        }
    }

    /// Writes the newest checkpoint, unless the run finished. Error if the last attempt to write
    /// failed.
    pub fn finish(mut self, status: Status) -> Result<()> {
        let ended = matches!(status, Status::Converged | Status::Stalled);
        if !ended || self.fault.is_some() {
            self.write();
        }
        self.fault.map_or(Ok(()), Err)
    }

    fn keep(&mut self, take: &mut dyn FnMut() -> lobcod::Result<C>) {
        if self.file.is_none() {
            return;
        }
        // A run usually ends in the middle of a pass, so a checkpoint is taken after each one. A
        // device that fails now fails the run as well.
        let Ok(checkpoint) = take() else { return };
        self.unwritten = Some(checkpoint);
        let mut due =
            [f64::from(u8::from(self.last_try.is_none_or(|last| last.elapsed() >= INTERVAL)))];
        // All ranks write, or none.
        self.ranks.iter().for_each(|ranks| ranks.reduce(&mut [], &mut due));
        if due[0] > 0.0 {
            self.write();
        }
    }

    /// Writes the newest checkpoint of a failed run.
    pub fn rescue(mut self) {
        self.write();
    }

    /// An error is stored, not raised, so that it does not end the run.
    fn write(&mut self) {
        if let (Some(path), Some(checkpoint)) = (&self.file, self.unwritten.take()) {
            self.fault = checkpoint.write(path, self.ranks.as_deref()).err();
            self.unwritten = self.fault.is_some().then_some(checkpoint);
            self.last_try = Some(Clock::start());
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

    fn between_passes(&mut self, take: &mut dyn FnMut() -> lobcod::Result<Checkpoint>) {
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

    fn between_learning_passes(
        &mut self,
        take: &mut dyn FnMut() -> lobcod::Result<LearnCheckpoint>,
    ) {
        self.keep(take);
    }
}
