//! What is learnt from: the pictures less their base layers.

use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::input::{Source, about, take_base};
use anyhow::{Result, bail};
use lobcod::{Extent, Observed, Real};
use lobcod_image::Picture;
use std::path::{Path, PathBuf};

/// The details of the pictures, and what is needed to show one of them.
pub struct Details<T> {
    /// The pictures less their base layers, zero where they are missing.
    pub observed: Vec<Observed<T>>,
    /// What else there is of the first picture.
    pub first: Source<T>,
}

impl<T: Real> Details<T> {
    /// Takes the base layers off; error if nothing is left.
    pub fn of(args: &LearnArgs, images: &[PathBuf], pictures: Vec<Picture<T>>, atom: Extent) -> Result<Self> {
        let (mut observed, mut first): (Vec<Observed<T>>, _) = (Vec::new(), None);
        for (path, picture) in images.iter().zip(pictures) {
            let (detail, source) = detail(args, path, picture, atom)?;
            first.get_or_insert(source);
            observed.push(detail);
        }
        let flat = observed.iter().all(|o| o.signal.data().iter().all(|x| *x == T::ZERO));
        match first.filter(|_| !flat) {
            Some(first) => Ok(Self { observed, first }),
            None => bail!("there is no detail in the pictures to learn from; give others, or try --base none"),
        }
    }
}

/// A picture less its base layer, zero where it is missing, and what else there is of it.
pub fn detail<T: Real>(args: &LearnArgs, path: &Path, picture: Picture<T>, atom: Extent) -> Result<(Observed<T>, Source<T>)> {
    let Picture { mut signal, known: mask, axes, depth, sample_rate, notes } = picture;
    let base = take_base(&mut signal, mask.as_ref(), args.problem.base, atom, Budget::now(&args.run).of_plan(args.dry_run))
        .map_err(about(path))?;
    if let Some(mask) = &mask {
        let weights: Vec<T> = (0..signal.channels()).flat_map(|c| mask.channel(c)).copied().collect();
        let missing = signal.data_mut().iter_mut().zip(weights).filter(|(_, w)| *w == T::ZERO);
        missing.for_each(|(x, _)| *x = T::ZERO);
    }
    Ok((Observed { mask, ..signal.into() }, Source { path: path.into(), axes, depth, sample_rate, base, notes }))
}
