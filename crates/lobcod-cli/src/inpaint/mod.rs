//! `lobcod inpaint`: fills in missing pixels.

mod params;
mod plan;
mod results;

use crate::Outcome;
use crate::args::{ConsoleArgs, InpaintArgs, RunArgs, ScoringArgs};
use crate::batch::{self, OnImages, Parts};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::engine;
use crate::input::{Input, about, read_inputs, read_options};
use crate::interrupt;
use crate::output::paths::{check_answer, check_page, same_file};
use crate::progress::Watcher;
use crate::ranks;
use crate::score::{References, Score, ScoreRequest};
use crate::trial::{self, Trial, part_of, part_of_mask};
use crate::values::{DictionaryChoice, Precision, Preset};
use crate::white::White;
use anyhow::{Result, ensure};
use lobcod::dictionary::Embedded;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, Mask, Real, Signal, Status};
use lobcod_io::{FileKind, Image};
use lobcod_tasks::inpaint::Inpaint;
use plan::Plan;
use results::Results;
use std::path::Path;

/// Copies of the image that are held whatever its holes are.
const WHOLE_COPIES: usize = 4;
/// Samples of a trial without holes of which one is hidden.
const SPARSE: usize = 97;

impl Command for InpaintArgs {
    fn run(&self) -> Result<Outcome> {
        batch::run(self)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn resources(&mut self) -> Option<&mut RunArgs> {
        Some(&mut self.run)
    }

    fn scoring(&self) -> Option<&ScoringArgs> {
        Some(&self.scoring)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }
}

impl OnImages for InpaintArgs {
    fn parts(&mut self) -> Parts<'_> {
        Parts {
            images: &mut self.files,
            outputs: vec![&mut self.output],
            companions: vec![
                &mut self.input.known,
                &mut self.input.holes,
                &mut self.scoring.reference,
            ],
            report: &mut self.page.report,
        }
    }

    fn run_on_one(&self) -> Result<Outcome> {
        match self.run.precision {
            Precision::F32 => run_in::<f32>(self),
            Precision::F64 => run_in::<f64>(self),
        }
    }
}

fn run_in<T: Real>(args: &InpaintArgs) -> Result<Outcome> {
    interrupt::listen();
    let inpaint = params::inpaint(args)?;
    check_outputs(args)?;
    if !args.plan.dry_run {
        let options = read_options(&args.input, &args.run);
        Budget::check_headers(
            &args.run,
            std::slice::from_ref(&args.files.image),
            &options,
            size_of::<T>(),
            |extent, channels| {
                // What the holes need is known once the mask has been read.
                dictionaries::<T>(args, extent)?;
                Ok((WHOLE_COPIES * extent.volume() * channels * size_of::<T>()) as u64)
            },
        )?;
    }
    let mut images =
        read_inputs::<T>(std::slice::from_ref(&args.files.image), &args.input, &args.run)?;
    let Input { image, missing } = images.remove(0);
    let Image { signal, known, depth: image_depth, axes, sample_rate, metadata } = image;
    let depth = FileKind::from_path(&args.output)?.nearest_depth(image_depth);
    let files: Vec<_> = args.scoring.reference.iter().cloned().collect();
    let white = White::of(&signal, known.as_ref(), image_depth, args.input.scale.given);
    let request = ScoreRequest {
        files: &files,
        peak: args.scoring.score.peak,
        input: &args.input,
        run: &args.run,
        white,
    };
    let references = References::read(&request, &[(signal.extent(), signal.channels())])?;
    let chosen = dictionaries::<T>(args, signal.extent())?;
    let known = known.map_or_else(|| whole(signal.extent()), Ok)?;
    let atoms: Vec<Dictionary<T>> = chosen.iter().map(|c| c.dictionary.clone()).collect();
    let budget = Budget::now(&args.run).with_page(args.page.report.as_ref(), signal.data());
    let shape = (signal.extent(), signal.channels());
    let budget =
        if files.is_empty() { budget } else { budget.with_moment(Score::memory::<T>(shape)) };
    let inpaint = inpaint.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    if args.plan.dry_run {
        let engine = engine::cpu(&args.run)?;
        let needed = inpaint.estimate_memory_of(&engine, &signal, &known, &atoms)?;
        let trial = trial(&engine, &inpaint, &signal, &known, &atoms)?;
        return Plan {
            args,
            signal: &signal,
            known: &known,
            chosen: &chosen,
            needed,
            budget,
            trial,
        }
        .print(inpaint.params())
        .map(|()| Outcome::Done);
    }
    let mut watcher = Watcher::of(&args.console, "inpaint");
    let answer = inpaint.run(&*engine::open(&args.run)?, &signal, &known, &atoms, &mut watcher);
    let answer = answer.map_err(budget.refuse()).map_err(about(&args.files.image))?;
    drop(watcher);
    if ranks::is_silent() {
        return Ok(Outcome::Done);
    }
    let interrupted = answer.report.status == Status::Interrupted;
    Results {
        args,
        params: inpaint.params(),
        signal,
        known,
        chosen,
        answer,
        depth,
        axes,
        sample_rate,
        metadata,
        missing,
        white,
    }
    .finish(&references)?;
    Ok(if interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Error, before long work, if an output cannot be written.
fn check_outputs(args: &InpaintArgs) -> Result<()> {
    check_answer(&args.output)?;
    let inputs = [
        Some(&args.files.image),
        args.input.known.as_ref(),
        args.input.holes.as_ref(),
        args.scoring.reference.as_ref(),
    ];
    for input in inputs.into_iter().flatten() {
        let place = args.output.display();
        ensure!(
            !same_file(input, &args.output),
            "{place} is both input and output; choose another file with -o"
        );
    }
    args.page.report.as_deref().map(check_page).transpose().map(drop)
}

/// The requested dictionaries, or the default ones.
fn dictionaries<T: Real>(args: &InpaintArgs, signal: Extent) -> Result<Vec<Chosen<T>>> {
    let usual = match (signal.rank() == 2 && args.size.size.is_none(), args.preset) {
        (false, _) => vec![DictionaryChoice::Dct],
        (true, Preset::Best) => {
            vec![
                DictionaryChoice::Embedded(Embedded::Natural12x12),
                DictionaryChoice::Embedded(Embedded::Natural),
            ]
        }
        (true, _) => vec![DictionaryChoice::Embedded(Embedded::Natural)],
    };
    let choices = if args.dictionary.is_empty() { &usual } else { &args.dictionary };
    let mut chosen = Vec::new();
    for choice in choices {
        let dictionary = Chosen::load(choice, args.size.size, signal.rank())?;
        dictionary.check_fits(signal)?;
        if !args.console.quiet {
            dictionary.warn_if_normalised();
        }
        chosen.push(dictionary);
    }
    Ok(chosen)
}

/// A mask in which all samples are known.
fn whole<T: Real>(extent: Extent) -> lobcod::Result<Mask<T>> {
    Mask::new(Signal::from_planar(extent, 1, vec![T::ONE; extent.volume()])?)
}

/// Fills a crop of the image, to estimate the run time.
fn trial<T: Real>(
    engine: &CpuEngine,
    inpaint: &Inpaint,
    signal: &Signal<T>,
    known: &Mask<T>,
    atoms: &[Dictionary<T>],
) -> Result<Trial> {
    let part = part_of(signal)?;
    let mut mask = part_of_mask(known)?;
    if mask.weights().data().iter().all(|&w| w != T::ZERO) {
        // The holes are elsewhere; the cost hardly depends on their number.
        let known: Vec<bool> = (0..part.extent().volume()).map(|i| i % SPARSE != 0).collect();
        mask = Mask::from_known(part.extent(), &known)?;
    }
    let fitted = inpaint.fitted_samples(engine, signal, known, atoms)?;
    let times = fitted as f64 / part.extent().volume() as f64;
    let inpaint = inpaint
        .params()
        .clone()
        .with(|p| {
            p.time_limit = Some(trial::LIMIT);
            p.max_memory = None;
            p.everywhere = true;
        })
        .check()?;
    Trial::run(part.extent(), times, || {
        // A crop in which all or no samples are known gives a poor estimate, but is not an error.
        Ok(inpaint
            .run(engine, &part, &mask, atoms, &mut ())
            .map_or(true, |filled| filled.report.status != Status::TimeLimit))
    })
}
