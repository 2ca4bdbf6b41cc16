//! Dictionaries: embedded, generated, read and written.

use crate::arrays::{Numbers, atoms_array};
use crate::errors::{Fault, Result};
use crate::learn::{GivenImage, details};
use crate::options::in_precision;
use lobcod::dictionary::Embedded;
use lobcod::{Dictionary, Extent, Real};
use lobcod_io::{MetaValue, read_dictionary, write_dictionary};
use numpy::Element;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A built-in dictionary.
#[pyfunction]
pub fn embedded_atoms<'py>(py: Python<'py>, name: &str) -> Result<Bound<'py, PyAny>> {
    Ok(atoms_array(py, &Dictionary::<f32>::embedded(name.parse::<Embedded>()?))?.into_any())
}

/// Atoms of independent, normally distributed values.
#[pyfunction]
pub fn random_atoms<'py>(
    py: Python<'py>,
    atoms: usize,
    size: Vec<usize>,
    channels: usize,
    seed: u64,
    precision: &str,
) -> Result<Bound<'py, PyAny>> {
    fn make<'py, T: Real + Element>(
        py: Python<'py>,
        extent: Extent,
        channels: usize,
        atoms: usize,
        seed: u64,
    ) -> Result<Bound<'py, PyAny>> {
        Ok(atoms_array(py, &Dictionary::<T>::random(extent, channels, atoms, seed)?)?.into_any())
    }
    in_precision!(precision, make(py, Extent::new(&size)?, channels, atoms, seed))
}

/// Atoms that are products of cosines.
#[pyfunction]
pub fn cosine_atoms<'py>(
    py: Python<'py>,
    atoms: usize,
    size: Vec<usize>,
    channels: usize,
    precision: &str,
) -> Result<Bound<'py, PyAny>> {
    fn make<'py, T: Real + Element>(
        py: Python<'py>,
        extent: Extent,
        channels: usize,
        atoms: usize,
    ) -> Result<Bound<'py, PyAny>> {
        Ok(atoms_array(py, &Dictionary::<T>::dct(extent, channels, atoms)?)?.into_any())
    }
    in_precision!(precision, make(py, Extent::new(&size)?, channels, atoms))
}

/// Atoms that are patches of the arrays minus their base layers.
#[pyfunction]
pub fn patch_atoms<'py>(
    py: Python<'py>,
    images: Vec<GivenImage<'py>>,
    base: &str,
    atoms: usize,
    size: Vec<usize>,
    seed: u64,
    precision: &str,
) -> Result<Bound<'py, PyAny>> {
    fn make<'py, T: Real + Element>(
        py: Python<'py>,
        images: &[GivenImage<'py>],
        base: &str,
        extent: Extent,
        atoms: usize,
        seed: u64,
    ) -> Result<Bound<'py, PyAny>> {
        // A layer that is learnt with the atoms is not subtracted yet.
        let base = base.strip_prefix("joint-").unwrap_or(base);
        let signals: Vec<_> =
            details::<T>(py, images, base, extent)?.into_iter().map(|o| o.signal).collect();
        Ok(atoms_array(py, &Dictionary::patches(&signals, extent, atoms, seed)?)?.into_any())
    }
    in_precision!(precision, make(py, &images, base, Extent::new(&size)?, atoms, seed))
}

/// Atoms normalised to unit norm, and the number that were changed.
#[pyfunction]
pub fn normalised_atoms<'py>(
    py: Python<'py>,
    dictionary: Numbers<'py>,
    rank: usize,
    precision: &str,
) -> Result<(Bound<'py, PyAny>, usize)> {
    fn make<'py, T: Real + Element>(
        py: Python<'py>,
        dictionary: &Numbers<'py>,
        rank: usize,
    ) -> Result<(Bound<'py, PyAny>, usize)> {
        let dictionary = dictionary.dictionary::<T>(rank)?;
        Ok((atoms_array(py, &dictionary)?.into_any(), dictionary.normalised()))
    }
    in_precision!(precision, make(py, &dictionary, rank))
}

/// Atoms of a `.npy` or `.npz` file, and their number of axes besides channels.
#[pyfunction]
pub fn read_atoms<'py>(
    py: Python<'py>,
    path: PathBuf,
    precision: &str,
) -> Result<(Bound<'py, PyAny>, usize)> {
    fn make<'py, T: Real + Element>(
        py: Python<'py>,
        path: &Path,
    ) -> Result<(Bound<'py, PyAny>, usize)> {
        let dictionary = read_dictionary::<T>(path)?;
        Ok((atoms_array(py, &dictionary)?.into_any(), dictionary.extent().rank()))
    }
    in_precision!(precision, make(py, &path))
}

/// Writes atoms with `rank` axes, and metadata, to a `.npy` or `.npz` file.
#[pyfunction]
pub fn write_atoms(
    path: PathBuf,
    dictionary: Numbers<'_>,
    rank: usize,
    remarks: Vec<(String, Bound<'_, PyAny>)>,
    precision: &str,
) -> Result<()> {
    let remark = |value: &Bound<'_, PyAny>| {
        if let Ok(number) = value.extract::<i64>() {
            Ok(MetaValue::Integer(number))
        } else if let Ok(number) = value.extract::<f64>() {
            Ok(MetaValue::Number(number))
        } else {
            let text = value.extract::<String>();
            text.map(MetaValue::Text)
                .map_err(|_| Fault::value("dictionary metadata must be strings or numbers"))
        }
    };
    let named = remarks
        .iter()
        .map(|(name, value)| Ok((name.as_str(), remark(value)?)))
        .collect::<Result<Vec<_>>>()?;
    match precision {
        "f64" => write_dictionary(&path, &dictionary.dictionary::<f64>(rank)?, &named)?,
        _ => write_dictionary(&path, &dictionary.dictionary::<f32>(rank)?, &named)?,
    }
    Ok(())
}
