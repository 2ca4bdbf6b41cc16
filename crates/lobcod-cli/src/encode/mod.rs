//! `lobcod encode`: pictures to sparse needles, with a certificate.

mod bands;
#[cfg(feature = "mpi")]
mod blocks;
mod details;
mod params;
mod work;

use crate::Outcome;
use crate::args::EncodeArgs;
use crate::budget::Budget;
use crate::checkpoint;
use crate::dictionary::Chosen;
use crate::dry_run::Plan;
use crate::engine;
use crate::input::{Prepared, prepare, read_pictures, shape, with_bases};
use crate::interrupt;
use crate::output::paths::{CodesFiles, check_page};
use crate::output::table::{number, plural};
use crate::output::warnings;
use crate::progress::Watcher;
use crate::ranks;
use crate::report::View;
use crate::score::{Asked, References, Score};
use crate::synthesis::reconstruct;
use crate::trial::{self, Trial, part_of_observed};
use crate::values::Precision;
use anyhow::Result;
use bands::Banded;
use lobcod::{Checkpoint, Dictionary, Extent, Observed, PursuitParams, Real, Status};
use lobcod_image::{Depth, Keeper};
use work::Work;

/// Codes the pictures in the precision asked for.
pub fn run(args: &EncodeArgs) -> Result<Outcome> {
    match args.run.precision {
        Precision::F32 => run_in::<f32>(args),
        Precision::F64 => run_in::<f64>(args),
    }
}

fn run_in<T: Real>(args: &EncodeArgs) -> Result<Outcome> {
    interrupt::listen();
    let pursuit = params::pursuit(args)?;
    let files = args.output.as_deref().map(|output| CodesFiles::check(&args.images, output)).transpose()?;
    args.report.as_deref().map(check_page).transpose()?;
    if let Some(mut banded) = Banded::<T>::of(args, &pursuit)? {
        return if args.dry_run { banded.plan(&pursuit) } else { banded.run(&pursuit, files) };
    }
    #[cfg(feature = "mpi")]
    if let Some(cut) = blocks::Cut::<T>::of(args)? {
        return cut.run(&pursuit, files);
    }
    let results: Vec<_> = files.iter().flat_map(|files| &files.files).chain(&args.report).cloned().collect();
    let checkpoint = checkpoint::open(&args.checkpoints, &results)?;
    let pictures = read_pictures::<T>(&args.images, &args.picture, &args.run)?;
    let shapes: Vec<_> = pictures.iter().map(shape).collect();
    let asked = Asked { files: &args.reference, peak: args.peak, picture: &args.picture, run: &args.run };
    let references = References::read(&asked, &shapes)?;
    let chosen = Chosen::of(&args.dictionary, shapes[0].0.rank())?;
    chosen.check_fits(shapes[0].0)?;
    if !args.telling.quiet {
        chosen.warn_if_normalised();
    }
    let Prepared { sources, observed } = prepare(args, pictures, chosen.dictionary.extent())?;
    let page = |budget: Budget, observed: &Observed<T>| budget.with_page(args.report.as_ref(), observed.signal.data());
    let budget = with_bases(observed.iter().fold(Budget::now(&args.run), page), args.problem.base, &observed);
    let budget = shapes.iter().take(args.reference.len()).fold(budget, |b, &shape| b.with_moment(Score::memory::<T>(shape)));
    let pursuit = PursuitParams { max_memory: budget.room(), ..pursuit.params().clone() }.check()?;
    if args.dry_run {
        let needed = pursuit.estimate_memory(&observed, &chosen.dictionary)?;
        let params = pursuit.params();
        let plan = Plan {
            images: &args.images,
            shapes: &shapes,
            dictionary: ("dictionary", &chosen),
            base: args.problem.base,
            until: format!("the gap is {} of the objective, or {}", number(params.tolerance), plural(params.max_sweeps, "sweep")),
            output: ("codes", args.output.as_deref()),
            needed,
            budget,
            bands: None,
            trial: trial(params, &observed[0], &chosen.dictionary, &shapes)?,
        };
        return plan.tell(params, &args.telling).map(|()| Outcome::Done);
    }

    let mut keeper =
        Keeper::<Checkpoint, _>::new(Watcher::of(&args.telling, "encode", 1), args.checkpoints.checkpoint.as_deref());
    let engine = engine::open::<T>(&args.run)?;
    let answer = match &checkpoint {
        Some(checkpoint) => pursuit.resume_on(&*engine, checkpoint, &observed, &chosen.dictionary, &mut keeper),
        None => pursuit.run_on(&*engine, &observed, &chosen.dictionary, &mut keeper),
    }
    .map_err(budget.refuse())?;
    let kept = keeper.finish(answer.report.status);
    if ranks::is_silent() {
        return Ok(Outcome::Done);
    }
    let mut work = Work { args, sources, chosen, answer, scores: Vec::new(), files, bands: None };
    work.save()?;

    let mut sections = Vec::new();
    for (i, observed) in observed.into_iter().enumerate() {
        if args.report.is_none() && args.reference.is_empty() {
            break;
        }
        let (needles, source) = (&work.answer.needles[i], &work.sources[i]);
        let reconstruction = reconstruct(needles, &work.chosen.dictionary, source.base.as_ref())?;
        work.scores.extend(references.score(i, &reconstruction)?);
        if args.report.is_some() {
            let view = View {
                name: &source.path.display().to_string(),
                original: &source.base.as_ref().map_or(Ok(observed.signal.clone()), |base| observed.signal.plus(base))?,
                reconstruction: &reconstruction,
                known: observed.mask.as_ref(),
                needles,
                certificate: &work.answer.report.signals[i],
                dictionary: &work.chosen.dictionary,
                white: matches!(source.depth, Depth::U8 | Depth::U16).then_some(args.picture.scale),
                sample_rate: source.sample_rate,
            };
            sections.push(view.section()?);
        }
    }
    let shown = args.report.as_deref().map_or(Ok(()), |path| work.page(sections).write(path));
    work.tell()?;
    warnings::tell(&work.answer.report, &args.telling);
    // Codes and report are safe; only now is the time for what could not be written beside them.
    kept?;
    shown?;
    Ok(if work.answer.report.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Codes a part of the first picture.
fn trial<T: Real>(
    params: &PursuitParams,
    first: &Observed<T>,
    dictionary: &Dictionary<T>,
    shapes: &[(Extent, usize)],
) -> Result<Trial> {
    let part = part_of_observed(first)?;
    let extent = part.signal.extent();
    let pursuit = PursuitParams { time_limit: Some(trial::LIMIT), max_memory: None, ..params.clone() }.check()?;
    Trial::run(extent, trial::parts(extent, shapes), || {
        Ok(pursuit.run(&[part], dictionary, &mut ())?.report.status != Status::TimeLimit)
    })
}
