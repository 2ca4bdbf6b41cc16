//! Training data: the images minus their base layers.

use crate::args::LearnArgs;
use crate::budget::Budget;
use crate::input::{Input, Source, about, subtract_base};
use crate::missing::Missing;
use anyhow::{Result, bail};
use lobcod::{Extent, Observed, Real};
use lobcod_io::Image;
use std::path::{Path, PathBuf};

/// The detail layers of the images, and what is needed to show one of them.
pub struct Details<T> {
    /// The images minus their base layers, zero where samples are missing.
    pub observed: Vec<Observed<T>>,
    /// The rest of the first image.
    pub first: Source<T>,
    /// Missing samples of each image.
    pub missing: Vec<Missing>,
}

impl<T: Real> Details<T> {
    /// Subtracts the base layers; error if nothing is left.
    pub fn of(
        args: &LearnArgs,
        images: &[PathBuf],
        inputs: Vec<Input<T>>,
        atom: Extent,
    ) -> Result<Self> {
        let mut observed: Vec<Observed<T>> = Vec::new();
        let mut first = None;
        let mut missing = Vec::new();
        for (path, image) in images.iter().zip(inputs) {
            let (detail, source) = detail(args, path, image, atom)?;
            missing.push(source.missing.clone());
            first.get_or_insert(source);
            observed.push(detail);
        }
        let flat = observed.iter().all(|o| o.signal.data().iter().all(|x| *x == T::ZERO));
        match first.filter(|_| !flat) {
            Some(first) => Ok(Self { observed, first, missing }),
            None => bail!(
                "the images contain no detail to learn from; use other images, or try --base none"
            ),
        }
    }
}

/// An image minus its base layer, zero where samples are missing, and the rest of it.
pub fn detail<T: Real>(
    args: &LearnArgs,
    path: &Path,
    input: Input<T>,
    atom: Extent,
) -> Result<(Observed<T>, Source<T>)> {
    let Input { image, missing } = input;
    let Image { mut signal, known: mask, axes, depth, sample_rate, metadata } = image;
    let base = subtract_base(
        &mut signal,
        mask.as_ref(),
        args.problem.base,
        atom,
        Budget::now(&args.run).of_plan(args.plan.dry_run),
    )
    .map_err(about(path))?;
    if let Some(mask) = &mask {
        let weights: Vec<T> =
            (0..signal.channels()).flat_map(|c| mask.channel(c)).copied().collect();
        let missing = signal.data_mut().iter_mut().zip(weights).filter(|(_, w)| *w == T::ZERO);
        missing.for_each(|(x, _)| *x = T::ZERO);
    }
    Ok((
        Observed { mask, ..signal.into() },
        Source { path: path.into(), axes, depth, sample_rate, base, metadata, missing },
    ))
}
