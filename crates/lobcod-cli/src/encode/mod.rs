//! `lobcod encode`: sparse codes of images, with a certificate.

mod bands;
#[cfg(feature = "mpi")]
mod blocks;
mod details;
mod params;
mod results;

use crate::Outcome;
use crate::args::{ConsoleArgs, EncodeArgs, RunArgs};
use crate::budget::Budget;
use crate::checkpoint;
use crate::closeness::Closeness;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, Work};
use crate::engine;
use crate::flow::{Job, flow};
use crate::input::{
    Prepared, Source, prepare, read_inputs, read_options, shape, subtract_layers, with_bases,
};
use crate::output::paths::{CodesFiles, keep_inputs};
use crate::output::table::{number, plural};
use crate::progress::Watcher;
use crate::ranks;
use crate::score::{References, Score, ScoreRequest};
use crate::trial::{self, Trial, part_of_observed, trial_params};
use crate::values::Precision;
use crate::white::White;
use anyhow::Result;
use bands::Banded;
use lobcod::bands::BandedShape;
use lobcod::checkpoint::Checkpoint;
use lobcod::engine::CpuEngine;
use lobcod::pursuit::Loss;
use lobcod::{Dictionary, Extent, Observed, Pursuit, PursuitParams, Real};
use lobcod_io::{Axes, Keeper};
#[cfg(test)]
pub use params::pursuit;
use results::{Results, Whole};
use std::path::{Path, PathBuf};

flow!(EncodeArgs, "encode");

impl Command for EncodeArgs {
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
        self.output.as_deref()
    }

    fn images(&mut self) -> Option<&mut Vec<PathBuf>> {
        Some(&mut self.images)
    }

    fn axes(&self) -> Option<Axes> {
        self.input.axes
    }

    fn keep_silent(&mut self) {
        self.page.report = None;
        self.reference.clear();
    }
}

fn run_in<T: Real>(args: &EncodeArgs) -> Result<Outcome> {
    let flow = args.flow();
    flow.begin()?;
    let pursuit = params::pursuit(args)?;
    let files =
        args.output.as_deref().map(|output| CodesFiles::check(&args.images, output)).transpose()?;
    if let Some(files) = &files {
        keep_inputs(args.images.iter().chain(args.dictionary.file()), &files.files)?;
    }
    if let Some(banded) = Banded::<T>::of(args, &pursuit)? {
        return flow.finish(banded.with(pursuit, files));
    }
    #[cfg(feature = "mpi")]
    if let Some(blocks) = blocks::RankBlocks::<T>::of(args, &pursuit, &files)? {
        return flow.finish(blocks);
    }
    flow.finish(Encoding::<T>::read(args, pursuit, files)?)
}

/// Images to encode as a whole.
struct Encoding<'a, T> {
    args: &'a EncodeArgs,
    pursuit: Pursuit,
    files: Option<CodesFiles>,
    checkpoint: Option<Checkpoint>,
    sources: Vec<Source<T>>,
    observed: Vec<Observed<T>>,
    shapes: Vec<(Extent, usize)>,
    whites: Vec<White>,
    chosen: Chosen<T>,
    references: References<T>,
    budget: Budget,
}

impl<'a, T: Real> Encoding<'a, T> {
    fn read(args: &'a EncodeArgs, pursuit: Pursuit, files: Option<CodesFiles>) -> Result<Self> {
        let results: Vec<_> =
            files.iter().flat_map(|files| &files.files).chain(&args.page.report).cloned().collect();
        let checkpoint = checkpoint::open(&args.checkpoints, &results)?;
        let options = read_options(&args.input, &args.run);
        Budget::check_task::<T>(
            &args.flow(),
            (&args.images, &options),
            &args.dictionary,
            size_of::<T>(),
            |engine, extent, channels, dictionary| {
                let shape = BandedShape { extent, channels, masked: false };
                pursuit.whole_memory(engine, shape, dictionary)
            },
        )?;
        let inputs = read_inputs::<T>(&args.images, &args.input, &args.run)?;
        let shapes: Vec<_> = inputs.iter().map(shape).collect();
        let whites: Vec<_> =
            inputs.iter().map(|input| input.white(args.input.scale.given)).collect();
        let request = ScoreRequest {
            files: &args.reference,
            peak: args.score.peak,
            input: &args.input,
            run: &args.run,
            white: whites[0],
        };
        let references = References::read(&request, &shapes)?;
        let chosen = Chosen::of(&args.dictionary, shapes[0].0.rank())?;
        chosen.check_fits(shapes[0].0)?;
        if !args.console.quiet {
            chosen.warn_if_normalised();
        }
        let Prepared { sources, observed } = prepare(args, inputs, chosen.dictionary.extent())?;
        let page = |budget: Budget, observed: &Observed<T>| {
            budget.with_page(args.page.report.as_ref(), observed.signal.data())
        };
        let budget = with_bases(
            observed.iter().fold(Budget::now(&args.run), page),
            args.problem.base,
            &observed,
        );
        let budget = shapes
            .iter()
            .take(args.reference.len())
            .fold(budget, |b, &shape| b.with_temporary(Score::memory::<T>(shape)));
        let pursuit = pursuit.params().clone().with(|p| p.max_memory = budget.room()).check()?;
        Ok(Self {
            args,
            pursuit,
            files,
            checkpoint,
            sources,
            observed,
            shapes,
            whites,
            chosen,
            references,
            budget,
        })
    }
}

impl<'a, T: Real> Job for Encoding<'a, T> {
    type Done = Results<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        let engine = engine::cpu(&self.args.run)?;
        let (params, atoms) = (self.pursuit.params(), &self.chosen.dictionary);
        let work = Work {
            images: &self.args.images,
            shapes: &self.shapes,
            dictionaries: ("dictionary", std::slice::from_ref(&self.chosen)),
            output: ("codes", self.args.output.as_deref()),
            needed: self.pursuit.estimate_memory(&engine, &self.observed, atoms)?,
            budget: self.budget,
            trial: trial(&engine, params, &self.observed[0], atoms, &self.shapes)?,
        };
        let until = format!(
            "relative gap at most {}, or {}",
            number(params.tolerance),
            plural(params.max_sweeps, "sweep")
        );
        Ok(work.of_pursuit(self.args.problem.base, params, until))
    }

    fn run(mut self) -> Result<Results<'a, T>> {
        let (args, atoms) = (self.args, &self.chosen.dictionary);
        let watcher = Watcher::of(&args.console, "encode");
        let file = args.checkpoints.checkpoint.as_deref();
        let mut keeper = Keeper::<Checkpoint, _>::new(watcher, file, ranks::joined(&args.run)?);
        let engine = engine::open::<T>(&args.run, &self.shapes)?;
        let answer = match &self.checkpoint {
            Some(checkpoint) => {
                self.pursuit.resume(&*engine, checkpoint, &self.observed, atoms, &mut keeper)
            }
            None => self.pursuit.run(&*engine, &self.observed, atoms, &mut keeper),
        };
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                keeper.rescue();
                return Err(self.budget.refuse()(error).into());
            }
        };
        let kept = keeper.finish(answer.report.status);
        let layers = std::mem::take(&mut answer.layers);
        subtract_layers(layers, &mut self.observed, self.sources.iter_mut())?;
        let peak = self.whites[0].peak(args.score.peak);
        Ok(Results {
            args,
            // The data term is the squared error of the codes only without these options.
            closeness: (self.args.codes.loss == Loss::Squares && !self.args.codes.debias)
                .then(|| Closeness::new(&self.observed, peak)),
            sources: self.sources,
            shapes: self.shapes,
            chosen: self.chosen,
            answer,
            whole: Some(Whole { observed: self.observed, references: self.references }),
            scores: Vec::new(),
            files: self.files,
            bands: None,
            whites: self.whites,
            kept,
        })
    }
}

/// Encodes a crop of the first image, to estimate the run time.
fn trial<T: Real>(
    engine: &CpuEngine,
    params: &PursuitParams,
    first: &Observed<T>,
    dictionary: &Dictionary<T>,
    shapes: &[(Extent, usize)],
) -> Result<Trial> {
    let part = part_of_observed(first)?;
    let extent = part.signal.extent();
    let pursuit = trial_params!(params).check()?;
    Trial::run(extent, trial::parts(extent, shapes), || {
        Ok(pursuit.run(engine, &[part], dictionary, &mut ())?.report.status)
    })
}
