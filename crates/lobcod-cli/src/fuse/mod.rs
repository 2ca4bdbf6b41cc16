//! `lobcod fuse`: fuses several images of the same scene.

mod frames;
mod results;
mod scores;

use crate::Outcome;
use crate::args::{ConsoleArgs, FuseArgs, RunArgs, ScoringArgs};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, Work, until};
use crate::engine;
use crate::flow::{Job, flow};
use crate::output::paths::{check_answer, check_image, keep_inputs};
use crate::output::table::number;
use crate::output::warn;
use crate::params::time_limit;
use crate::progress::Watcher;
use crate::score::{Score, read_reference};
use crate::trial::{self, Trial, part_of, trial_params};
use anyhow::Result;
use frames::Files;
use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Extent, Penalty, PursuitParams, Signal};
use lobcod_tasks::align::Align;
use lobcod_tasks::fuse::{Compose, Frames as _, FuseBase, FuseParams, Fused, Fuser, Mode};
use results::Results;
use scores::Scores;
use std::path::{Path, PathBuf};

/// Misalignment of frames, in pixels, above which a warning is printed.
const MISALIGNED: f64 = 1.0;

flow!(FuseArgs, "fuse");

impl Command for FuseArgs {
    fn run(&self) -> Result<Outcome> {
        run(self)
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

    fn images(&mut self) -> Option<&mut Vec<PathBuf>> {
        Some(&mut self.images)
    }

    fn refuses_ranks(&self) -> Option<&'static str> {
        Some("fuse")
    }
}

/// Fuses the images.
fn run(args: &FuseArgs) -> Result<Outcome> {
    let flow = args.flow();
    flow.begin()?;
    let fuser = params(args)?.check()?;
    check_answer(&args.output)?;
    let maps = args.decision_map.iter().chain(&args.depth_map);
    maps.clone().try_for_each(|file| check_image(file))?;
    let inputs = args.images.iter().chain(&args.decision).chain(&args.scoring.reference);
    let inputs = inputs.chain(args.dictionary.file());
    keep_inputs(inputs, maps.chain([&args.output]))?;
    Budget::check_task(
        &flow,
        (&args.images[..1], &frames::options(args)),
        &args.dictionary,
        0,
        |engine, extent, channels, dictionary| {
            fuser.estimate_memory(engine, extent, channels, dictionary)
        },
    )?;
    let files = Files::open(args)?;
    let painted = args.decision.as_ref().map(|file| frames::painted(file, args)).transpose()?;
    let chosen = Chosen::of(&args.dictionary, 2)?;
    chosen.check_fits(files.extent)?;
    chosen.check_grey("fusion codes lightness")?;
    if !args.console.quiet {
        chosen.warn_if_normalised();
    }
    if files.white.value != args.scale.value() && !args.console.quiet {
        let (white, scale) = (number(files.white.value), number(args.scale.value()));
        warn(&format!(
            "the values of {} suggest that white is {white}, but fusion uses {scale}; set it with \
             --scale",
            args.images[0].display()
        ));
    }
    let shape = (files.extent, files.channels);
    let reference = read_reference(&args.scoring, &files.options, shape, &files.white)?;
    let budget =
        Budget::now(&args.run).with_page_afterwards::<f32>(args.page.report.as_ref(), shape);
    let budget = if reference.is_some() {
        budget.with_temporary(Score::memory::<f32>(shape))
    } else {
        budget
    };
    let fuser = fuser.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    flow.finish(Fusion { args, fuser, files, painted, chosen, reference, budget })
}

/// Images to fuse.
struct Fusion<'a> {
    args: &'a FuseArgs,
    fuser: Fuser,
    files: Files,
    /// Frames of pixels that are given, NaN elsewhere.
    painted: Option<Signal<f32>>,
    chosen: Chosen<f32>,
    reference: Option<Signal<f32>>,
    budget: Budget,
}

impl<'a> Job for Fusion<'a> {
    type Done = Results<'a>;

    fn plan(&mut self) -> Result<Plan> {
        let args = self.args;
        let extent = self.files.extent;
        let channels = self.files.channels;
        let params = PursuitParams::new(Penalty::Absolute(args.penalty))
            .with(|p| p.tolerance = args.run.tolerance);
        let engine = engine::cpu(&args.run)?;
        let atoms = &self.chosen.dictionary;
        let needed = self.fuser.estimate_memory(&engine, extent, channels, atoms)?;
        let trial = self.trial(&engine)?;
        let work = Work {
            images: &args.images,
            shapes: &vec![(extent, channels); args.images.len()],
            dictionaries: ("dictionary", std::slice::from_ref(&self.chosen)),
            output: ("image", Some(&args.output)),
            needed,
            budget: self.budget,
            trial,
        };
        let gap = format!("relative gap of each image at most {}", number(args.run.tolerance));
        let base = Base::Smooth { mu: args.smooth.smooth };
        Ok(work.of_pursuit(base, &params, until(&gap, args.alternations)))
    }

    fn run(mut self) -> Result<Results<'a>> {
        let mut watcher = Watcher::of(&self.args.console, "fuse");
        let shape = (self.files.extent, self.files.channels);
        let engine = engine::open(&self.args.run, &[shape])?;
        let atoms = &self.chosen.dictionary;
        let fused = self.fuser.run(&*engine, &mut self.files, atoms, &mut watcher);
        drop(watcher);
        let mut fused = fused.map_err(|error| match error.downcast() {
            Ok(error) => self.budget.refuse()(error).into(),
            Err(other) => other,
        })?;
        if !self.args.console.quiet {
            warn_about(&fused, self.fuser.params(), self.files.extent);
        }
        if let Some(painted) = &self.painted {
            let threads = engine.threads();
            fused = self.fuser.repainted(threads, &mut self.files, fused, painted)?;
        }
        let Self { args, files, chosen, reference, .. } = self;
        Ok(Results { args, files, chosen, fused, reference, scores: Scores::default() })
    }
}

impl Fusion<'_> {
    /// Fuses a crop of the first two frames, to estimate the run time.
    fn trial(&mut self, engine: &CpuEngine) -> Result<Trial> {
        let files = &mut self.files;
        let mut frames = vec![part_of(&files.read(0)?)?, part_of(&files.read(1)?)?];
        let part = frames[0].extent();
        // Parts of the images may look unrelated.
        let decide = |p: &mut FuseParams| {
            p.mode = if p.mode == Mode::Auto { Mode::Focus } else { p.mode };
        };
        let fuser = trial_params!(self.fuser.params()).with(decide).check()?;
        let times =
            trial::parts(part, &[(files.extent, files.channels)]) * files.count() as f64 / 2.0;
        Trial::run(part, times, || {
            Ok(fuser.run(engine, &mut frames, &self.chosen.dictionary, &mut ())?.status)
        })
    }
}

/// Warns where the images do not fit the requested mode or alignment.
fn warn_about(fused: &Fused, params: &FuseParams, extent: Extent) {
    let (stack, given) = (&fused.stack, params.mode != Mode::Auto);
    if given && !stack.is_related() {
        warn(&format!(
            "the images may not show the same scene (similarity {:.2} of 1)",
            stack.similarity
        ));
    } else if given && stack.mode == Mode::Focus && stack.differs_in_exposure() {
        warn(&format!(
            "the images differ in brightness by {:.0} of 100; try --mode exposure",
            stack.brightness
        ));
    }
    let shifts = fused.measured_motions.iter().map(|m| m.largest_shift(extent));
    let farthest = shifts.fold(0.0, f64::max);
    if params.align == Align::None && farthest > MISALIGNED {
        warn(&format!("the images are misaligned by up to {farthest:.1} pixels; try --align auto"));
    }
}

/// The fusion parameters for these options.
pub fn params(args: &FuseArgs) -> Result<FuseParams> {
    let base: FuseBase = args.fuse_base.into();
    let usual = if base == FuseBase::Average { Compose::Codes } else { Compose::Pixels };
    let mut params = FuseParams::default();
    params.mode = args.mode.into();
    params.scale = args.scale.value();
    params.penalty = args.penalty;
    params.mu = args.smooth.smooth;
    params.window = args.window;
    params.activity = args.activity.into();
    params.compose = args.compose.map_or(usual, Into::into);
    params.base = base;
    params.prefer = args.prefer.into();
    params.align = args.align.into();
    params.fast = args.fast;
    params.tolerance = args.run.tolerance;
    params.alternations = args.alternations;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params)
}
