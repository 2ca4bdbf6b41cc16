//! `lobcod inpaint`: a picture without its holes.

mod params;
mod plan;
mod work;

use crate::Outcome;
use crate::args::InpaintArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::engine;
use crate::input::{about, read_pictures};
use crate::interrupt;
use crate::output::paths::{check_answer, check_page, same_file};
use crate::progress::Watcher;
use crate::ranks;
use crate::score::{Asked, References, Score};
use crate::trial::{self, Trial, part_of, part_of_mask};
use crate::values::{DictionaryChoice, Precision, Preset};
use anyhow::{Result, ensure};
use lobcod::tasks::inpaint::{Inpaint, InpaintParams};
use lobcod::{Dictionary, Embedded, Extent, Mask, Real, Signal, Status};
use lobcod_image::{FileKind, Picture};
use plan::Plan;
use work::Work;

/// Fills the picture in the precision asked for.
pub fn run(args: &InpaintArgs) -> Result<Outcome> {
    match args.run.precision {
        Precision::F32 => run_in::<f32>(args),
        Precision::F64 => run_in::<f64>(args),
    }
}

fn run_in<T: Real>(args: &InpaintArgs) -> Result<Outcome> {
    interrupt::listen();
    let inpaint = params::inpaint(args)?;
    check_outputs(args)?;
    let mut pictures = read_pictures::<T>(std::slice::from_ref(&args.image), &args.picture, &args.run)?;
    let Picture { signal, known, depth, axes, sample_rate, notes } = pictures.remove(0);
    let depth = FileKind::from_path(&args.output)?.nearest_depth(depth);
    let files: Vec<_> = args.scoring.reference.iter().cloned().collect();
    let asked = Asked { files: &files, peak: args.scoring.peak, picture: &args.picture, run: &args.run };
    let references = References::read(&asked, &[(signal.extent(), signal.channels())])?;
    let chosen = dictionaries::<T>(args, signal.extent())?;
    let known = known.map_or_else(|| whole(signal.extent()), Ok)?;
    let atoms: Vec<Dictionary<T>> = chosen.iter().map(|c| c.dictionary.clone()).collect();
    let budget = Budget::now(&args.run).with_page(args.scoring.report.as_ref(), signal.data());
    let shape = (signal.extent(), signal.channels());
    let budget = if files.is_empty() { budget } else { budget.with_moment(Score::memory::<T>(shape)) };
    let inpaint = InpaintParams { max_memory: budget.room(), ..inpaint.params().clone() }.check()?;
    if args.scoring.dry_run {
        let needed = inpaint.estimate_memory(signal.extent(), signal.channels(), &atoms)?;
        let trial = trial(&inpaint, &signal, &known, &atoms)?;
        return Plan { args, signal: &signal, known: &known, chosen: &chosen, needed, budget, trial }
            .tell(inpaint.params())
            .map(|()| Outcome::Done);
    }
    let mut watcher = Watcher::of(&args.telling, "inpaint", 1);
    let answer = inpaint.run_on(&*engine::open(&args.run)?, &signal, &known, &atoms, &mut watcher);
    let answer = answer.map_err(budget.refuse()).map_err(about(&args.image))?;
    drop(watcher);
    if ranks::is_silent() {
        return Ok(Outcome::Done);
    }
    let interrupted = answer.report.status == Status::Interrupted;
    Work { args, params: inpaint.params(), signal, known, chosen, answer, depth, axes, sample_rate, notes }
        .finish(&references)?;
    Ok(if interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Error, before long work, if something cannot be written where it was asked for.
fn check_outputs(args: &InpaintArgs) -> Result<()> {
    check_answer(&args.output)?;
    let inputs = [Some(&args.image), args.picture.known.as_ref(), args.picture.holes.as_ref(), args.scoring.reference.as_ref()];
    for input in inputs.into_iter().flatten() {
        let place = args.output.display();
        ensure!(!same_file(input, &args.output), "{place} is read as well as written; name another file with -o");
    }
    args.scoring.report.as_deref().map(check_page).transpose().map(drop)
}

/// The dictionaries asked for, or the usual ones.
fn dictionaries<T: Real>(args: &InpaintArgs, signal: Extent) -> Result<Vec<Chosen<T>>> {
    let usual = match (signal.rank() == 2 && args.size.is_none(), args.preset) {
        (false, _) => vec![DictionaryChoice::Dct],
        (true, Preset::Best) => {
            vec![DictionaryChoice::Embedded(Embedded::Natural12x12), DictionaryChoice::Embedded(Embedded::Natural)]
        }
        (true, _) => vec![DictionaryChoice::Embedded(Embedded::Natural)],
    };
    let choices = if args.dictionary.is_empty() { &usual } else { &args.dictionary };
    let mut chosen = Vec::new();
    for choice in choices {
        let dictionary = Chosen::load(choice, args.size, signal.rank())?;
        dictionary.check_fits(signal)?;
        if !args.telling.quiet {
            dictionary.warn_if_normalised();
        }
        chosen.push(dictionary);
    }
    Ok(chosen)
}

/// A mask by which everything is known.
fn whole<T: Real>(extent: Extent) -> lobcod::Result<Mask<T>> {
    Mask::new(Signal::from_planar(extent, 1, vec![T::ONE; extent.volume()])?)
}

/// Fills a part of the picture.
fn trial<T: Real>(inpaint: &Inpaint, signal: &Signal<T>, known: &Mask<T>, atoms: &[Dictionary<T>]) -> Result<Trial> {
    let (part, mask) = (part_of(signal)?, part_of_mask(known)?);
    let times = trial::parts(part.extent(), &[(signal.extent(), 1)]);
    let inpaint = InpaintParams { time_limit: Some(trial::LIMIT), max_memory: None, ..inpaint.params().clone() }.check()?;
    Trial::run(part.extent(), times, || {
        // A part in which all or nothing is known says little, but is no reason to refuse an answer.
        Ok(inpaint.run(&part, &mask, atoms, &mut ()).map_or(true, |filled| filled.report.status != Status::TimeLimit))
    })
}
