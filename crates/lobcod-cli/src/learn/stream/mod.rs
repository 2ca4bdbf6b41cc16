//! `lobcod learn --stream`: learning with one image in memory at a time.

mod queue;
mod results;

use super::details::detail;
use super::first::First;
use super::task::Task;
use super::{check_holds, check_memory, trial};
use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::dry_run::{Plan, Work};
use crate::engine;
use crate::flow::Job;
use crate::input::{read_known, shape};
use crate::output::table::plural;
use crate::progress::Watcher;
use crate::trial::part_of_observed;
use anyhow::{Result, anyhow};
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::{Extent, Learner, Observed, Real, Status};
use lobcod_io::Keeper;
use queue::Queue;
use results::StreamWork;

/// Images to learn from one at a time.
pub struct Streaming<'a, T> {
    learner: Learner,
    checkpoint: Option<LearnCheckpoint>,
    task: Task<'a, T>,
    /// A crop of the first image, for the trial of a dry run.
    part: Option<Observed<T>>,
    /// Size and number of channels of the first image.
    shape: (Extent, usize),
}

impl<'a, T: Real> Streaming<'a, T> {
    /// Reads the first image, and resumes from the checkpoint if there is one.
    pub fn read(
        args: &'a LearnArgs,
        learner: Learner,
        checkpoint: Option<LearnCheckpoint>,
    ) -> Result<Self> {
        check_memory::<T>(args, &learner, &args.images[..1])?;
        let image = read_known::<T>(&args.images[0], &args.input, &args.run)?;
        let shape = shape(&image);
        let first = First::plan(&args.learning, shape.0)?;
        let observed = [detail(args, &args.images[0], image, first.extent())?.0];
        let first = first.make(args, &observed)?;
        let learner = learner.params().clone().with(|p| p.frozen = first.frozen).check()?;
        check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
        if !args.console.quiet {
            first.warn_if_normalised();
        }
        let part = args.plan.dry_run.then(|| part_of_observed(&observed[0])).transpose()?;
        let task = Task { args, images: args.images.clone(), first };
        Ok(Self { learner, checkpoint, task, part, shape })
    }

    fn queue(&self) -> Queue<'_> {
        Queue {
            args: self.task.args,
            learner: &self.learner,
            images: &self.task.images,
            shape: self.shape,
            atom: self.task.first.dictionary.extent(),
        }
    }
}

impl<'a, T: Real> Job for Streaming<'a, T> {
    type Done = StreamWork<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        let (args, first) = (self.task.args, &self.task.first);
        let unlimited = self.learner.params().clone().with(|p| p.max_memory = None);
        let stream = unlimited.check()?.stream(&first.dictionary)?;
        let budget = Budget::now(&args.run);
        let (shapes, needed) = self.queue().measure(&stream)?;
        let params = self.learner.params();
        let part = self.part.as_ref().expect("a dry run has a crop");
        let work = Work {
            images: &self.task.images,
            shapes: &shapes,
            dictionaries: ("initial atoms", std::slice::from_ref(first)),
            output: ("dictionary", Some(&args.output)),
            needed,
            budget,
            trial: trial(&engine::cpu(&args.run)?, params, part, &first.dictionary, &shapes)?,
        };
        let until = format!("{}, one image at a time", plural(args.learning.passes(), "pass"));
        Ok(work.of_pursuit(args.problem.base, &params.pursuit(params.penalty), until))
    }

    fn run(self) -> Result<StreamWork<'a, T>> {
        let args = self.task.args;
        let engine = engine::open::<T>(&args.run, &[self.shape])?;
        let budget = Budget::now(&args.run);
        let learner =
            self.learner.params().clone().with(|p| p.max_memory = budget.room()).check()?;
        let mut stream = learner.stream(&self.task.first.dictionary).map_err(budget.refuse())?;
        let queue = self.queue();
        self.checkpoint
            .as_ref()
            .map_or(Ok(()), |checkpoint| queue.resume(&mut stream, checkpoint))?;
        let watcher = Watcher::of_learning(&args.console, "image", queue.total());
        let file = args.checkpoints.checkpoint.as_deref();
        let mut keeper = Keeper::<LearnCheckpoint, _>::new(watcher, file, None);
        let status = queue.learn(&mut stream, &*engine, &mut keeper);
        let kept = keeper.finish(*status.as_ref().unwrap_or(&Status::Interrupted));
        let status = status.map_err(|error| match file {
            Some(file) if kept.is_ok() && !stream.history().is_empty() => {
                anyhow!("{error}; what was learnt before that is saved in {}", file.display())
            }
            _ => error,
        })?;
        Ok(StreamWork { task: self.task, stream, status, engine, kept })
    }
}
