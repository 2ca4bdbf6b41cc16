//! `lobcod fuse`: one picture from many of the same scene.

mod frames;
mod scores;
mod work;

use crate::Outcome;
use crate::args::FuseArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, until};
use crate::engine;
use crate::interrupt;
use crate::output::paths::{check_answer, check_page, check_picture};
use crate::output::table::number;
use crate::output::{warn, warnings};
use crate::params::time_limit;
use crate::progress::Watcher;
use crate::score::{Score, read_reference};
use crate::trial::{self, Trial, part_of};
use crate::values::Precision;
use anyhow::{Result, ensure};
use frames::Files;
use lobcod::base::Base;
use lobcod::tasks::fuse::{Compose, Frames as _, FuseBase, FuseParams, Fuser};
use lobcod::{Penalty, PursuitParams, Status};
use scores::Scores;
use work::Work;

/// Pixels that frames may be apart before it is worth a warning.
const WORTH_A_WARNING: f64 = 1.0;

/// Fuses the pictures.
pub fn run(args: &FuseArgs) -> Result<Outcome> {
    interrupt::listen();
    engine::check(&args.run)?;
    ensure!(matches!(args.run.precision, Precision::F32), "fusion works in single precision; leave out --precision f64");
    let fuser = params(args)?.check()?;
    check_answer(&args.output)?;
    for file in [args.decision_map.as_ref(), args.depth_map.as_ref()].into_iter().flatten() {
        check_picture(file)?;
    }
    args.scoring.report.as_deref().map(check_page).transpose()?;
    let mut files = Files::open(args)?;
    let chosen = Chosen::of(&args.dictionary, 2)?;
    chosen.check_fits(files.extent)?;
    chosen.check_grey("fusion codes lightness")?;
    if !args.telling.quiet {
        chosen.warn_if_normalised();
    }
    let reference = read_reference(&args.scoring, &files.options, (files.extent, files.channels))?;
    let shape = (files.extent, files.channels);
    let budget = Budget::now(&args.run).with_page_afterwards::<f32>(args.scoring.report.as_ref(), shape);
    let budget = if reference.is_some() { budget.with_moment(Score::memory::<f32>(shape)) } else { budget };
    let fuser = FuseParams { max_memory: budget.room(), ..fuser.params().clone() }.check()?;
    if args.scoring.dry_run {
        return dry_run(args, &mut files, &chosen, &fuser, budget).map(|()| Outcome::Done);
    }

    let mut watcher = Watcher::of(&args.telling, "fuse", if args.fast { args.images.len() } else { 2 * args.images.len() });
    let fused = fuser.run_on(&*engine::open(&args.run)?, &mut files, &chosen.dictionary, &mut watcher);
    let fused = fused.map_err(|error| match error.downcast() {
        Ok(error) => budget.refuse()(error).into(),
        Err(other) => other,
    })?;
    drop(watcher);
    let farthest = fused.motions.iter().map(|m| m.reach(files.extent)).fold(0.0, f64::max);
    if fuser.params().align == lobcod::tasks::align::Align::None && farthest > WORTH_A_WARNING && !args.telling.quiet {
        warn(&format!("the pictures lie up to {farthest:.1} pixels apart; try --align shift or --align similarity"));
    }
    let mut work = Work { args, files, chosen, fused, scores: Scores::default() };
    work.save()?;
    if work.fused.status != Status::Interrupted {
        work.scores = Scores::measure(args, &mut work.files, &work.fused, reference)?;
    }
    let shown = work.show();
    work.tell()?;
    warnings::tell(&work.report(), &args.telling);
    shown?;
    Ok(if work.fused.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// The fusion that the options ask for.
fn params(args: &FuseArgs) -> Result<FuseParams> {
    let base: FuseBase = args.fuse_base.into();
    let usual = if base == FuseBase::Average { Compose::Codes } else { Compose::Pixels };
    Ok(FuseParams {
        mode: args.mode.into(),
        scale: args.scale,
        penalty: args.penalty,
        mu: args.smooth,
        window: args.window,
        activity: args.activity.into(),
        compose: args.compose.map_or(usual, Into::into),
        base,
        prefer: args.prefer.into(),
        align: args.align.into(),
        fast: args.fast,
        tolerance: args.run.tolerance,
        alternations: args.alternations,
        time_limit: time_limit(&args.run)?,
        threads: args.run.threads,
        max_memory: args.run.max_memory.map(|bytes| bytes.0),
    })
}

fn dry_run(args: &FuseArgs, files: &mut Files, chosen: &Chosen<f32>, fuser: &Fuser, budget: Budget) -> Result<()> {
    let shapes = vec![(files.extent, files.channels); args.images.len()];
    let params = PursuitParams { tolerance: args.run.tolerance, ..PursuitParams::new(Penalty::Absolute(args.penalty)) };
    let plan = Plan {
        images: &args.images,
        shapes: &shapes,
        dictionary: ("dictionary", chosen),
        base: Base::Smooth { mu: args.smooth },
        until: until(&format!("each gap is {} of the objective", number(args.run.tolerance)), args.alternations),
        output: ("picture", Some(&args.output)),
        needed: fuser.estimate_memory(files.extent, files.channels, &chosen.dictionary)?,
        budget,
        bands: None,
        trial: trial(files, chosen, fuser)?,
    };
    plan.tell(&params, &args.telling)
}

/// Fuses a part of the first two frames.
fn trial(files: &mut Files, chosen: &Chosen<f32>, fuser: &Fuser) -> Result<Trial> {
    let mut frames = vec![part_of(&files.read(0)?)?, part_of(&files.read(1)?)?];
    let part = frames[0].extent();
    let fuser = FuseParams { time_limit: Some(trial::LIMIT), max_memory: None, ..fuser.params().clone() }.check()?;
    let times = trial::parts(part, &[(files.extent, files.channels)]) * files.count() as f64 / 2.0;
    Trial::run(part, times, || Ok(fuser.run(&mut frames, &chosen.dictionary, &mut ())?.status != Status::TimeLimit))
}
