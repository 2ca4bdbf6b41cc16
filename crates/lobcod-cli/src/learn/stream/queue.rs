//! The pictures that wait for their turn.

use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::input::{about, check_alike, read_known, shape};
use crate::interrupt;
use crate::learn::details::detail;
use crate::params::time_limit;
use crate::progress::Watcher;
use anyhow::{Result, ensure};
use lobcod::engine::Engine;
use lobcod::{Control, Extent, LearnCheckpoint, Observed, Observer as _, Progress, Real, Status, Stream};
use lobcod_image::Keeper;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Name under which a checkpoint keeps how pictures were read.
const READING: &str = "reading";

/// Pictures that are read when their turn comes, as often as there are passes.
pub struct Queue<'a> {
    /// What was asked.
    pub args: &'a LearnArgs,
    /// The pictures.
    pub images: &'a [PathBuf],
    /// Size and channels of the first.
    pub shape: (Extent, usize),
    /// Box of an atom.
    pub atom: Extent,
}

impl Queue<'_> {
    /// Pictures to learn from in all, each counted as often as it comes.
    pub fn total(&self) -> usize {
        self.args.learning.passes() * self.images.len()
    }

    /// Learns from all pictures that the stream has not seen yet.
    pub fn learn<T: Real>(
        &self,
        stream: &mut Stream<T>,
        engine: &dyn Engine<T>,
        keeper: &mut Keeper<LearnCheckpoint, Watcher>,
    ) -> Result<Status> {
        let (clock, limit) = (Instant::now(), time_limit(&self.args.run)?);
        let before = stream.history().last().map_or(0.0, |point| point.seconds);
        let late = || limit.is_some_and(|limit| before + clock.elapsed().as_secs_f64() >= limit.as_secs_f64());
        while stream.history().len() < self.total() {
            if interrupt::asked() {
                return Ok(Status::Interrupted);
            }
            if late() {
                return Ok(Status::TimeLimit);
            }
            let path = &self.images[stream.history().len() % self.images.len()];
            let observed = [self.read(path)?];
            Budget::now(&self.args.run).check(stream.estimate_memory(&observed)?).map_err(about(path))?;
            let mut observer = |now: &Progress| if late() { Control::Stop } else { keeper.progress(now) };
            let control = stream.partial_fit_on(engine, &observed, &mut observer).map_err(about(path))?;
            if control == Control::Continue {
                keeper.between_learning_passes(&mut || self.checkpoint(stream));
            }
        }
        Ok(Status::MaxSweeps)
    }

    /// Goes on from a checkpoint; error if pictures were read in another way then.
    pub fn take_up<T: Real>(&self, stream: &mut Stream<T>, checkpoint: &LearnCheckpoint) -> Result<()> {
        stream.take_up(checkpoint)?;
        ensure!(
            checkpoint.memory.get(READING) == Some(&self.reading()),
            "the checkpoint was made with another --base, --scale, --axes or mask; resume with those it was made with"
        );
        Ok(())
    }

    /// Size and channels of every picture, and the memory that the one with the greatest need takes, itself included.
    pub fn measure<T: Real>(&self, stream: &Stream<T>) -> Result<(Vec<(Extent, usize)>, u64)> {
        let (mut shapes, mut needed) = (Vec::new(), 0);
        for path in self.images {
            let observed = self.read(path)?;
            shapes.push((observed.signal.extent(), observed.signal.channels()));
            let weights = observed.mask.as_ref().map_or(0, |mask| mask.weights().data().len());
            let held = (observed.signal.data().len() + weights) * size_of::<T>();
            needed = needed.max(held as u64 + stream.estimate_memory(&[observed]).map_err(about(path))?);
        }
        Ok((shapes, needed))
    }

    fn read<T: Real>(&self, path: &Path) -> Result<Observed<T>> {
        let picture = read_known(path, &self.args.picture, &self.args.run)?;
        check_alike((&self.images[0], self.shape), (path, shape(&picture)))?;
        Ok(detail(self.args, path, picture, self.atom)?.0)
    }

    fn checkpoint<T: Real>(&self, stream: &Stream<T>) -> LearnCheckpoint {
        let mut checkpoint = stream.checkpoint();
        checkpoint.memory.insert(READING.into(), self.reading());
        checkpoint
    }

    /// How pictures are read, which a stream knows nothing of; letter by letter, as a checkpoint keeps numbers.
    fn reading(&self) -> Vec<f64> {
        let (base, picture) = (self.args.problem.base, &self.args.picture);
        format!("{base} {} {:?} {:?} {:?}", picture.scale, picture.axes, picture.known, picture.holes)
            .bytes()
            .map(f64::from)
            .collect()
    }
}
