//! `lobcod learn`: a dictionary from pictures.

mod closeness;
mod details;
mod first;
mod page;
mod params;
mod stream;
mod task;
mod work;

use crate::Outcome;
use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::checkpoint;
use crate::dry_run::Plan;
use crate::engine;
use crate::input::{read_pictures, shape, with_bases};
use crate::interrupt;
use crate::output::paths::{check_dictionary, check_page};
use crate::output::table::{number, plural};
use crate::output::warnings;
use crate::progress::Watcher;
use crate::ranks;
use crate::score::peak;
use crate::trial::{self, Trial, part_of_observed};
use crate::values::Precision;
use anyhow::{Result, ensure};
use closeness::Closeness;
use details::Details;
use first::First;
use lobcod::{Dictionary, Extent, LearnCheckpoint, LearnParams, Observed, Real, Status};
use lobcod_image::{FileKind, Keeper};
use task::Task;
use work::Work;

/// Learns from the pictures in the precision asked for.
pub fn run(args: &LearnArgs) -> Result<Outcome> {
    match args.run.precision {
        Precision::F32 => run_in::<f32>(args),
        Precision::F64 => run_in::<f64>(args),
    }
}

fn run_in<T: Real>(args: &LearnArgs) -> Result<Outcome> {
    interrupt::listen();
    let learner = params::learner(args)?;
    let images = args.images.clone();
    check_dictionary(&images, &args.output)?;
    args.report.as_deref().map(check_page).transpose()?;
    let results: Vec<_> = std::iter::once(&args.output).chain(&args.report).cloned().collect();
    let checkpoint: Option<LearnCheckpoint> = checkpoint::open(&args.checkpoints, &results)?;
    if args.learning.stream {
        return stream::run::<T>(args, &learner, images, checkpoint.as_ref());
    }
    let peak = peak(args.peak, args.picture.scale)?;
    let pictures = read_pictures::<T>(&images, &args.picture, &args.run)?;
    let shapes: Vec<_> = pictures.iter().map(shape).collect();
    let first = First::plan(&args.learning, shapes[0].0)?;
    let details = Details::of(args, &images, pictures, first.extent())?;
    let observed = &details.observed;
    let first = first.make(&args.learning, observed, args.run.seed)?;
    check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
    if !args.telling.quiet {
        first.warn_if_normalised();
    }
    let budget = Budget::now(&args.run).with_page(args.report.as_ref(), observed[0].signal.data());
    let budget = with_bases(budget, args.problem.base, observed);
    let learner = LearnParams { max_memory: budget.room(), ..learner.params().clone() }.check()?;
    if args.dry_run {
        let plan = Plan {
            images: &images,
            shapes: &shapes,
            dictionary: ("first atoms", &first),
            base: args.problem.base,
            until: match args.learning.target_objective {
                Some(target) => format!("the objective is {}, or {}", number(target), plural(args.learning.passes(), "pass")),
                None => plural(args.learning.passes(), "pass"),
            },
            output: ("dictionary", Some(&args.output)),
            needed: learner.estimate_memory(observed, &first.dictionary)?,
            budget,
            bands: None,
            trial: trial(learner.params(), &observed[0], &first.dictionary, &shapes)?,
        };
        let params = learner.params();
        return plan.tell(&params.pursuit(params.penalty), &args.telling).map(|()| Outcome::Done);
    }

    let watcher = Watcher::of_learning(&args.telling, "pass", args.learning.passes());
    let mut keeper = Keeper::<LearnCheckpoint, _>::new(watcher, args.checkpoints.checkpoint.as_deref());
    let engine = engine::open::<T>(&args.run)?;
    let learnt = match &checkpoint {
        Some(checkpoint) => learner.resume_on(&*engine, checkpoint, observed, &first.dictionary, &mut keeper),
        None => learner.run_on(&*engine, observed, &first.dictionary, &mut keeper),
    }
    .map_err(budget.refuse())?;
    let closeness = Closeness::new(observed, peak);
    let work = Work { task: Task { args, images, first }, shapes, learnt, closeness };
    let kept = keeper.finish(work.status());
    if ranks::is_silent() {
        return Ok(Outcome::Done);
    }
    work.save()?;
    let shown = args.report.as_deref().map_or(Ok(()), |path| page::write(&work, &details, path));
    work.tell()?;
    warnings::tell(&work.learnt.report.pursuit, &args.telling);
    // Dictionary and report are safe; only now is the time for what could not be written beside them.
    kept?;
    shown?;
    Ok(if work.status() == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Error, before long work, if atoms like these cannot be written to the file named.
fn check_holds(args: &LearnArgs, atom: Extent, channels: usize) -> Result<()> {
    let is_npy = FileKind::from_path(&args.output)? == FileKind::Npy;
    let place = args.output.display();
    ensure!(
        !(is_npy && atom.rank() == 1 && channels > 1),
        "{place} cannot hold atoms of one axis and several channels; use .npz"
    );
    Ok(())
}

/// Passes of a trial.
const TRIAL_PASSES: usize = 2;

/// Learns for two passes from a part of the first picture.
fn trial<T: Real>(
    params: &LearnParams,
    first: &Observed<T>,
    dictionary: &Dictionary<T>,
    shapes: &[(Extent, usize)],
) -> Result<Trial> {
    let part = part_of_observed(first)?;
    let extent = part.signal.extent();
    let passes = params.passes.min(TRIAL_PASSES);
    let learner = LearnParams { passes, time_limit: Some(trial::LIMIT), max_memory: None, ..params.clone() }.check()?;
    let times = trial::parts(extent, shapes) * params.passes as f64 / passes as f64;
    Trial::run(extent, times, || Ok(learner.run(&[part], dictionary, &mut ())?.report.status != Status::TimeLimit))
}
