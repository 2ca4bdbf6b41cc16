//! `lobcod learn --stream`: one picture after the other, of which memory holds one.

mod queue;
mod work;

use super::details::detail;
use super::first::First;
use super::task::Task;
use super::{check_holds, trial};
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
use lobcod::{LearnCheckpoint, LearnParams, Learner, Real, Status};
use lobcod_image::Keeper;
use queue::Queue;
use std::path::PathBuf;
use work::StreamWork;

/// Learns from the pictures one by one, from where the checkpoint stands if there is one.
pub fn run<T: Real>(
    args: &LearnArgs,
    learner: &Learner,
    images: Vec<PathBuf>,
    checkpoint: Option<&LearnCheckpoint>,
) -> Result<Outcome> {
    let picture = read_known::<T>(&images[0], &args.picture, &args.run)?;
    let shape = shape(&picture);
    let first = First::plan(&args.learning, shape.0)?;
    let queue = Queue { args, images: &images, shape, atom: first.extent() };
    let (observed, _) = detail(args, &images[0], picture, first.extent())?;
    let observed = [observed];
    let first = first.make(&args.learning, &observed, args.run.seed)?;
    check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
    if !args.telling.quiet {
        first.warn_if_normalised();
    }
    if args.dry_run {
        let unlimited = LearnParams { max_memory: None, ..learner.params().clone() };
        let stream = unlimited.check()?.stream(&first.dictionary)?;
        let part = part_of_observed(&observed[0])?;
        drop(observed);
        let budget = Budget::now(&args.run);
        let (shapes, needed) = queue.measure(&stream)?;
        let plan = Plan {
            images: &images,
            shapes: &shapes,
            dictionary: ("first atoms", &first),
            base: args.problem.base,
            until: format!("{}, one picture at a time", plural(args.learning.passes(), "pass")),
            output: ("dictionary", Some(&args.output)),
            needed,
            budget,
            bands: None,
            trial: trial(learner.params(), &part, &first.dictionary, &shapes)?,
        };
        let params = learner.params();
        return plan.tell(&params.pursuit(params.penalty), &args.telling).map(|()| Outcome::Done);
    }

    let engine = engine::open::<T>(&args.run)?;
    drop(observed);
    let budget = Budget::now(&args.run);
    let learner = LearnParams { max_memory: budget.room(), ..learner.params().clone() }.check()?;
    let mut stream = learner.stream(&first.dictionary).map_err(budget.refuse())?;
    checkpoint.map_or(Ok(()), |checkpoint| queue.take_up(&mut stream, checkpoint))?;
    let watcher = Watcher::of_learning(&args.telling, "picture", queue.total());
    let mut keeper = Keeper::<LearnCheckpoint, _>::new(watcher, args.checkpoints.checkpoint.as_deref());
    let status = queue.learn(&mut stream, &*engine, &mut keeper);
    let kept = keeper.finish(*status.as_ref().unwrap_or(&Status::Interrupted));
    let status = status.map_err(|error| match &args.checkpoints.checkpoint {
        Some(file) if kept.is_ok() && !stream.history().is_empty() => {
            anyhow!("{error}; what was learnt before is kept in {}", file.display())
        }
        _ => error,
    })?;
    let work = StreamWork { task: Task { args, images, first }, stream, status, engine };
    work.save()?;
    let shown = args.report.as_deref().map_or(Ok(()), |path| work.page().write(path));
    work.tell()?;
    // Dictionary and report are safe; only now is the time for what could not be written beside them.
    kept?;
    shown?;
    Ok(if status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}
