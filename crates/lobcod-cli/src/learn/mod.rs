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
use crate::dry_run::{Plan, Work};
use crate::engine;
use crate::flow::{Finished as _, Job, flow};
use crate::input::{read_inputs, read_options, shape, subtract_layers, with_bases};
use crate::output::paths::{check_dictionary, keep_inputs};
use crate::output::table::{number, plural};
use crate::progress::Watcher;
use crate::ranks;
use crate::score::check_peak;
use crate::trial::{self, Trial, part_of_observed, trial_params};
use crate::values::InitChoice;
use crate::values::Precision;
use crate::white::White;
use anyhow::{Result, ensure};
use details::Details;
use first::First;
use lobcod::bands::BandedShape;
use lobcod::checkpoint::LearnCheckpoint;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, LearnParams, Learner, Observed, Real};
use lobcod_io::{Axes, FileKind, Keeper};
#[cfg(test)]
pub use params::learner;
use results::Results;
use std::path::{Path, PathBuf};
use stream::Streaming;
use task::Task;

flow!(LearnArgs, "learn");

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

    fn axes(&self) -> Option<Axes> {
        self.input.axes
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
    let flow = args.flow();
    flow.begin()?;
    let learner = params::learner(args)?;
    check_dictionary(&args.output)?;
    let first = if let InitChoice::File(file) = &args.learning.init { Some(file) } else { None };
    let frozen = args.model.freeze.iter();
    keep_inputs(args.images.iter().chain(first).chain(frozen), [&args.output])?;
    let results: Vec<_> = std::iter::once(&args.output).chain(&args.page.report).cloned().collect();
    let checkpoint: Option<LearnCheckpoint> = checkpoint::open(&args.checkpoints, &results)?;
    if args.learning.stream {
        return flow.finish(Streaming::<T>::read(args, learner, checkpoint)?);
    }
    check_peak(args.score.peak)?;
    flow.finish(Learning::<T>::read(args, learner, checkpoint)?)
}

/// Images to learn from.
struct Learning<'a, T> {
    learner: Learner,
    checkpoint: Option<LearnCheckpoint>,
    task: Task<'a, T>,
    details: Details<T>,
    shapes: Vec<(Extent, usize)>,
    white: White,
    budget: Budget,
}

impl<'a, T: Real> Learning<'a, T> {
    fn read(
        args: &'a LearnArgs,
        learner: Learner,
        checkpoint: Option<LearnCheckpoint>,
    ) -> Result<Self> {
        check_memory::<T>(args, &learner, &args.images)?;
        let inputs = read_inputs::<T>(&args.images, &args.input, &args.run)?;
        let shapes: Vec<_> = inputs.iter().map(shape).collect();
        let white = inputs[0].white(args.input.scale.given);
        let first = First::plan(&args.learning, shapes[0].0)?;
        let details = Details::of(args, &args.images, inputs, first.extent())?;
        let observed = &details.observed;
        let first = first.make(args, observed)?;
        let learner = learner.params().clone().with(|p| p.frozen = first.frozen).check()?;
        check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
        if !args.console.quiet {
            first.warn_if_normalised();
        }
        let budget =
            Budget::now(&args.run).with_page(args.page.report.as_ref(), observed[0].signal.data());
        let budget = with_bases(budget, args.problem.base, observed);
        let learner = learner.params().clone().with(|p| p.max_memory = budget.room()).check()?;
        let task = Task { args, images: args.images.clone(), first };
        Ok(Self { learner, checkpoint, task, details, shapes, white, budget })
    }
}

impl<'a, T: Real> Job for Learning<'a, T> {
    type Done = Results<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        let (args, params) = (self.task.args, self.learner.params());
        let (observed, atoms) = (&self.details.observed, &self.task.first.dictionary);
        let engine = engine::cpu(&args.run)?;
        let work = Work {
            images: &self.task.images,
            shapes: &self.shapes,
            dictionaries: ("initial atoms", std::slice::from_ref(&self.task.first)),
            output: ("dictionary", Some(&args.output)),
            needed: self.learner.estimate_memory(&engine, observed, atoms)?,
            budget: self.budget,
            trial: trial(&engine, params, &observed[0], atoms, &self.shapes)?,
        };
        let passes = plural(args.learning.passes(), "pass");
        let until = match args.learning.target_objective {
            Some(target) => format!("objective at most {}, or {passes}", number(target)),
            None => passes,
        };
        Ok(work.of_pursuit(args.problem.base, &params.pursuit(params.penalty), until))
    }

    fn run(mut self) -> Result<Results<'a, T>> {
        let (args, observed) = (self.task.args, &self.details.observed);
        let watcher = Watcher::of_learning(&args.console, "pass", args.learning.passes());
        let file = args.checkpoints.checkpoint.as_deref();
        let mut keeper =
            Keeper::<LearnCheckpoint, _>::new(watcher, file, ranks::joined(&args.run)?);
        let engine = engine::open::<T>(&args.run, &self.shapes)?;
        let atoms = &self.task.first.dictionary;
        let learnt = match &self.checkpoint {
            Some(checkpoint) => {
                self.learner.resume(&*engine, checkpoint, observed, atoms, &mut keeper)
            }
            None => self.learner.run(&*engine, observed, atoms, &mut keeper),
        };
        let mut learnt = match learnt {
            Ok(learnt) => learnt,
            Err(error) => {
                keeper.rescue();
                return Err(self.budget.refuse()(error).into());
            }
        };
        let layers = std::mem::take(&mut learnt.layers);
        let Details { observed, first, .. } = &mut self.details;
        subtract_layers(layers, observed, std::iter::once(first))?;
        let closeness = Closeness::new(observed, self.white.peak(args.score.peak));
        let mut results = Results {
            task: self.task,
            shapes: self.shapes,
            learnt,
            closeness,
            details: self.details,
            kept: Ok(()),
        };
        results.kept = keeper.finish(results.status());
        Ok(results)
    }
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
    let learner = trial_params!(params).with(|p| p.passes = passes).check()?;
    let times = trial::parts(extent, shapes) * params.passes as f64 / passes as f64;
    Trial::run(extent, times, || {
        Ok(learner.run(engine, &[part], dictionary, &mut ())?.report.status)
    })
}
