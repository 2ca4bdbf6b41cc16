//! Maps and vectors of numbers.

use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::npy::shape_words;
use crate::raster::Raster;
use crate::source::Allowance;
use lobcod::{Extent, Real, Signal};
use std::path::Path;

/// Reads a map of one number per position (penalty weights, maximum non-zeros) with `rank` axes,
/// from an array or a greyscale image, unscaled.
pub fn read_map<T: Real>(path: &Path, rank: usize, max_bytes: Option<u64>) -> Result<Signal<T>> {
    let axes = Axes::Hw.fitting(rank, 1);
    let raster = Raster::read(path, Some(axes), Allowance::new::<T>(max_bytes))?;
    if raster.array.shape().len() != axes.rank() {
        let shape = shape_words(raster.array.shape());
        return Err(Error::shape(
            path,
            format!(
                "contains an array of shape {shape}, but the map must have the {} axes {axes}",
                axes.rank()
            ),
        ));
    }
    let map = raster.to_signal::<T>(path, axes, 1.0)?;
    if !map.data().iter().all(|x| x.is_finite()) {
        return Err(Error::data(
            path,
            "a map must contain only finite numbers; replace NaN and infinities",
        ));
    }
    Ok(map)
}

/// Reads the penalty weights of all coefficients, an array of atoms, then `rank` axes of positions;
/// weights may be infinite.
pub fn read_coefficient_weights<T: Real>(
    path: &Path,
    rank: usize,
    max_bytes: Option<u64>,
) -> Result<Signal<T>> {
    let raster = Raster::read(path, None, Allowance::new::<T>(max_bytes))?;
    let shape = raster.array.shape();
    if shape.len() != rank + 1 {
        return Err(Error::shape(
            path,
            format!(
                "contains an array of shape {}, but weights of coefficients have {} axes: atoms, \
                 then positions",
                shape_words(shape),
                rank + 1
            ),
        ));
    }
    let numbers = raster.array.to_reals(1.0);
    let numbers = numbers.ok_or_else(|| Error::format(path, "contains no numbers"))?;
    let positions = Extent::new(&shape[1..]).map_err(Error::content(path))?;
    Signal::from_planar(positions, shape[0], numbers).map_err(Error::content(path))
}

/// Reads a list of numbers (atom weights) from a 1-D array.
pub fn read_vector(path: &Path) -> Result<Vec<f64>> {
    read_map::<f64>(path, 1, None).map(Signal::into_data)
}
