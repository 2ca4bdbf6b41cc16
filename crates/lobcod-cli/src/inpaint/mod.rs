//! `lobcod inpaint`: fills in missing pixels.

mod params;
mod results;

use crate::Outcome;
use crate::args::{ConsoleArgs, InpaintArgs, RunArgs, ScoringArgs};
use crate::batch::{self, OnImages, PerImage};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, Work};
use crate::engine;
use crate::flow::{Job, flow};
use crate::input::{Input, about, read_inputs, read_options};
use crate::json;
use crate::missing::{self, Missing};
use crate::output::paths::{check_answer, keep_inputs};
use crate::output::table::number;
use crate::progress::Watcher;
use crate::score::{References, Score, ScoreRequest};
use crate::trial::{Trial, part_at, position_of_holes, trial_params};
use crate::values::{DictionaryChoice, FillChoice, Precision, Preset};
use crate::white::White;
use anyhow::Result;
use lobcod::dictionary::Embedded;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Extent, Mask, Real, Signal, Status};
use lobcod_io::{Axes, Depth, FileKind, Image};
use lobcod_tasks::inpaint::{Fill, InpaintParams, Inpainter};
#[cfg(test)]
pub use params::inpaint;
use results::Results;
use std::path::Path;

/// Copies of the image that are held whatever its holes are.
const WHOLE_COPIES: usize = 4;

flow!(InpaintArgs, "inpaint");

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

    fn axes(&self) -> Option<Axes> {
        self.input.axes
    }
}

impl OnImages for InpaintArgs {
    fn per_image(&mut self) -> PerImage<'_> {
        PerImage {
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
    let flow = args.flow();
    flow.begin()?;
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
    let files: Vec<_> = args.scoring.reference.iter().cloned().collect();
    let white = White::of(&image.signal, image.known.as_ref(), image.depth, args.input.scale.given);
    let request = ScoreRequest {
        files: &files,
        peak: args.scoring.score.peak,
        input: &args.input,
        run: &args.run,
        white,
    };
    let shape = (image.signal.extent(), image.signal.channels());
    let references = References::read(&request, &[shape])?;
    let chosen = dictionaries::<T>(args, shape.0)?;
    let known = image.known.clone().map_or_else(|| whole(shape.0), Ok)?;
    let budget = Budget::now(&args.run).with_page(args.page.report.as_ref(), image.signal.data());
    let budget =
        if files.is_empty() { budget } else { budget.with_temporary(Score::memory::<T>(shape)) };
    let change = |p: &mut InpaintParams| {
        (p.max_memory, p.fill) = (budget.room(), fill(args, image.depth));
    };
    let inpaint = inpaint.params().clone().with(change).check()?;
    flow.finish(Filling { args, inpaint, image, missing, known, chosen, white, references, budget })
}

/// An image to fill.
struct Filling<'a, T> {
    args: &'a InpaintArgs,
    inpaint: Inpainter,
    image: Image<T>,
    missing: Missing,
    known: Mask<T>,
    chosen: Vec<Chosen<T>>,
    white: White,
    references: References<T>,
    budget: Budget,
}

impl<'a, T: Real> Job for Filling<'a, T> {
    type Done = Results<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        let signal = &self.image.signal;
        let params = self.inpaint.params();
        let atoms = self.atoms();
        let engine = engine::cpu(&self.args.run)?;
        let shape = (signal.extent(), signal.channels());
        let work = Work {
            images: std::slice::from_ref(&self.args.files.image),
            shapes: &[shape],
            dictionaries: ("dictionary", &self.chosen),
            output: ("output", Some(&self.args.output)),
            needed: self.inpaint.estimate_memory_of(&engine, signal, &self.known, &atoms)?,
            budget: self.budget,
            trial: trial(&engine, &self.inpaint, signal, &self.known, &atoms)?,
        };
        let missing = missing::count(signal, &self.known);
        let windows = params.windows.iter().map(|w| number(*w)).collect::<Vec<_>>().join(", ");
        let learnt = if params.learn { ", and learnt dictionaries" } else { "" };
        let without_codes = self.inpaint.is_without_codes(signal.extent());
        let copies = match params.variants.max(1) {
            1 => "1 copy of each dictionary".into(),
            n => format!("{n} copies of each dictionary"),
        };
        let averages = if without_codes {
            "smooth interpolation and groups of similar patches".into()
        } else {
            format!("{copies}, base windows {windows}{learnt}")
        };
        let rows = vec![
            ("missing", self.missing.words(shape.0).unwrap_or_else(|| "nothing".into())),
            ("averages", averages),
            ("penalty", params.penalty.map_or("auto".into(), number)),
        ];
        let settings = json::Settings::Inpaint {
            image: json::file(&self.args.files.image),
            shape: shape.0.axes().to_vec(),
            channels: shape.1,
            missing_samples: missing,
            learn: if params.learn { "image" } else { "none" },
            variants: params.variants,
            windows: params.windows.clone(),
            density: params.density,
            held_out: params.held_out,
        };
        Ok(work.with(rows, settings))
    }

    fn run(self) -> Result<Results<'a, T>> {
        let mut watcher = Watcher::of(&self.args.console, "inpaint");
        let shape = (self.image.signal.extent(), self.image.signal.channels());
        let (engine, atoms) = (engine::open(&self.args.run, &[shape])?, self.atoms());
        let answer =
            self.inpaint.run(&*engine, &self.image.signal, &self.known, &atoms, &mut watcher);
        drop(watcher);
        let answer = answer.map_err(self.budget.refuse()).map_err(about(&self.args.files.image))?;
        let depth = FileKind::from_path(&self.args.output)?.nearest_depth(self.image.depth);
        Ok(Results { job: self, answer, depth, scores: None })
    }
}

impl<T: Real> Filling<'_, T> {
    fn atoms(&self) -> Vec<Dictionary<T>> {
        self.chosen.iter().map(|c| c.dictionary.clone()).collect()
    }
}

/// What wide holes are filled with. Copied content may be welcome in 8- and 16-bit image files;
/// arrays and sounds hold measurements.
fn fill(args: &InpaintArgs, depth: Depth) -> Fill {
    let is_image = FileKind::from_path(&args.files.image)
        .is_ok_and(|kind| matches!(kind, FileKind::Png | FileKind::Jpeg | FileKind::Tiff));
    let is_photo = is_image && matches!(depth, Depth::U8 | Depth::U16);
    if args.fill == FillChoice::Auto && !is_photo { Fill::Model } else { args.fill.into() }
}

/// Error, before long work, if an output cannot be written.
fn check_outputs(args: &InpaintArgs) -> Result<()> {
    check_answer(&args.output)?;
    let masks = args.input.known.iter().chain(&args.input.holes);
    let dictionaries = args.dictionary.iter().filter_map(DictionaryChoice::file);
    let inputs = [&args.files.image].into_iter().chain(masks).chain(&args.scoring.reference);
    keep_inputs(inputs.chain(dictionaries), [&args.output])
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

/// Fills the crop of the image with the most holes, to estimate the run time.
fn trial<T: Real>(
    engine: &CpuEngine,
    inpaint: &Inpainter,
    signal: &Signal<T>,
    known: &Mask<T>,
    atoms: &[Dictionary<T>],
) -> Result<Trial> {
    let place = position_of_holes(known)?;
    let (part, mask) = (part_at(signal, place)?, Mask::new(part_at(known.weights(), place)?)?);
    let coded = |known: &Mask<T>| inpaint.coded_samples(known, atoms).max(1) as f64;
    let times = coded(known) / coded(&mask);
    let inpaint = trial_params!(inpaint.params()).check()?;
    Trial::run(part.extent(), times, || {
        // A crop in which all or no samples are known gives a poor estimate, but is not an error.
        let filled = inpaint.run(engine, &part, &mask, atoms, &mut ());
        Ok(filled.map_or(Status::Converged, |filled| filled.report.status))
    })
}
