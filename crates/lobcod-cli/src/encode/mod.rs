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
use crate::dry_run::Plan;
use crate::engine;
use crate::input::{Prepared, prepare, read_inputs, read_options, shape, with_bases};
use crate::interrupt;
use crate::output::paths::{CodesFiles, check_page};
use crate::output::table::{number, plural};
use crate::output::warnings;
use crate::progress::Watcher;
use crate::ranks;
use crate::report::View;
use crate::score::{References, Score, ScoreRequest};
use crate::synthesis::reconstruct;
use crate::trial::{self, Trial, part_of_observed};
use crate::values::Precision;
use anyhow::Result;
use bands::Banded;
use lobcod::bands::BandedShape;
use lobcod::checkpoint::Checkpoint;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, Observed, PursuitParams, Real, Status};
use lobcod_io::{Depth, Keeper};
use results::Results;
use std::path::{Path, PathBuf};

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

    fn keep_silent(&mut self) {
        self.page.report = None;
        self.reference.clear();
    }
}

fn run_in<T: Real>(args: &EncodeArgs) -> Result<Outcome> {
    interrupt::listen();
    let pursuit = params::pursuit(args)?;
    let files =
        args.output.as_deref().map(|output| CodesFiles::check(&args.images, output)).transpose()?;
    args.page.report.as_deref().map(check_page).transpose()?;
    if let Some(mut banded) = Banded::<T>::of(args, &pursuit)? {
        return if args.plan.dry_run { banded.plan(&pursuit) } else { banded.run(&pursuit, files) };
    }
    #[cfg(feature = "mpi")]
    if let Some(cut) = blocks::RankBlocks::<T>::of(args)? {
        return cut.run(&pursuit, files);
    }
    let results: Vec<_> =
        files.iter().flat_map(|files| &files.files).chain(&args.page.report).cloned().collect();
    let checkpoint = checkpoint::open(&args.checkpoints, &results)?;
    if !args.plan.dry_run {
        let engine = CpuEngine::new(args.run.threads.count)?;
        Budget::check_headers(
            &args.run,
            &args.images,
            &read_options(&args.input, &args.run),
            size_of::<T>(),
            |extent, channels| {
                let chosen = Chosen::<T>::of(&args.dictionary, extent.rank())?;
                let shape = BandedShape { extent, channels, masked: false };
                Ok(pursuit.whole_memory(&engine, shape, &chosen.dictionary)?)
            },
        )?;
    }
    let inputs = read_inputs::<T>(&args.images, &args.input, &args.run)?;
    let shapes: Vec<_> = inputs.iter().map(shape).collect();
    let whites: Vec<_> = inputs.iter().map(|input| input.white(args.input.scale.given)).collect();
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
        .fold(budget, |b, &shape| b.with_moment(Score::memory::<T>(shape)));
    let pursuit = pursuit.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    if args.plan.dry_run {
        let engine = engine::cpu(&args.run)?;
        let needed = pursuit.estimate_memory(&engine, &observed, &chosen.dictionary)?;
        let params = pursuit.params();
        let plan = Plan {
            images: &args.images,
            shapes: &shapes,
            dictionary: ("dictionary", &chosen),
            base: args.problem.base,
            until: format!(
                "relative gap at most {}, or {}",
                number(params.tolerance),
                plural(params.max_sweeps, "sweep")
            ),
            output: ("codes", args.output.as_deref()),
            needed,
            budget,
            bands: None,
            trial: trial(&engine, params, &observed[0], &chosen.dictionary, &shapes)?,
        };
        return plan.print(params, &args.console).map(|()| Outcome::Done);
    }

    let watcher = Watcher::of(&args.console, "encode");
    let file = args.checkpoints.checkpoint.as_deref();
    let mut keeper = Keeper::<Checkpoint, _>::new(watcher, file, ranks::joined(&args.run)?);
    let engine = engine::open::<T>(&args.run)?;
    let answer = match &checkpoint {
        Some(checkpoint) => {
            pursuit.resume(&*engine, checkpoint, &observed, &chosen.dictionary, &mut keeper)
        }
        None => pursuit.run(&*engine, &observed, &chosen.dictionary, &mut keeper),
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            keeper.rescue();
            return Err(budget.refuse()(error).into());
        }
    };
    let kept = keeper.finish(answer.report.status);
    if ranks::is_silent() {
        return Ok(Outcome::Done);
    }
    whites[0].warn(&args.images[0], !args.reference.is_empty() && args.score.peak.is_none(), None);
    let closeness = Some(Closeness::new(&observed, whites[0].peak(args.score.peak)));
    let mut work = Results {
        args,
        sources,
        chosen,
        answer,
        scores: Vec::new(),
        files,
        bands: None,
        whites,
        closeness,
    };
    work.save()?;

    let mut sections = Vec::new();
    for (i, observed) in observed.into_iter().enumerate() {
        if args.page.report.is_none() && args.reference.is_empty() {
            break;
        }
        let (needles, source) = (&work.answer.needles[i], &work.sources[i]);
        let reconstruction = reconstruct(needles, &work.chosen.dictionary, source.base.as_ref())?;
        work.scores.extend(references.score(i, &reconstruction)?);
        if args.page.report.is_some() {
            let view = View {
                name: &source.path.display().to_string(),
                original: &source
                    .base
                    .as_ref()
                    .map_or(Ok(observed.signal.clone()), |base| observed.signal.plus(base))?,
                reconstruction: &reconstruction,
                known: observed.mask.as_ref(),
                needles,
                certificate: &work.answer.report.signals[i],
                dictionary: &work.chosen.dictionary,
                white: matches!(source.depth, Depth::U8 | Depth::U16)
                    .then_some(args.input.scale.value()),
                sample_rate: source.sample_rate,
            };
            sections.push(view.section()?);
        }
    }
    let shown = args.page.report.as_deref().map_or(Ok(()), |path| work.page(sections).write(path));
    work.print()?;
    warnings::print(&work.answer.report, &args.console);
    // Codes and report are written; now report what could not be written besides.
    kept?;
    shown?;
    Ok(if work.answer.report.status == Status::Interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
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
    let pursuit = params
        .clone()
        .with(|p| {
            p.time_limit = Some(trial::LIMIT);
            p.max_memory = None;
        })
        .check()?;
    Trial::run(extent, trial::parts(extent, shapes), || {
        Ok(pursuit.run(engine, &[part], dictionary, &mut ())?.report.status != Status::TimeLimit)
    })
}
