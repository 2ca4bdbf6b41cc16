//! `lobcod learn`: a dictionary from pictures.

mod first;
mod folders;
mod params;
mod work;

use crate::Outcome;
use crate::args::LearnArgs;
use crate::dry_run::Plan;
use crate::input::{about, read_pictures, take_base};
use crate::interrupt;
use crate::output::paths::check_dictionary;
use crate::output::table::number;
use crate::progress::Watcher;
use crate::values::Precision;
use anyhow::{Result, ensure};
use first::First;
use folders::pictures_of;
use lobcod::{Extent, Observed, Real, Status};
use lobcod_image::{FileKind, Picture};
use std::path::PathBuf;
use work::{Work, passes};

/// Learns from the pictures in the precision asked for.
pub fn run(args: &LearnArgs) -> Result<Outcome> {
    match args.run.precision {
        Precision::F32 => run_in::<f32>(args),
        Precision::F64 => run_in::<f64>(args),
    }
}

fn run_in<T: Real>(args: &LearnArgs) -> Result<Outcome> {
    interrupt::listen();
    let learner = params::learner(args)?;
    let images = pictures_of(&args.images)?;
    check_dictionary(&images, &args.output)?;
    let pictures = read_pictures::<T>(&images, &args.picture, &args.run)?;
    let shapes: Vec<_> = pictures.iter().map(|p| (p.signal.extent(), p.signal.channels())).collect();
    let first = First::plan(&args.learning, shapes[0].0)?;
    let observed = details(args, &images, pictures, first.extent())?;
    let first = first.make(&args.learning, &observed, args.run.seed)?;
    check_holds(args, first.dictionary.extent(), first.dictionary.channels())?;
    if !args.telling.quiet {
        first.warn_if_normalised();
    }
    if args.dry_run {
        let pursuit = params::pursuit(learner.params())?;
        let plan = Plan {
            images: &images,
            shapes: &shapes,
            dictionary: ("first atoms", &first),
            base: args.problem.base,
            until: match args.learning.target_objective {
                Some(target) => format!("the objective is {}, or {}", number(target), passes(args.learning.passes)),
                None => passes(args.learning.passes),
            },
            output: ("dictionary", Some(&args.output)),
            needed: pursuit.estimate_memory(&observed, &first.dictionary)?,
        };
        return plan.tell(pursuit.params(), &args.telling).map(|()| Outcome::Done);
    }

    let mut watcher = Watcher::of_learning(&args.telling, args.learning.passes);
    let learnt = learner.run(&observed, &first.dictionary, &mut watcher)?;
    drop(watcher);
    let work = Work { args, images, first, learnt };
    work.save()?;
    work.tell()?;
    Ok(if work.status() == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// What is learnt from: the pictures less their base layers, zero where they are missing.
fn details<T: Real>(args: &LearnArgs, images: &[PathBuf], pictures: Vec<Picture<T>>, atom: Extent) -> Result<Vec<Observed<T>>> {
    let mut observed: Vec<Observed<T>> = Vec::new();
    for (path, Picture { mut signal, known: mask, .. }) in images.iter().zip(pictures) {
        take_base(&mut signal, mask.as_ref(), args.problem.base, atom).map_err(about(path))?;
        if let Some(mask) = &mask {
            let weights: Vec<T> = (0..signal.channels()).flat_map(|c| mask.channel(c)).copied().collect();
            let missing = signal.data_mut().iter_mut().zip(weights).filter(|(_, w)| *w == T::ZERO);
            missing.for_each(|(x, _)| *x = T::ZERO);
        }
        observed.push(Observed { mask, ..signal.into() });
    }
    let flat = observed.iter().all(|o| o.signal.data().iter().all(|x| *x == T::ZERO));
    ensure!(!flat, "there is no detail in the pictures to learn from; give others, or try --base none");
    Ok(observed)
}

/// Error, before long work, if atoms like these cannot be written to the file named.
fn check_holds(args: &LearnArgs, atom: Extent, channels: usize) -> Result<()> {
    let is_npy = FileKind::from_path(&args.output)? == FileKind::Npy;
    let place = args.output.display();
    ensure!(
        !(is_npy && atom.rank() == 1 && channels > 1),
        "{place} cannot hold atoms of one axis and several channels; use .npz"
    );
    Ok(())
}
