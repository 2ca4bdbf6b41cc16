//! Codes files: the codes and everything needed to reconstruct the image.

use crate::array::Array;
use crate::axes::Axes;
use crate::codes_stream::{CodesFacts, stream_codes};
use crate::depth::Depth;
use crate::dictionary;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::format;
use crate::metadata::Metadata;
use crate::metadata_npz;
use crate::npz::Npz;
use crate::source::{Allowance, load};
use lobcod::{Border, Code, Dictionary, Extent, Needles, Real, Signal};
use std::ops::Range;
use std::path::Path;

/// Contents of a codes file.
#[derive(Clone, Debug, PartialEq)]
pub struct CodesFile<T> {
    /// The non-zero codes.
    pub needles: Needles<T>,
    /// Order of the axes of the coded image.
    pub axes: Axes,
    /// Penalty of the pursuit, in signal units.
    pub penalty: f64,
    /// Signal value of the full integer range.
    pub scale: f64,
    /// Type of the samples of the coded image.
    pub depth: Depth,
    /// Sample rate, if a sound was coded.
    pub sample_rate: Option<u32>,
    /// The dictionary the codes belong to.
    pub dictionary: Dictionary<T>,
    /// The base layer.
    pub base: Option<Signal<T>>,
    /// Metadata of the coded image.
    pub metadata: Metadata,
}

/// Writes codes as a `.npz` file that numpy reads without pickle; equal codes give equal bytes.
pub fn write_codes<T: Real>(path: &Path, codes: &CodesFile<T>) -> Result<()> {
    let needles = &codes.needles;
    let of = CodesFacts {
        extent: needles.extent(),
        channels: needles.channels(),
        border: needles.border(),
        axes: codes.axes,
        penalty: codes.penalty,
        scale: codes.scale,
        depth: codes.depth,
        sample_rate: codes.sample_rate,
        dictionary: &codes.dictionary,
        metadata: &codes.metadata,
    };
    write_codes_of(path, &of, needles, codes.base.as_ref())
}

/// Writes codes and a base layer from memory.
pub fn write_codes_of<T: Real>(
    path: &Path,
    of: &CodesFacts<T>,
    mut needles: &Needles<T>,
    base: Option<&Signal<T>>,
) -> Result<()> {
    check(path, needles, of.dictionary, base)?;
    let mut rows = base.map(|base| |range: Range<usize>| base.rows(range));
    stream_codes(path, of, &mut needles, rows.as_mut().map(|rows| rows as _))
}

/// The arrays other than the codes.
pub(crate) fn facts<T: Real>(of: &CodesFacts<T>) -> Vec<(&'static str, Array)> {
    let axes = of.axes.fitting(of.extent.rank(), of.channels);
    let shape = axes.shape(of.extent, of.channels);
    let mut facts = vec![
        (format::NAME, format::array()),
        ("shape", Array::new(&[shape.len()], shape.iter().map(|&n| n as i64))),
        ("axes", Array::from_text(&axes.to_string())),
        ("border", Array::from_text(&of.border.to_string())),
        ("penalty", Array::scalar(of.penalty)),
        ("scale", Array::scalar(of.scale)),
        ("depth", Array::from_text(&of.depth.to_string())),
        ("dictionary", dictionary::to_array(of.dictionary).0),
    ];
    facts.extend(metadata_npz::arrays(of.metadata));
    facts
}

/// Whether a file was written by [`write_codes`], judged by its array names; `false` if it cannot
/// be read.
pub fn is_codes(path: &Path) -> bool {
    let allowance = Allowance::new::<f64>(None);
    let named = load(path, allowance).ok().filter(|file| file.starts_with(b"PK"));
    let npz = named.and_then(|file| Npz::new(path, file, allowance.on_disk()).ok());
    npz.is_some_and(|npz| {
        ["position", "atom", "value"].iter().all(|name| npz.names().any(|n| n == *name))
    })
}

/// Reads and checks codes; `max_bytes` limits the size of the coded image
/// ([`DEFAULT_MAX_BYTES`](crate::DEFAULT_MAX_BYTES) if `None`).
pub fn read_codes<T: Real>(path: &Path, max_bytes: Option<u64>) -> Result<CodesFile<T>> {
    let allowance = Allowance::new::<T>(max_bytes);
    let file = load(path, allowance)?;
    if !file.starts_with(b"PK") {
        return Err(Error::format(path, "is not a codes file; use a .npz file written by encode"));
    }
    let fields = Fields { path, npz: Npz::new(path, file, allowance.on_disk())? };

    format::check(path, &fields.npz)?;
    let axes: Axes = fields.word("axes")?;
    let shape = fields
        .integers("shape", None)?
        .into_iter()
        .map(usize::try_from)
        .collect::<Result<Vec<_>, _>>();
    let shape = shape.map_err(|_| fields.unsound("shape"))?;
    allowance.check(path, &shape)?;
    let (extent, channels) = axes.split(path, &shape)?;
    let atoms = fields.npz.get("dictionary")?;
    let with_channels = atoms.shape().len() == extent.rank() + 2;
    let dictionary =
        dictionary::from_array(path, &atoms, dictionary::axes_name(extent.rank(), with_channels))?;
    let needles =
        Needles::new(extent, channels, fields.word::<Border>("border")?, fields.codes(extent)?);
    let base = match fields.npz.find("base")? {
        Some(array) => {
            let samples = array.to_reals(1.0).ok_or_else(|| fields.unsound("base"))?;
            Some(axes.to_signal(path, array.shape(), samples)?)
        }
        None => None,
    };
    check(path, &needles, &dictionary, base.as_ref())?;
    if needles.codes().windows(2).any(|w| {
        (w[0].position, w[0].atom, w[0].channel) == (w[1].position, w[1].atom, w[1].channel)
    }) {
        return Err(Error::format(
            path,
            "contains two codes of one atom at the same position; recreate the file",
        ));
    }
    Ok(CodesFile {
        needles,
        axes,
        penalty: fields.number("penalty")?,
        scale: fields.number("scale")?,
        depth: fields.word("depth")?,
        sample_rate: fields.sample_rate()?,
        dictionary,
        base,
        metadata: fields.metadata()?,
    })
}

/// Error unless the parts are consistent.
fn check<T: Real>(
    path: &Path,
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
    base: Option<&Signal<T>>,
) -> Result<()> {
    let (extent, channels) = (needles.extent(), needles.channels());
    let atoms = (dictionary.extent(), dictionary.channels());
    if atoms.0.rank() != extent.rank() || (atoms.1 != 1 && atoms.1 != channels) {
        let reason = format!(
            "combines a {extent} image with {channels} channels and atoms of {} with {}",
            atoms.0, atoms.1
        );
        return Err(Error::shape(
            path,
            format!("{reason}; encode again with a matching dictionary"),
        ));
    }
    if let Some(base) = base.filter(|b| (b.extent(), b.channels()) != (extent, channels)) {
        let reason = format!(
            "has a base layer of {} with {} channels for an image of {extent} with {channels}",
            base.extent(),
            base.channels()
        );
        return Err(Error::shape(path, format!("{reason}; encode again")));
    }
    if base.is_some_and(|b| b.data().iter().any(|x| !x.is_finite())) {
        return Err(Error::data(
            path,
            "the base layer contains NaN or infinite values; encode again",
        ));
    }
    needles.check_fits(dictionary).map_err(Error::content(path))
}

impl Fields<'_> {
    fn sample_rate(&self) -> Result<Option<u32>> {
        let Some(array) = self.npz.find("sample_rate")? else { return Ok(None) };
        match array.to_integers().as_deref() {
            Some([rate]) => u32::try_from(*rate).map(Some).map_err(|_| self.unsound("sample_rate")),
            _ => Err(self.unsound("sample_rate")),
        }
    }

    fn codes<T: Real>(&self, extent: Extent) -> Result<Vec<Code<T>>> {
        let value = self.npz.get("value")?;
        let [count] = value.shape()[..] else { return Err(self.unsound("value")) };
        let values: Vec<T> = value
            .to_reals(1.0)
            .filter(|_| value.dtype().is_float())
            .ok_or_else(|| self.unsound("value"))?;
        let rank = extent.rank();
        let position = self.npz.get("position")?;
        if position.shape() != [count, rank] {
            return Err(self.unsound("position"));
        }
        let positions = position.to_integers().ok_or_else(|| self.unsound("position"))?;
        let atoms = self.integers("atom", Some(count))?;
        let channels = if self.npz.names().any(|n| n == "channel") {
            self.integers("channel", Some(count))?
        } else {
            vec![0; count]
        };
        let code = |i: usize| {
            let mut at = [0; 3];
            for (axis, &p) in at[3 - rank..].iter_mut().zip(&positions[i * rank..]) {
                *axis = i32::try_from(p).map_err(|_| self.unsound("position"))?;
            }
            let atom = u32::try_from(atoms[i]).map_err(|_| self.unsound("atom"))?;
            let channel = u32::try_from(channels[i]).map_err(|_| self.unsound("channel"))?;
            Ok(Code { position: at, atom, channel, value: values[i] })
        };
        (0..count).map(code).collect()
    }
}
