//! `lobcod learn`: learns a dictionary from images.

mod details;
mod first;
mod page;
mod params;
mod results;
mod stream;
mod task;

use crate::Outcome;
use crate::args::{ConsoleArgs, LearnArgs, RunArgs};
use crate::budget::Budget;
use crate::checkpoint;
use crate::closeness::Closeness;
use crate::command::Command;
use crate::dry_run::Plan;
use crate::engine;
use crate::input::{read_inputs, read_options, shape, with_bases};
use crate::interrupt;
use crate::output::paths::{check_dictionary, check_page};
use crate::output::table::{number, plural};
use crate::output::warnings;
use crate::progress::Watcher;
use crate::ranks;
use crate::score::check_peak;
use crate::trial::{self, Trial, part_of_observed};
use crate::values::Precision;
use anyhow::{Result, ensure};
use details::Details;
use first::First;
use lobcod::bands::BandedShape;
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, LearnParams, Learner, Observed, Real, Status};
use lobcod_io::{FileKind, Keeper};
use results::Results;
use std::path::{Path, PathBuf};
use task::Task;

impl Command for LearnArgs {
    fn run(&self) -> Result<Outcome> {
        match self.run.precision {
            Precision::F32 => run_in::<f32>(self),
            Precision::F64 => run_in::<f64>(self),
        }
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn resources(&mut self) -> Option<&mut RunArgs> {
        Some(&mut self.run)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }

    fn images(&mut self) -> Option<&mut Vec<PathBuf>> {
        Some(&mut self.images)
    }

    fn conflict(&self) -> Option<String> {
        self.conflicting_options()
    }

    fn refuses_ranks(&self) -> Option<&'static str> {
        self.learning.stream.then_some("learn --stream")
    }

    fn keep_silent(&mut self) {
        self.page.report = None;
    }
}

fn run_in<T: Real>(args: &LearnArgs) -> Result<Outcome> {
    interrupt::listen();
    let learner = params::learner(args)?;
    let images = args.images.clone();
    check_dictionary(&images, &args.output)?;
    args.page.report.as_deref().map(check_page).transpose()?;
    let results: Vec<_> = std::iter::once(&args.output).chain(&args.page.report).cloned().collect();
    let checkpoint: Option<LearnCheckpoint> = checkpoint::open(&args.checkpoints, &results)?;
    if args.learning.stream {
        return stream::run::<T>(args, &learner, images, checkpoint.as_ref());
    }
    check_peak(args.score.peak)?;
    check_memory::<T>(args, &learner, &images)?;
    let inputs = read_inputs::<T>(&images, &args.input, &args.run)?;
    let shapes: Vec<_> = inputs.iter().map(shape).collect();
    let white = inputs[0].white(args.input.scale.given);
    let first = First::plan(&args.learning, shapes[0].0)?;
    let details = Details::of(args, &images, inputs, first.extent())?;
    let observed = &details.observed;
    let first = first.make(&args.learning, observed, args.run.seed)?;
    check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
    if !args.console.quiet {
        first.warn_if_normalised();
    }
    let budget =
        Budget::now(&args.run).with_page(args.page.report.as_ref(), observed[0].signal.data());
    let budget = with_bases(budget, args.problem.base, observed);
    let learner = learner.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    if args.plan.dry_run {
        let engine = engine::cpu(&args.run)?;
        let plan = Plan {
            images: &images,
            shapes: &shapes,
            dictionary: ("initial atoms", &first),
            base: args.problem.base,
            until: match args.learning.target_objective {
                Some(target) => format!(
                    "objective at most {}, or {}",
                    number(target),
                    plural(args.learning.passes(), "pass")
                ),
                None => plural(args.learning.passes(), "pass"),
            },
            output: ("dictionary", Some(&args.output)),
            needed: learner.estimate_memory(&engine, observed, &first.dictionary)?,
            budget,
            bands: None,
            trial: trial(&engine, learner.params(), &observed[0], &first.dictionary, &shapes)?,
        };
        let params = learner.params();
        return plan.print(&params.pursuit(params.penalty), &args.console).map(|()| Outcome::Done);
    }

    let watcher = Watcher::of_learning(&args.console, "pass", args.learning.passes());
    let file = args.checkpoints.checkpoint.as_deref();
    let mut keeper = Keeper::<LearnCheckpoint, _>::new(watcher, file, ranks::joined(&args.run)?);
    let engine = engine::open::<T>(&args.run)?;
    let learnt = match &checkpoint {
        Some(checkpoint) => {
            learner.resume(&*engine, checkpoint, observed, &first.dictionary, &mut keeper)
        }
        None => learner.run(&*engine, observed, &first.dictionary, &mut keeper),
    };
    let learnt = match learnt {
        Ok(learnt) => learnt,
        Err(error) => {
            keeper.rescue();
            return Err(budget.refuse()(error).into());
        }
    };
    let closeness = Closeness::new(observed, white.peak(args.score.peak));
    let work = Results {
        task: Task { args, images, first },
        shapes,
        learnt,
        closeness,
        missing: details.missing.clone(),
    };
    let kept = keeper.finish(work.status());
    if ranks::is_silent() {
        return Ok(Outcome::Done);
    }
    work.save()?;
    let shown =
        args.page.report.as_deref().map_or(Ok(()), |path| page::write(&work, &details, path));
    work.print()?;
    warnings::print(&work.learnt.report.pursuit, &args.console);
    // Dictionary and report are written; now report what could not be written besides.
    kept?;
    shown?;
    Ok(if work.status() == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Error, before long work, if the output file cannot store such atoms.
fn check_holds(args: &LearnArgs, atom: Extent, channels: usize) -> Result<()> {
    let is_npy = FileKind::from_path(&args.output)? == FileKind::Npy;
    let place = args.output.display();
    ensure!(
        !(is_npy && atom.rank() == 1 && channels > 1),
        "{place} cannot store 1-D atoms with several channels; use .npz"
    );
    Ok(())
}

/// Error, before anything is decoded, if coding the images needs more memory than the limit.
fn check_memory<T: Real>(args: &LearnArgs, learner: &Learner, images: &[PathBuf]) -> Result<()> {
    if args.plan.dry_run {
        return Ok(());
    }
    let engine = CpuEngine::new(args.run.threads.count)?;
    let pursuit = learner.params().pursuit(learner.params().penalty).check()?;
    Budget::check_headers(
        &args.run,
        images,
        &read_options(&args.input, &args.run),
        size_of::<T>(),
        |extent, channels| {
            let first =
                First::<T>::plan(&args.learning, extent)?.placeholder(&args.learning, channels)?;
            Ok(pursuit.whole_memory(
                &engine,
                BandedShape { extent, channels, masked: false },
                &first,
            )?)
        },
    )
}

/// Number of passes of a trial.
const TRIAL_PASSES: usize = 2;

/// Learns for two passes from a crop of the first image, to estimate the run time.
fn trial<T: Real>(
    engine: &CpuEngine,
    params: &LearnParams,
    first: &Observed<T>,
    dictionary: &Dictionary<T>,
    shapes: &[(Extent, usize)],
) -> Result<Trial> {
    let part = part_of_observed(first)?;
    let extent = part.signal.extent();
    let passes = params.passes.min(TRIAL_PASSES);
    let learner = params
        .clone()
        .with(|p| {
            p.passes = passes;
            p.time_limit = Some(trial::LIMIT);
            p.max_memory = None;
        })
        .check()?;
    let times = trial::parts(extent, shapes) * params.passes as f64 / passes as f64;
    Trial::run(extent, times, || {
        Ok(learner.run(engine, &[part], dictionary, &mut ())?.report.status != Status::TimeLimit)
    })
}
