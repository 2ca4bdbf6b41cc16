//! `--max-memory`: what of it is left for the work, once the process holds what it holds.

use crate::allocator;
use crate::args::RunArgs;
use crate::values::EngineChoice;
use lobcod::Error;
use std::path::PathBuf;

/// What the process takes beside what it asks for: its code, stacks, and holes between what it holds.
const PROGRAM: u64 = 12 << 20;
/// How far the limit may be overrun, one part in so many: what a run needs is known beforehand to about that.
const SLACK: u64 = 12;
/// Copies of a signal that a page takes.
const PAGE: u64 = 6;

/// The memory of the process at some moment.
#[derive(Clone, Copy)]
pub struct Budget {
    limit: Option<u64>,
    held: u64,
}

impl Budget {
    /// As things stand now.
    pub fn now(run: &RunArgs) -> Self {
        let limit = run.max_memory.map(|bytes| bytes.0);
        // A device has memory of its own, and the limit is for that.
        let held = if run.engine == EngineChoice::Cuda { 0 } else { PROGRAM + allocator::held() };
        Self { limit, held }
    }

    /// Ends the program, with a sentence, if it comes to need much more than the limit after all.
    pub fn enforce(run: &RunArgs) {
        if let (Some(limit), false) = (run.max_memory, run.engine == EngineChoice::Cuda) {
            // What cannot work at all is refused by words that say what it needs.
            allocator::allow((limit.0 + limit.0 / SLACK).saturating_sub(PROGRAM).max(PROGRAM), limit.0);
        }
    }

    /// The same where a page will show a signal: what is shown, next to it, and the page itself.
    pub fn with_page<T>(self, page: Option<&PathBuf>, signal: &[T]) -> Self {
        if page.is_some() { self.beside(PAGE * size_of_val(signal) as u64) } else { self }
    }

    /// The same under another limit.
    pub fn within(self, limit: u64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The same with so much more held.
    pub fn beside(self, bytes: u64) -> Self {
        Self { held: self.held + bytes, ..self }
    }

    /// The limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// What is left for work to come.
    pub fn room(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.held))
    }

    /// Is there room for work of this need?
    pub fn fits(&self, work: u64) -> bool {
        self.limit.is_none_or(|limit| self.with(work) <= limit)
    }

    /// Error unless there is room for work of this need.
    pub fn check(&self, work: u64) -> Result<(), Error> {
        let limit = self.limit.unwrap_or(u64::MAX);
        if self.fits(work) { Ok(()) } else { Err(Error::Limits { needed: self.with(work), limit }) }
    }

    /// What the process needs for work of this need.
    pub fn with(&self, work: u64) -> u64 {
        self.held + work
    }

    /// For `map_err`: work that has no room, told by what the process needs.
    pub fn refuse(self) -> impl Fn(Error) -> Error {
        move |error| match (error, self.limit) {
            (Error::Limits { needed, .. }, Some(limit)) => Error::Limits { needed: self.with(needed), limit },
            (other, _) => other,
        }
    }
}
