//! Pictures to be coded, with their masks, maps, first codes and base layers.

use crate::args::{EncodeArgs, PictureArgs, RunArgs};
use crate::budget::Budget;
use crate::interrupt;
use crate::output::log;
use crate::output::paths::codes_names;
use crate::output::summary;
use crate::values::{Cap, StartChoice};
use anyhow::{Result, anyhow, ensure};
use lobcod::base::Base;
use lobcod::{Extent, Mask, Observed, Real, Signal, Start};
use lobcod_image::{Axes, Depth, Notes, Picture, Polarity, ReadOptions, read_codes, read_map, read_mask, read_picture};
use std::path::{Path, PathBuf};

/// What remains of a picture when its details are being coded.
pub struct Source<T> {
    /// The file it came from.
    pub path: PathBuf,
    /// Order of the axes in the file.
    pub axes: Axes,
    /// Type of the samples in the file.
    pub depth: Depth,
    /// Samples a second, if the file is sound.
    pub sample_rate: Option<u32>,
    /// The base layer that was taken off; `None`: there is none.
    pub base: Option<Signal<T>>,
    /// What the file says beside.
    pub notes: Notes,
}

/// Pictures ready to be coded, in their order.
pub struct Prepared<T> {
    /// What is not coded.
    pub sources: Vec<Source<T>>,
    /// What is.
    pub observed: Vec<Observed<T>>,
}

/// Reads the pictures and what is known of each; they must have as many axes and channels as each other.
pub fn read_pictures<T: Real>(images: &[PathBuf], args: &PictureArgs, run: &RunArgs) -> Result<Vec<Picture<T>>> {
    let mut pictures: Vec<Picture<T>> = Vec::new();
    for path in images {
        let picture = read_known(path, args, run)?;
        if let Some(first) = pictures.first() {
            check_alike((&images[0], shape(first)), (path, shape(&picture)))?;
        }
        pictures.push(picture);
        // Nothing has been worked out yet.
        ensure!(!interrupt::asked(), lobcod::Error::Stopped);
    }
    Ok(pictures)
}

/// Reads one picture and what is known of it.
pub fn read_known<T: Real>(path: &Path, args: &PictureArgs, run: &RunArgs) -> Result<Picture<T>> {
    let mut picture: Picture<T> = read_picture(path, &read_options(args, run))?;
    let extent = picture.signal.extent();
    log(|| format!("read {}: {}, {}", path.display(), summary::shape(extent, picture.signal.channels()), picture.depth));
    let budget = Budget::now(run);
    let read =
        |file, polarity| read_mask(file, polarity, extent, budget.room_for_weights()).map_err(budget.refuse_weights()).map(Some);
    let mask = match (&args.known, &args.holes) {
        (Some(file), _) => read(file, Polarity::Known)?,
        (None, Some(file)) => read(file, Polarity::Holes)?,
        (None, None) => None,
    };
    picture.known = both(picture.known, mask).map_err(about(path))?;
    Ok(picture)
}

/// Size of a picture, and its channels.
pub fn shape<T: Real>(picture: &Picture<T>) -> (Extent, usize) {
    (picture.signal.extent(), picture.signal.channels())
}

/// Error unless two pictures have as many axes and channels as each other.
pub fn check_alike(first: (&Path, (Extent, usize)), other: (&Path, (Extent, usize))) -> Result<()> {
    let kind = |(extent, channels): (Extent, usize)| (extent.rank(), channels);
    ensure!(
        kind(first.1) == kind(other.1),
        "{} and {} differ in their axes or channels; use them one by one",
        first.0.display(),
        other.0.display()
    );
    Ok(())
}

/// How pictures and references are read.
pub fn read_options(args: &PictureArgs, run: &RunArgs) -> ReadOptions {
    ReadOptions { axes: args.axes, scale: args.scale, max_bytes: run.max_memory.map(|bytes| bytes.0) }
}

/// Takes the base layers off and adds what else belongs to the problem of each picture.
pub fn prepare<T: Real>(args: &EncodeArgs, pictures: Vec<Picture<T>>, atom: Extent) -> Result<Prepared<T>> {
    let starts = read_starts(args)?;
    let mut prepared = Prepared { sources: Vec::new(), observed: Vec::new() };
    for ((path, picture), start) in args.images.iter().zip(pictures).zip(starts) {
        let Picture { mut signal, known: mask, depth, axes, sample_rate, notes } = picture;
        let budget = Budget::now(&args.run).of_plan(args.dry_run);
        let map =
            |file: &Path| read_map(file, signal.extent().rank(), budget.room_for_weights()).map_err(budget.refuse_weights());
        let penalty_map = args.codes.penalty_map.as_deref().map(map).transpose()?;
        let max_nonzeros_map = match &args.codes.max_nonzeros {
            Some(Cap::File(file)) => Some(map(file)?),
            _ => None,
        };
        let base = take_base(&mut signal, mask.as_ref(), args.problem.base, atom, Budget::now(&args.run).of_plan(args.dry_run))
            .map_err(about(path))?;
        prepared.sources.push(Source { path: path.clone(), axes, depth, sample_rate, base, notes });
        prepared.observed.push(Observed { signal, mask, penalty_map, max_nonzeros_map, start, part: None });
    }
    Ok(prepared)
}

/// Takes the base layer off a signal; returns it, if there is one.
pub fn take_base<T: Real>(
    signal: &mut Signal<T>,
    known: Option<&Mask<T>>,
    kind: Base,
    atom: Extent,
    budget: Budget,
) -> lobcod::Result<Option<Signal<T>>> {
    if kind == Base::None {
        return Ok(None);
    }
    budget.check(kind.memory(signal.extent(), known.is_some()) + size_of_val(signal.data()) as u64)?;
    let base = kind.layer(signal, known, atom)?;
    signal.data_mut().iter_mut().zip(base.data()).for_each(|(y, b)| *y -= *b);
    Ok(Some(base))
}

/// The same budget where the base layers of these signals were taken off: the most that finding one took for a moment.
pub fn with_bases<T: Real>(budget: Budget, kind: Base, observed: &[Observed<T>]) -> Budget {
    let moment = |o: &Observed<T>| kind.memory(o.signal.extent(), o.mask.is_some());
    budget.with_moment(observed.iter().map(moment).max().unwrap_or(0))
}

/// First needles of every picture; several pictures read them from a folder, under the names that encode gives.
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
        ensure!(count == 1, "several pictures need a folder of first codes, but {place} is none; name the folder they are in");
        vec![file.clone()]
    };
    files.iter().map(|file| Ok(Start::Needles(read_codes(file, None)?.needles))).collect()
}

/// What is known by both masks, sample by sample.
fn both<T: Real>(a: Option<Mask<T>>, b: Option<Mask<T>>) -> lobcod::Result<Option<Mask<T>>> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (a, b) => return Ok(a.or(b)),
    };
    let channels = a.weights().channels().max(b.weights().channels());
    let product = (0..channels).flat_map(|c| a.channel(c).iter().zip(b.channel(c)).map(|(x, y)| *x * *y)).collect();
    Mask::new(Signal::from_planar(a.weights().extent(), channels, product)?).map(Some)
}

/// For `map_err`: names the file that the library complains about.
pub fn about(path: &Path) -> impl Fn(lobcod::Error) -> anyhow::Error {
    move |error| anyhow!("{}: {error}", path.display())
}
