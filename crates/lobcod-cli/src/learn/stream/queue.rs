//! The queue of training images.

use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::engine;
use crate::input::{about, check_same_kind, read_known, shape};
use crate::interrupt;
use crate::learn::check_memory;
use crate::learn::details::detail;
use crate::params::time_limit;
use crate::progress::Watcher;
use anyhow::{Result, ensure};
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::engine::Engine;
use lobcod::run::Clock;
use lobcod::{Control, Extent, Learner, Observed, Observer as _, Progress, Real, Status, Stream};
use lobcod_io::Keeper;
use std::path::{Path, PathBuf};

/// Name of the checkpoint entry that records how images were read.
const READING: &str = "reading";

/// Images that are read when needed, once per pass.
pub struct Queue<'a> {
    /// The options.
    pub args: &'a LearnArgs,
    /// The learner.
    pub learner: &'a Learner,
    /// The images.
    pub images: &'a [PathBuf],
    /// Size and number of channels of the first image.
    pub shape: (Extent, usize),
    /// Size of an atom.
    pub atom: Extent,
}

impl Queue<'_> {
    /// Total number of images over all passes.
    pub fn total(&self) -> usize {
        self.args.learning.passes() * self.images.len()
    }

    /// Learns from all images the stream has not seen yet.
    pub fn learn<T: Real>(
        &self,
        stream: &mut Stream<T>,
        engine: &dyn Engine<T>,
        keeper: &mut Keeper<LearnCheckpoint, Watcher>,
    ) -> Result<Status> {
        let (clock, limit) = (Clock::start(), time_limit(&self.args.run)?);
        let late = || limit.is_some_and(|limit| clock.elapsed() >= limit);
        while stream.history().len() < self.total() {
            if interrupt::requested() {
                return Ok(Status::Interrupted);
            }
            if late() {
                return Ok(Status::TimeLimit);
            }
            let path = &self.images[stream.history().len() % self.images.len()];
            let observed = [self.read(path)?];
            Budget::now(&self.args.run)
                .check(stream.estimate_memory(&engine::cpu(&self.args.run)?, &observed)?)
                .map_err(about(path))?;
            let mut observer =
                |now: &Progress| if late() { Control::Stop } else { keeper.progress(now) };
            let control =
                stream.partial_fit(engine, &observed, &mut observer).map_err(about(path))?;
            if control == Control::Continue {
                keeper.between_learning_passes(&mut || Ok(self.checkpoint(stream)));
            }
        }
        Ok(Status::Completed)
    }

    /// Resumes from a checkpoint; error if images were read differently then.
    pub fn resume<T: Real>(
        &self,
        stream: &mut Stream<T>,
        checkpoint: &LearnCheckpoint,
    ) -> Result<()> {
        stream.restore(checkpoint)?;
        ensure!(
            checkpoint.learner.get(READING) == Some(&self.reading()),
            "the checkpoint was made with a different --base, --scale, --axes or mask; resume \
             with the original options"
        );
        Ok(())
    }

    /// Size and number of channels of each image, and the memory of the one that needs most,
    /// including the image itself.
    pub fn measure<T: Real>(&self, stream: &Stream<T>) -> Result<(Vec<(Extent, usize)>, u64)> {
        let engine = engine::cpu(&self.args.run)?;
        let (mut shapes, mut needed) = (Vec::new(), 0);
        for path in self.images {
            let observed = self.read(path)?;
            shapes.push((observed.signal.extent(), observed.signal.channels()));
            let weights = observed.mask.as_ref().map_or(0, |mask| mask.weights().data().len());
            let held = (observed.signal.data().len() + weights) * size_of::<T>();
            needed = needed.max(
                held as u64 + stream.estimate_memory(&engine, &[observed]).map_err(about(path))?,
            );
        }
        Ok((shapes, needed))
    }

    fn read<T: Real>(&self, path: &Path) -> Result<Observed<T>> {
        check_memory::<T>(self.args, self.learner, &[path.to_path_buf()])?;
        let image = read_known(path, &self.args.input, &self.args.run)?;
        check_same_kind((&self.images[0], self.shape), (path, shape(&image)))?;
        Ok(detail(self.args, path, image, self.atom)?.0)
    }

    fn checkpoint<T: Real>(&self, stream: &Stream<T>) -> LearnCheckpoint {
        let mut checkpoint = stream.checkpoint();
        checkpoint.learner.insert(READING.into(), self.reading());
        checkpoint
    }

    /// How images are read, which the stream does not know; stored as character codes, because a
    /// checkpoint stores numbers.
    fn reading(&self) -> Vec<f64> {
        let (base, image) = (self.args.problem.base, &self.args.input);
        let painted = image.holes_colour.map_or(String::new(), |colour| format!(" {colour}"));
        format!(
            "{base} {} {:?} {:?} {:?}{painted}",
            image.scale.value(),
            image.axes,
            image.known,
            image.holes
        )
        .bytes()
        .map(f64::from)
        .collect()
    }
}
