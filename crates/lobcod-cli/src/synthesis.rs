//! From codes back to pictures.

use lobcod::{Dictionary, Needles, Real, Result, Signal};

/// The picture that codes stand for: atoms added up, on top of the base layer.
pub fn reconstruct<T: Real>(needles: &Needles<T>, dictionary: &Dictionary<T>, base: Option<&Signal<T>>) -> Result<Signal<T>> {
    let details = needles.synthesise(dictionary)?;
    match base {
        Some(base) => details.plus(base),
        None => Ok(details),
    }
}
