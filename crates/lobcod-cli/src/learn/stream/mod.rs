//! `lobcod learn --stream`: learning with one image in memory at a time.

mod queue;
mod results;

use super::details::detail;
use super::first::First;
use super::task::Task;
use super::{check_holds, check_memory, trial};
use crate::Outcome;
use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::dry_run::Plan;
use crate::engine;
use crate::input::{read_known, shape};
use crate::output::table::plural;
use crate::progress::Watcher;
use crate::trial::part_of_observed;
use anyhow::{Result, anyhow};
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::{Learner, Real, Status};
use lobcod_io::Keeper;
use queue::Queue;
use results::StreamWork;
use std::path::PathBuf;

/// Learns from the images one at a time, resuming from the checkpoint if there is one.
pub fn run<T: Real>(
    args: &LearnArgs,
    learner: &Learner,
    images: Vec<PathBuf>,
    checkpoint: Option<&LearnCheckpoint>,
) -> Result<Outcome> {
    check_memory::<T>(args, learner, &images[..1])?;
    let image = read_known::<T>(&images[0], &args.input, &args.run)?;
    let shape = shape(&image);
    let first = First::plan(&args.learning, shape.0)?;
    let queue = Queue { args, learner, images: &images, shape, atom: first.extent() };
    let (observed, _) = detail(args, &images[0], image, first.extent())?;
    let observed = [observed];
    let first = first.make(&args.learning, &observed, args.run.seed)?;
    check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
    if !args.console.quiet {
        first.warn_if_normalised();
    }
    if args.plan.dry_run {
        let unlimited = learner.params().clone().with(|p| p.max_memory = None);
        let stream = unlimited.check()?.stream(&first.dictionary)?;
        let part = part_of_observed(&observed[0])?;
        drop(observed);
        let budget = Budget::now(&args.run);
        let (shapes, needed) = queue.measure(&stream)?;
        let plan = Plan {
            images: &images,
            shapes: &shapes,
            dictionary: ("initial atoms", &first),
            base: args.problem.base,
            until: format!("{}, one image at a time", plural(args.learning.passes(), "pass")),
            output: ("dictionary", Some(&args.output)),
            needed,
            budget,
            bands: None,
            trial: trial(
                &engine::cpu(&args.run)?,
                learner.params(),
                &part,
                &first.dictionary,
                &shapes,
            )?,
        };
        let params = learner.params();
        return plan.print(&params.pursuit(params.penalty), &args.console).map(|()| Outcome::Done);
    }

    let engine = engine::open::<T>(&args.run)?;
    drop(observed);
    let budget = Budget::now(&args.run);
    let learner = learner.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    let mut stream = learner.stream(&first.dictionary).map_err(budget.refuse())?;
    checkpoint.map_or(Ok(()), |checkpoint| queue.resume(&mut stream, checkpoint))?;
    let watcher = Watcher::of_learning(&args.console, "image", queue.total());
    let mut keeper =
        Keeper::<LearnCheckpoint, _>::new(watcher, args.checkpoints.checkpoint.as_deref(), None);
    let status = queue.learn(&mut stream, &*engine, &mut keeper);
    let kept = keeper.finish(*status.as_ref().unwrap_or(&Status::Interrupted));
    let status = status.map_err(|error| match &args.checkpoints.checkpoint {
        Some(file) if kept.is_ok() && !stream.history().is_empty() => {
            anyhow!("{error}; what was learnt before that is saved in {}", file.display())
        }
        _ => error,
    })?;
    let work = StreamWork { task: Task { args, images, first }, stream, status, engine };
    work.save()?;
    let shown = args.page.report.as_deref().map_or(Ok(()), |path| work.page().write(path));
    work.print()?;
    // Dictionary and report are written; now report what could not be written besides.
    kept?;
    shown?;
    Ok(if status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}
