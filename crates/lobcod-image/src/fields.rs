//! The arrays of a `.npz` file of ours, each checked for what it must be.

use crate::error::{Error, Result};
use crate::npz::Npz;
use std::path::Path;
use std::str::FromStr;

pub(crate) struct Fields<'a> {
    pub(crate) path: &'a Path,
    pub(crate) npz: Npz,
}

impl Fields<'_> {
    pub(crate) fn unsound(&self, name: &str) -> Error {
        Error::format(self.path, format!("has an array {name} of the wrong type, shape or range; make the file again"))
    }

    pub(crate) fn word<W: FromStr>(&self, name: &str) -> Result<W> {
        self.npz.get(name)?.to_text().and_then(|text| text.parse().ok()).ok_or_else(|| self.unsound(name))
    }

    /// The one finite number of an array.
    pub(crate) fn number(&self, name: &str) -> Result<f64> {
        match self.numbers(name, None)?[..] {
            [number] if number.is_finite() => Ok(number),
            _ => Err(self.unsound(name)),
        }
    }

    /// All numbers of an array, as many as given if a count is.
    pub(crate) fn numbers(&self, name: &str, count: Option<usize>) -> Result<Vec<f64>> {
        let numbers = self.npz.get(name)?.to_reals::<f64>(1.0);
        numbers.filter(|n| count.is_none_or(|count| n.len() == count)).ok_or_else(|| self.unsound(name))
    }

    /// The integers of an array with one axis, of this length if one is given.
    pub(crate) fn integers(&self, name: &str, length: Option<usize>) -> Result<Vec<i64>> {
        let array = self.npz.get(name)?;
        let sound = array.shape().len() == 1 && length.is_none_or(|n| array.shape() == [n]);
        array.to_integers().filter(|_| sound).ok_or_else(|| self.unsound(name))
    }
}
