//! Reconstruction of images from codes.

use lobcod::{Dictionary, Needles, Real, Result, Signal};

/// Reconstructs an image: the sum of atoms plus the base layer.
pub fn reconstruct<T: Real>(
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
    base: Option<&Signal<T>>,
) -> Result<Signal<T>> {
    let details = needles.synthesise(dictionary)?;
    match base {
        Some(base) => details.plus(base),
        None => Ok(details),
    }
}
