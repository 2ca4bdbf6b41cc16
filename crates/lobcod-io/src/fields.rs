//! Validated access to the arrays of a `.npz` file written by lobcod.

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
        Error::format(
            self.path,
            format!("has an array {name} of the wrong type, shape or range; recreate the file"),
        )
    }

    pub(crate) fn word<W: FromStr>(&self, name: &str) -> Result<W> {
        self.npz
            .get(name)?
            .to_text()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| self.unsound(name))
    }

    /// A finite scalar.
    pub(crate) fn number(&self, name: &str) -> Result<f64> {
        match self.numbers(name, None)?[..] {
            [number] if number.is_finite() => Ok(number),
            _ => Err(self.unsound(name)),
        }
    }

    /// All numbers of an array, `count` of them if given.
    pub(crate) fn numbers(&self, name: &str, count: Option<usize>) -> Result<Vec<f64>> {
        let numbers = self.npz.get(name)?.to_reals::<f64>(1.0);
        numbers
            .filter(|n| count.is_none_or(|count| n.len() == count))
            .ok_or_else(|| self.unsound(name))
    }

    /// The integers of a 1-D array, `length` of them if given.
    pub(crate) fn integers(&self, name: &str, length: Option<usize>) -> Result<Vec<i64>> {
        let array = self.npz.get(name)?;
        let sound = array.shape().len() == 1 && length.is_none_or(|n| array.shape() == [n]);
        array.to_integers().filter(|_| sound).ok_or_else(|| self.unsound(name))
    }
}
