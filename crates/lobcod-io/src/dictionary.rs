//! Dictionary files.

use crate::array::Array;
use crate::atomic::write_atomically;
use crate::error::{Error, Result};
use crate::format;
use crate::kind::FileKind;
use crate::npy::{self, shape_words};
use crate::npz::{self, Npz};
use crate::source::{Allowance, load};
use lobcod::{Dictionary, Extent, Real};
use std::path::Path;

/// A metadata value of a dictionary.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaValue {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A float.
    Number(f64),
}

impl MetaValue {
    fn to_array(&self) -> Array {
        match self {
            MetaValue::Text(text) => Array::from_text(text),
            MetaValue::Integer(number) => Array::scalar(*number),
            MetaValue::Number(number) => Array::scalar(*number),
        }
    }
}

/// The penalty with which the atoms of a `.npz` file were learnt, if it is recorded.
pub fn dictionary_penalty(path: &Path) -> Result<Option<f64>> {
    let allowance = Allowance::new::<f64>(None);
    let file = load(path, allowance)?;
    if FileKind::of_content(path, &file)? != FileKind::Npz {
        return Ok(None);
    }
    let penalty = Npz::new(path, file, allowance.on_disk())?.find("penalty")?;
    let number = penalty
        .and_then(|array| array.to_reals::<f64>(1.0))
        .and_then(|values| values.first().copied());
    Ok(number.filter(|penalty| penalty.is_finite() && *penalty > 0.0))
}

/// Reads a dictionary.
///
/// `.npy`: (m, t), (m, h, w), (m, c, h, w) or (m, c, d, h, w). `.npz`: the array `atoms`, with its
/// `axes` (`mt`, `mct`, `mhw`, `mchw`, `mdhw`, `mcdhw`) if they are not those of `.npy`.
pub fn read_dictionary<T: Real>(path: &Path) -> Result<Dictionary<T>> {
    let allowance = Allowance::new::<T>(None);
    let file = load(path, allowance)?;
    let (atoms, axes) = match FileKind::of_content(path, &file)? {
        FileKind::Npy => (npy::decode(path, &file)?, None),
        FileKind::Npz => {
            let npz = Npz::new(path, file, allowance.on_disk())?;
            format::check(path, &npz)?;
            let unclear =
                || Error::format(path, "has axes that are not a string; use a string such as mhw");
            let axes = npz.find("axes")?.map(|a| a.to_text().ok_or_else(unclear)).transpose()?;
            (npz.get("atoms")?, axes)
        }
        other => {
            return Err(Error::format(
                path,
                format!("is a {other} file, not a dictionary; use .npy or .npz"),
            ));
        }
    };
    let axes = match (&axes, atoms.shape().len()) {
        (Some(axes), _) => axes,
        (None, 2) => "mt",
        (None, 3) => "mhw",
        (None, 4) => "mchw",
        (None, 5) => "mcdhw",
        _ => {
            let reason = format!("contains an array of shape {}", shape_words(atoms.shape()));
            return Err(Error::shape(
                path,
                format!(
                    "{reason}, but a dictionary has the shape (m, t), (m, h, w) or (m, c, h, w); \
                     reshape it"
                ),
            ));
        }
    };
    from_array(path, &atoms, axes)
}

/// Writes a dictionary, with metadata about how it was learnt if the file is `.npz` (`.npy` has no
/// metadata).
pub fn write_dictionary<T: Real>(
    path: &Path,
    dictionary: &Dictionary<T>,
    remarks: &[(&str, MetaValue)],
) -> Result<()> {
    let file = match FileKind::from_path(path)? {
        FileKind::Npy => {
            let (atoms, axes) = to_array(dictionary);
            npy::encode(&plain_array(path, atoms, axes)?)
        }
        FileKind::Npz => encode_dictionary(dictionary, remarks).map_err(|name| {
            Error::format(
                path,
                format!("would contain two arrays named {name}; rename the metadata entry"),
            )
        })?,
        _ => {
            return Err(Error::format(
                path,
                "cannot store a dictionary; use a file name that ends in .npz or .npy",
            ));
        }
    };
    write_atomically(path, &file)
}

/// The bytes of a `.npz` file with a dictionary and metadata about how it was learnt; error with the
/// name that two arrays would have.
pub fn encode_dictionary<T: Real>(
    dictionary: &Dictionary<T>,
    remarks: &[(&str, MetaValue)],
) -> std::result::Result<Vec<u8>, String> {
    let (atoms, axes) = to_array(dictionary);
    let mut arrays =
        vec![("atoms", atoms), ("axes", Array::from_text(axes)), (format::NAME, format::array())];
    for (name, value) in remarks {
        if arrays.iter().any(|(other, _)| other == name) {
            return Err(name.to_string());
        }
        arrays.push((name, value.to_array()));
    }
    Ok(npz::encode(&arrays))
}

/// The atoms, and the name of the axes.
pub(crate) fn to_array<T: Real>(dictionary: &Dictionary<T>) -> (Array, &'static str) {
    let (extent, channels) = (dictionary.extent(), dictionary.channels());
    let mut shape = vec![dictionary.len()];
    shape.extend((channels > 1).then_some(channels));
    shape.extend(extent.axes());
    (Array::from_reals(&shape, dictionary.data()), axes_name(extent.rank(), channels > 1))
}

/// Name of the axes of atoms with `rank` axes besides channels.
pub(crate) fn axes_name(rank: usize, has_channels: bool) -> &'static str {
    match (rank, has_channels) {
        (1, false) => "mt",
        (1, true) => "mct",
        (2, false) => "mhw",
        (2, true) => "mchw",
        (_, false) => "mdhw",
        (_, true) => "mcdhw",
    }
}

/// The array for `.npy`, whose axes are implied by their number.
fn plain_array(path: &Path, atoms: Array, axes: &str) -> Result<Array> {
    match axes {
        "mct" => Err(Error::shape(path, "cannot store 1-D atoms with several channels; use .npz")),
        "mdhw" => {
            let mut shape = atoms.shape().to_vec();
            shape.insert(1, 1);
            Ok(atoms.reshaped(shape))
        }
        _ => Ok(atoms),
    }
}

/// A dictionary from its atoms and the name of their axes.
pub(crate) fn from_array<T: Real>(path: &Path, atoms: &Array, axes: &str) -> Result<Dictionary<T>> {
    let shape = atoms.shape();
    let (has_channels, rank) = match axes {
        "mt" => (false, 1),
        "mct" => (true, 1),
        "mhw" => (false, 2),
        "mchw" => (true, 2),
        "mdhw" => (false, 3),
        "mcdhw" => (true, 3),
        other => {
            return Err(Error::format(
                path,
                format!("has the axes {other}; use mt, mct, mhw, mchw, mdhw or mcdhw"),
            ));
        }
    };
    if shape.len() != 1 + usize::from(has_channels) + rank {
        let reason = format!(
            "contains atoms of shape {}, which do not fit the axes {axes}; correct one of them",
            shape_words(shape)
        );
        return Err(Error::shape(path, reason));
    }
    let channels = if has_channels { shape[1] } else { 1 };
    let extent = Extent::new(&shape[shape.len() - rank..]).map_err(Error::content(path))?;
    let data = atoms
        .to_reals(1.0)
        .ok_or_else(|| Error::format(path, "contains strings instead of atoms; use numbers"))?;
    Dictionary::new(extent, channels, data).map_err(Error::content(path))
}
