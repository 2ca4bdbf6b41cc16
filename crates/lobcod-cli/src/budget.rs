//! The memory budget: what `--max-memory` (by default 80 % of free memory) leaves for the work,
//! after what the process already holds.

use crate::allocator;
use crate::args::{DictionaryArgs, RunArgs};
use crate::dictionary::Chosen;
use crate::engine;
use crate::flow::Flow;
use crate::input::about;
use crate::slices::read_shape;
use crate::values::{Bytes, EngineChoice};
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Error, Extent, Real};
use lobcod_io::ReadOptions;
use std::path::PathBuf;

/// Memory the process uses besides its allocations: code, stacks and fragmentation.
const PROGRAM: u64 = 12 << 20;
/// Tolerated overrun of the limit, as one part in `SLACK`: the accuracy of memory estimates.
const SLACK: u64 = 12;
/// Copies of a signal that an HTML report needs.
const PAGE: u64 = 6;

/// Copies of a mask or map while it is read: file contents, samples and weights.
const WEIGHTS: u64 = 3;

/// Fraction of free memory used when no limit is given: 80 %.
const USUAL_PART: [u64; 2] = [4, 5];

/// The default limit: most of the memory that is free now.
pub fn usual_limit() -> Option<u64> {
    let [part, of] = USUAL_PART;
    lobcod_io::free_memory().map(|free| free / of * part)
}

/// The memory budget of the process at one point of the run.
#[derive(Clone, Copy)]
pub struct Budget {
    limit: Option<u64>,
    held: u64,
    /// Temporary memory of another stage of the work, before or after the stage being checked.
    temporary: u64,
}

impl Budget {
    /// The current budget.
    pub fn now(run: &RunArgs) -> Self {
        let limit = run.max_memory.map(|bytes| bytes.0);
        // A device has its own memory, and the limit applies to that.
        let held = if run.engine.is_on_device() { 0 } else { PROGRAM + allocator::held() };
        Self { limit, held, temporary: 0 }
    }

    /// Applies the default limit to work on the CPU. A device has its own memory, and ranks must
    /// agree.
    pub fn set_limit(run: &mut RunArgs) {
        if run.engine == EngineChoice::Cpu && run.max_memory.is_none() {
            run.max_memory = usual_limit().map(Bytes);
        }
    }

    /// The budget under the default limit, for commands without `--max-memory`.
    pub fn usual() -> Self {
        Self { limit: usual_limit(), held: PROGRAM + allocator::held(), temporary: 0 }
    }

    /// Checks the limit from file headers alone, before anything is decoded. Each sample takes
    /// `sample_bytes` during the work, and `work` estimates the rest for an image of a given size
    /// and number of channels.
    pub fn check_headers(
        run: &RunArgs,
        images: &[PathBuf],
        options: &ReadOptions,
        sample_bytes: usize,
        work: impl Fn(Extent, usize) -> anyhow::Result<u64>,
    ) -> anyhow::Result<()> {
        if run.engine != EngineChoice::Cpu {
            return Ok(());
        }
        let (mut budget, mut needed) = (Self::now(run), 0u64);
        for path in images {
            let Some((extent, channels)) = read_shape(path, options)? else { continue };
            let samples = (extent.volume() * channels) as u64;
            // The estimate itself needs memory for very large images, so the samples are checked
            // first.
            Self::now(run).check(samples * size_of::<f32>() as u64).map_err(about(path))?;
            budget = budget.with_held(samples * sample_bytes as u64);
            needed = needed.saturating_add(work(extent, channels)?);
            budget.check(needed).map_err(about(path))?;
        }
        Ok(())
    }

    /// The same for a task with one dictionary. A dry run reports the requirement instead.
    pub fn check_task<T: Real>(
        flow: &Flow,
        (images, options): (&[PathBuf], &ReadOptions),
        dictionary: &DictionaryArgs,
        sample_bytes: usize,
        estimate: impl Fn(&CpuEngine, Extent, usize, &Dictionary<T>) -> lobcod::Result<u64>,
    ) -> anyhow::Result<()> {
        if flow.plan.dry_run {
            return Ok(());
        }
        let engine = engine::cpu(flow.run)?;
        Self::check_headers(flow.run, images, options, sample_bytes, |extent, channels| {
            let chosen = Chosen::of(dictionary, extent.rank())?;
            Ok(estimate(&engine, extent, channels, &chosen.dictionary)?)
        })
    }

    /// Drops the limit for a dry run, which reports the requirement instead of failing.
    pub fn of_plan(self, is_plan: bool) -> Self {
        Self { limit: self.limit.filter(|_| !is_plan), ..self }
    }

    /// Ends the program with an error message if it allocates much more than the limit.
    pub fn enforce(run: &RunArgs) {
        if let (Some(limit), false) = (run.max_memory, run.engine.is_on_device()) {
            // Work that cannot fit at all is refused earlier, with a message that states the
            // requirement.
            allocator::allow(
                limit.0.saturating_add(limit.0 / SLACK).saturating_sub(PROGRAM).max(PROGRAM),
                limit.0,
            );
        }
    }

    /// Adds the memory of an HTML report that shows a signal: the image shown, the signal and the
    /// report itself.
    pub fn with_page<T>(self, page: Option<&PathBuf>, signal: &[T]) -> Self {
        if page.is_some() { self.with_held(PAGE * size_of_val(signal) as u64) } else { self }
    }

    /// Accounts for an HTML report that is written after the memory of the work is released.
    pub fn with_page_afterwards<T>(
        self,
        page: Option<&PathBuf>,
        (extent, channels): (Extent, usize),
    ) -> Self {
        let bytes = 2 * PAGE * (extent.volume() * channels * size_of::<T>()) as u64;
        if page.is_some() { self.with_temporary(bytes) } else { self }
    }

    /// The same budget under another limit.
    pub fn within(self, limit: u64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The same budget with `bytes` more in use.
    pub fn with_held(self, bytes: u64) -> Self {
        Self { held: self.held + bytes, ..self }
    }

    /// Accounts for `bytes` of temporary memory in another stage of the work.
    pub fn with_temporary(self, bytes: u64) -> Self {
        Self { temporary: self.temporary.max(bytes), ..self }
    }

    /// The limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Memory left for the work.
    pub fn room(&self) -> Option<u64> {
        // If another stage does not fit, nothing is left.
        self.limit.map(|limit| if self.fits(0) { limit.saturating_sub(self.held) } else { 0 })
    }

    /// Whether `work` bytes fit.
    pub fn fits(&self, work: u64) -> bool {
        self.limit.is_none_or(|limit| self.with(work) <= limit)
    }

    /// Error unless `work` bytes fit.
    pub fn check(&self, work: u64) -> Result<(), Error> {
        let limit = self.limit.unwrap_or(u64::MAX);
        if self.fits(work) { Ok(()) } else { Err(Error::Limits { needed: self.with(work), limit }) }
    }

    /// Total memory of the process with `work` bytes for the work.
    pub fn with(&self, work: u64) -> u64 {
        self.held + work.max(self.temporary)
    }

    /// Largest size of a file of samples that is converted to weights.
    pub fn room_for_weights(&self) -> Option<u64> {
        self.room().map(|room| room / WEIGHTS)
    }

    /// For `map_err`: restates a file of weights that does not fit in terms of the whole process.
    pub fn refuse_weights(self) -> impl Fn(lobcod_io::Error) -> lobcod_io::Error {
        move |error| match (error, self.limit) {
            (lobcod_io::Error::Limits { path, needed, .. }, Some(limit)) => {
                lobcod_io::Error::Limits {
                    path,
                    needed: self.with(WEIGHTS.saturating_mul(needed)),
                    limit,
                }
            }
            (other, _) => other,
        }
    }

    /// For `map_err`: restates work that does not fit in terms of the whole process.
    pub fn refuse(self) -> impl Fn(Error) -> Error {
        move |error| match (error, self.limit) {
            (Error::Limits { needed, .. }, Some(limit)) => {
                Error::Limits { needed: self.with(needed), limit }
            }
            (other, _) => other,
        }
    }
}
