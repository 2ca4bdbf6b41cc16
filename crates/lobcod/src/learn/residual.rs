//! The residual of a plane, outside an engine.

use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::Plane;
use crate::needles::{Code, Needles};
use crate::real::Real;
use crate::signal::Signal;

/// What the codes leave of a plane; hidden samples are zero.
pub(super) fn residual_of<T: Real>(plane: &Plane<T>, codes: &[Code<T>], dictionary: &Dictionary<T>, border: Border) -> Signal<T> {
    let channels = dictionary.channels();
    let made =
        Needles::new(plane.extent, channels, border, codes.to_vec()).synthesise(dictionary).expect("the codes are the session's");
    let weight = |i: usize| plane.weights.as_ref().map_or(T::ONE, |w| w[i] * w[i]);
    let rest = plane.target.iter().zip(made.data()).enumerate().map(|(i, (&t, &m))| weight(i) * (t - m)).collect();
    Signal::from_planar(plane.extent, channels, rest).expect("of the shape of the plane")
}
