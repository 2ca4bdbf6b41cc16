//! `--max-memory`: what of it is left for the work, once the process holds what it holds.

use crate::allocator;
use crate::args::RunArgs;
use crate::values::EngineChoice;
use lobcod::{Error, Extent};
use std::path::PathBuf;

/// What the process takes beside what it asks for: its code, stacks, and holes between what it holds.
const PROGRAM: u64 = 12 << 20;
/// How far the limit may be overrun, one part in so many: what a run needs is known beforehand to about that.
const SLACK: u64 = 12;
/// Copies of a signal that a page takes.
const PAGE: u64 = 6;

/// Copies of a mask or map while it is read: as it lies in the file, as numbers, as weights.
const WEIGHTS: u64 = 3;

/// The memory of the process at some moment.
#[derive(Clone, Copy)]
pub struct Budget {
    limit: Option<u64>,
    held: u64,
    /// What some other part of the work takes for a moment, before or after the part whose need is asked for.
    moment: u64,
}

impl Budget {
    /// As things stand now.
    pub fn now(run: &RunArgs) -> Self {
        let limit = run.max_memory.map(|bytes| bytes.0);
        // A device has memory of its own, and the limit is for that.
        let held = if run.engine == EngineChoice::Cuda { 0 } else { PROGRAM + allocator::held() };
        Self { limit, held, moment: 0 }
    }

    /// The same without its limit for a plan, which is told what it needs and not refused.
    pub fn of_plan(self, is_plan: bool) -> Self {
        Self { limit: self.limit.filter(|_| !is_plan), ..self }
    }

    /// Ends the program, with a sentence, if it comes to need much more than the limit after all.
    pub fn enforce(run: &RunArgs) {
        if let (Some(limit), false) = (run.max_memory, run.engine == EngineChoice::Cuda) {
            // What cannot work at all is refused by words that say what it needs.
            allocator::allow(limit.0.saturating_add(limit.0 / SLACK).saturating_sub(PROGRAM).max(PROGRAM), limit.0);
        }
    }

    /// The same where a page will show a signal: what is shown, next to it, and the page itself.
    pub fn with_page<T>(self, page: Option<&PathBuf>, signal: &[T]) -> Self {
        if page.is_some() { self.beside(PAGE * size_of_val(signal) as u64) } else { self }
    }

    /// The same where a page will show a picture of this shape once all that was held for the work is free.
    pub fn with_page_afterwards<T>(self, page: Option<&PathBuf>, (extent, channels): (Extent, usize)) -> Self {
        let bytes = 2 * PAGE * (extent.volume() * channels * size_of::<T>()) as u64;
        if page.is_some() { self.with_moment(bytes) } else { self }
    }

    /// The same under another limit.
    pub fn within(self, limit: u64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The same with so much more held.
    pub fn beside(self, bytes: u64) -> Self {
        Self { held: self.held + bytes, ..self }
    }

    /// The same where some other part of the work takes so much for a moment.
    pub fn with_moment(self, bytes: u64) -> Self {
        Self { moment: self.moment.max(bytes), ..self }
    }

    /// The limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// What is left for work to come.
    pub fn room(&self) -> Option<u64> {
        // Where there is none for a part of the work, there is none for the rest.
        self.limit.map(|limit| if self.fits(0) { limit.saturating_sub(self.held) } else { 0 })
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
        self.held + work.max(self.moment)
    }

    /// What a file of samples may take that is turned into weights.
    pub fn room_for_weights(&self) -> Option<u64> {
        self.room().map(|room| room / WEIGHTS)
    }

    /// For `map_err`: a file of weights that has no room, told by what the process needs.
    pub fn refuse_weights(self) -> impl Fn(lobcod_image::Error) -> lobcod_image::Error {
        move |error| match (error, self.limit) {
            (lobcod_image::Error::Limits { path, needed, .. }, Some(limit)) => {
                lobcod_image::Error::Limits { path, needed: self.with(WEIGHTS.saturating_mul(needed)), limit }
            }
            (other, _) => other,
        }
    }

    /// For `map_err`: work that has no room, told by what the process needs.
    pub fn refuse(self) -> impl Fn(Error) -> Error {
        move |error| match (error, self.limit) {
            (Error::Limits { needed, .. }, Some(limit)) => Error::Limits { needed: self.with(needed), limit },
            (other, _) => other,
        }
    }
}
