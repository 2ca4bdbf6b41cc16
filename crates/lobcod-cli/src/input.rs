//! Input images with their masks, maps, initial codes and base layers.

use crate::args::{EncodeArgs, InputArgs, RunArgs};
use crate::budget::Budget;
use crate::interrupt;
use crate::missing::Missing;
use crate::output::paths::codes_names;
use crate::output::summary;
use crate::output::{log, warn};
use crate::values::{Cap, StartChoice};
use crate::white::White;
use anyhow::{Result, anyhow, ensure};
use lobcod::base::Base;
use lobcod::pursuit::Start;
use lobcod::{Extent, Mask, Observed, Real, Signal};
use lobcod_io::{
    Axes, Depth, Image, Metadata, ReadOptions, read_codes, read_coefficient_weights, read_image,
    read_map,
};
use std::path::{Path, PathBuf};

/// What is kept of an image while its detail layer is coded.
pub struct Source<T> {
    /// The file it was read from.
    pub path: PathBuf,
    /// Order of the axes in the file.
    pub axes: Axes,
    /// Type of the samples in the file.
    pub depth: Depth,
    /// Sample rate, if the file is a sound.
    pub sample_rate: Option<u32>,
    /// The subtracted base layer, if any.
    pub base: Option<Signal<T>>,
    /// The metadata of the file.
    pub metadata: Metadata,
    /// Its missing samples.
    pub missing: Missing,
}

/// An image as read, with its missing samples.
pub struct Input<T> {
    /// The image.
    pub image: Image<T>,
    /// Which samples are missing, and by which rules.
    pub missing: Missing,
}

impl<T: Real> Input<T> {
    /// White level of the image: `scale` if given.
    pub fn white(&self, scale: Option<f64>) -> White {
        White::of(&self.image.signal, self.image.known.as_ref(), self.image.depth, scale)
    }
}

/// Images ready to be coded, in input order.
pub struct Prepared<T> {
    /// What is kept besides the coded signals.
    pub sources: Vec<Source<T>>,
    /// The signals to code.
    pub observed: Vec<Observed<T>>,
}

/// Reads the images and their masks; all must have the same number of axes and channels.
pub fn read_inputs<T: Real>(
    images: &[PathBuf],
    args: &InputArgs,
    run: &RunArgs,
) -> Result<Vec<Input<T>>> {
    let mut inputs: Vec<Input<T>> = Vec::new();
    for path in images {
        let image = read_known(path, args, run)?;
        if let Some(first) = inputs.first() {
            check_same_kind((&images[0], shape(first)), (path, shape(&image)))?;
        }
        inputs.push(image);
        // Nothing has been computed yet.
        ensure!(!interrupt::requested(), lobcod::Error::Stopped);
    }
    Ok(inputs)
}

/// Reads one image and its mask; warns if the mask looks wrong.
pub fn read_known<T: Real>(path: &Path, args: &InputArgs, run: &RunArgs) -> Result<Input<T>> {
    let mut image: Image<T> = read_image(path, &read_options(args, run))?;
    let size = summary::shape(image.signal.extent(), image.signal.channels());
    log(|| format!("read {}: {size}, {}", path.display(), image.depth));
    let missing = Missing::find(path, &mut image, args, Budget::now(run))?;
    missing.warnings.iter().for_each(|warning| warn(warning));
    Ok(Input { image, missing })
}

/// Extent and number of channels of an image.
pub fn shape<T: Real>(input: &Input<T>) -> (Extent, usize) {
    (input.image.signal.extent(), input.image.signal.channels())
}

/// Error unless two images have the same number of axes and channels.
pub fn check_same_kind(
    first: (&Path, (Extent, usize)),
    other: (&Path, (Extent, usize)),
) -> Result<()> {
    let kind = |(extent, channels): (Extent, usize)| (extent.rank(), channels);
    ensure!(
        kind(first.1) == kind(other.1),
        "{} and {} have different axes or channels; process them separately",
        first.0.display(),
        other.0.display()
    );
    Ok(())
}

/// Options for reading images and references.
pub fn read_options(args: &InputArgs, run: &RunArgs) -> ReadOptions {
    ReadOptions {
        axes: args.axes,
        scale: args.scale.value(),
        max_bytes: run.max_memory.map(|bytes| bytes.0),
    }
}

/// Subtracts the base layers and adds the other parts of each image's problem.
pub fn prepare<T: Real>(
    args: &EncodeArgs,
    inputs: Vec<Input<T>>,
    atom: Extent,
) -> Result<Prepared<T>> {
    let starts = read_starts(args)?;
    let mut prepared = Prepared { sources: Vec::new(), observed: Vec::new() };
    for ((path, image), start) in args.images.iter().zip(inputs).zip(starts) {
        let Input { image, missing } = image;
        let Image { mut signal, known: mask, depth, axes, sample_rate, metadata } = image;
        let budget = Budget::now(&args.run).of_plan(args.plan.dry_run);
        let map = |file: &Path| {
            read_map(file, signal.extent().rank(), budget.room_for_weights())
                .map_err(budget.refuse_weights())
        };
        let penalty_map = args.codes.penalty_map.as_deref().map(map).transpose()?;
        let max_nonzeros_map = match &args.codes.max_nonzeros {
            Some(Cap::File(file)) => Some(map(file)?),
            _ => None,
        };
        let coefficient_weights = match &args.codes.weights {
            Some(file) => {
                let room = budget.room_for_weights();
                Some(
                    read_coefficient_weights(file, signal.extent().rank(), room)
                        .map_err(budget.refuse_weights())?,
                )
            }
            None => None,
        };
        let base = subtract_base(
            &mut signal,
            mask.as_ref(),
            args.problem.base,
            atom,
            Budget::now(&args.run).of_plan(args.plan.dry_run),
        )
        .map_err(about(path))?;
        prepared.sources.push(Source {
            path: path.clone(),
            axes,
            depth,
            sample_rate,
            base,
            metadata,
            missing,
        });
        prepared.observed.push(Observed {
            signal,
            mask,
            penalty_map,
            coefficient_weights,
            max_nonzeros_map,
            start,
            part: None,
        });
    }
    Ok(prepared)
}

/// Subtracts the base layer from a signal; returns it, if there is one.
pub fn subtract_base<T: Real>(
    signal: &mut Signal<T>,
    known: Option<&Mask<T>>,
    kind: Base,
    atom: Extent,
    budget: Budget,
) -> lobcod::Result<Option<Signal<T>>> {
    if !kind.is_subtracted() {
        return Ok(None);
    }
    budget
        .check(kind.memory(signal.extent(), known.is_some()) + size_of_val(signal.data()) as u64)?;
    let base = kind.layer(signal, known, atom)?;
    signal.data_mut().iter_mut().zip(base.data()).for_each(|(y, b)| *y -= *b);
    Ok(Some(base))
}

/// Makes layers that were estimated with the codes the base layers of their images.
pub fn subtract_layers<'a, T: Real>(
    layers: Vec<Signal<T>>,
    observed: &mut [Observed<T>],
    sources: impl Iterator<Item = &'a mut Source<T>>,
) -> lobcod::Result<()> {
    for (observed, layer) in observed.iter_mut().zip(&layers) {
        observed.signal = observed.signal.minus(layer)?;
    }
    sources.zip(layers).for_each(|(source, layer)| source.base = Some(layer));
    Ok(())
}

/// The same budget, with the temporary memory of computing these base layers.
pub fn with_bases<T: Real>(budget: Budget, kind: Base, observed: &[Observed<T>]) -> Budget {
    let temporary = |o: &Observed<T>| kind.memory(o.signal.extent(), o.mask.is_some());
    budget.with_temporary(observed.iter().map(temporary).max().unwrap_or(0))
}

/// Initial codes of each image. For several images they are read from a folder, under the names
/// that encode gives them.
fn read_starts<T: Real>(args: &EncodeArgs) -> Result<Vec<Start<T>>> {
    let count = args.images.len();
    let file = match &args.solver.start {
        StartChoice::Zero => return Ok(vec![Start::Zero; count]),
        StartChoice::Spread => return Ok(vec![Start::Spread; count]),
        StartChoice::File(file) => file,
    };
    let files = if file.is_dir() {
        codes_names(&args.images).into_iter().map(|name| file.join(name)).collect()
    } else {
        let place = file.display();
        ensure!(
            count == 1,
            "several images need a folder of initial codes, but {place} is not a folder; pass the \
             folder that contains them"
        );
        vec![file.clone()]
    };
    files.iter().map(|file| Ok(Start::Needles(read_codes(file, None)?.needles))).collect()
}

/// For `map_err`: adds the file name to an error of the library.
pub fn about(path: &Path) -> impl Fn(lobcod::Error) -> anyhow::Error {
    move |error| anyhow!("{}: {error}", path.display())
}
