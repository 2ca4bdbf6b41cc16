//! The white level: the peak of scores, and the full range of integer files.

use crate::output::table::number;
use crate::output::warn;
use lobcod::{Mask, Real, Signal};
use lobcod_io::{Depth, FileKind, common_white};
use std::path::Path;

/// Default white level.
const USUAL: f64 = crate::args::USUAL_SCALE;

/// The white level of an image, and whether it was inferred. The solver never depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct White {
    /// White level in integer files.
    pub value: f64,
    /// Range of the values, for scores.
    range: f64,
    /// Smallest and largest value, if a white level other than the default was inferred from them.
    inferred_from: Option<[f64; 2]>,
}

impl White {
    /// White level of an image of this depth: `scale` if given; for floats, what fits the known
    /// values.
    pub fn of<T: Real>(
        signal: &Signal<T>,
        known: Option<&Mask<T>>,
        depth: Depth,
        scale: Option<f64>,
    ) -> Self {
        let value = scale.unwrap_or(USUAL);
        if scale.is_some() || !matches!(depth, Depth::F32 | Depth::F64) {
            return Self { value, range: value, inferred_from: None };
        }
        Self::fitting(limits(signal, known))
    }

    /// The white level that fits values within these limits.
    fn fitting([least, most]: [f64; 2]) -> Self {
        let common = common_white(least, most);
        // Signals without a positive maximum, such as all zeros, determine nothing.
        let Some((value, range)) =
            common.map(|white| (white, white)).or((most > 0.0).then_some((most, most - least)))
        else {
            return Self { value: USUAL, range: USUAL, inferred_from: None };
        };
        Self { value, range, inferred_from: (value != USUAL).then_some([least, most]) }
    }

    /// The peak for scores: the given one, or the range of the values.
    pub fn peak(&self, given: Option<f64>) -> f64 {
        given.unwrap_or(self.range)
    }

    /// Warns that the white level was inferred if it matters: for scores, or for an integer file.
    pub fn warn(&self, image: &Path, scored_without_peak: bool, output: Option<&Path>) {
        let Some([least, most]) = self.inferred_from else { return };
        let whole =
            output.filter(|path| FileKind::from_path(path).is_ok_and(|kind| !holds_floats(kind)));
        let (image, range) = (image.display(), format!("{} to {}", number(least), number(most)));
        let white = number(self.value);
        if let Some(output) = whole {
            let output = output.display();
            warn(&format!(
                "{image} contains floats from {range}, so {white} becomes white in {output}; set \
                 white with --scale"
            ));
        }
        if scored_without_peak {
            let peak = number(self.range);
            warn(&format!(
                "{image} contains floats from {range}, so scores use a peak of {peak}; set it \
                 with --peak or --scale"
            ));
        }
    }

    /// Warns if the reference appears to use other units than the image.
    pub fn warn_of_other_units(&self, reference: &Path, other: &White) {
        if self.value != other.value {
            let (white, other) = (number(self.value), number(other.value));
            warn(&format!(
                "white is {other} in {} but {white} in the image, so scores compare different \
                 units",
                reference.display()
            ));
        }
    }
}

/// Whether files of this kind store floats unchanged.
fn holds_floats(kind: FileKind) -> bool {
    matches!(kind.nearest_depth(Depth::F32), Depth::F32)
}

/// The smallest and largest known value.
fn limits<T: Real>(signal: &Signal<T>, known: Option<&Mask<T>>) -> [f64; 2] {
    let is_known = |c: usize, i: usize| known.is_none_or(|known| known.channel(c)[i] > T::ZERO);
    let samples = (0..signal.channels())
        .flat_map(|c| signal.channel(c).iter().enumerate().map(move |(i, x)| (c, i, x)));
    samples
        .filter(|&(c, i, _)| is_known(c, i))
        .map(|(_, _, x)| x.to_f64())
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| [least.min(x), most.max(x)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_fits_the_values() {
        for (limits, white, range) in [
            ([0.0, 1.0], 1.0, 1.0),
            ([-0.3, 1.4], 1.0, 1.0),
            ([0.0, 0.2], 1.0, 1.0),
            ([0.0, 255.0], 255.0, 255.0),
            ([-40.0, 300.0], 255.0, 255.0),
            ([3.0, 60000.0], 65535.0, 65535.0),
            ([0.0, 4095.0], 4095.0, 4095.0),
            ([-10.0, 12.0], 12.0, 22.0),
            ([-1.0, 1.0], 1.0, 2.0),
            ([0.0, 0.0], 255.0, 255.0),
            ([-3.0, -1.0], 255.0, 255.0),
        ] {
            let found = White::fitting(limits);
            assert_eq!((found.value, found.range), (white, range), "{limits:?}");
            assert_eq!(found.inferred_from.is_some(), white != USUAL);
        }
    }
}
