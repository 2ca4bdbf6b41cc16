//! What all commands have in common.

use crate::Outcome;
use crate::args::{ConsoleArgs, RunArgs, ScoringArgs};
use anyhow::Result;
use lobcod_io::Axes;
use std::path::{Path, PathBuf};

/// A command of the program: what `main` needs to know about its options, and how to run it.
///
/// Options that a command does not have are `None`. Memory and time estimates, interruption and
/// reports are in [`crate::flow`].
pub trait Command {
    /// Runs the command.
    fn run(&self) -> Result<Outcome>;

    /// Console options.
    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        None
    }

    /// Accuracy, limits and resources.
    fn resources(&mut self) -> Option<&mut RunArgs> {
        None
    }

    /// Scoring against a reference.
    fn scoring(&self) -> Option<&ScoringArgs> {
        None
    }

    /// The output that `-` sends to standard output.
    fn output(&self) -> Option<&Path> {
        None
    }

    /// Images among which folders and patterns are expanded.
    fn images(&mut self) -> Option<&mut Vec<PathBuf>> {
        None
    }

    /// Order of the axes of these images, if it was given.
    fn axes(&self) -> Option<Axes> {
        None
    }

    /// A message about options that contradict each other.
    fn conflict(&self) -> Option<String> {
        None
    }

    /// Name of the command if it cannot run over MPI ranks.
    fn refuses_ranks(&self) -> Option<&'static str> {
        None
    }

    /// Drops outputs that only the first rank writes.
    fn keep_silent(&mut self) {}
}
