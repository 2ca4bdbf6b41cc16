//! How long work will take, told by doing it on a part of the picture.

use crate::progress::duration;
use anyhow::Result;
use lobcod::{Extent, Mask, Observed, Real, Signal};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Samples along each axis of the part, for signals of one, two and three axes.
const SIDES: [usize; 3] = [1 << 14, 128, 24];
/// Time that a trial may take.
pub const LIMIT: Duration = Duration::from_secs(3);

/// The outcome of a trial.
pub struct Trial {
    /// Seconds the whole is expected to take.
    pub seconds: f64,
    part: Extent,
    /// Whether the trial came to its end.
    whole: bool,
}

impl Trial {
    /// Does the work on a part, which is one of so many that the whole is made of; `work` says whether it came to its end.
    pub fn run(part: Extent, of: f64, work: impl FnOnce() -> Result<bool>) -> Result<Self> {
        let clock = Instant::now();
        let whole = work()?;
        Ok(Self { seconds: clock.elapsed().as_secs_f64() * of, part, whole })
    }

    /// `about 12 s, by a trial on a part of 128x128`.
    pub fn words(&self) -> String {
        let bound = if self.whole { "about" } else { "more than" };
        format!("{bound} {}, by a trial on a part of {}", duration(self.seconds), self.part)
    }
}

/// The rows of the first axis in which that middle lies.
pub fn middle(extent: Extent) -> Range<usize> {
    let (length, side) = (extent.axes()[0], SIDES[extent.rank() - 1].min(extent.axes()[0]));
    (length - side) / 2..(length - side) / 2 + side
}

/// The middle of a signal, small enough for a trial.
pub fn part_of<T: Real>(signal: &Signal<T>) -> lobcod::Result<Signal<T>> {
    let extent = signal.extent();
    let side = SIDES[extent.rank() - 1];
    let axes: Vec<usize> = extent.axes().iter().map(|n| side.min(*n)).collect();
    let part = Extent::new(&axes)?;
    let ([_, rows, columns], [depth, height, width]) = (extent.padded(), part.padded());
    let first: Vec<usize> = extent.padded().iter().zip(part.padded()).map(|(whole, part)| (whole - part) / 2).collect();
    let mut data = Vec::with_capacity(part.volume() * signal.channels());
    for c in 0..signal.channels() {
        for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
            let start = ((first[0] + z) * rows + first[1] + y) * columns + first[2];
            data.extend_from_slice(&signal.channel(c)[start..start + width]);
        }
    }
    Signal::from_planar(part, signal.channels(), data)
}

/// The same part of a mask.
pub fn part_of_mask<T: Real>(mask: &Mask<T>) -> lobcod::Result<Mask<T>> {
    Mask::new(part_of(mask.weights())?)
}

/// The same part of a signal and its mask.
pub fn part_of_observed<T: Real>(observed: &Observed<T>) -> lobcod::Result<Observed<T>> {
    let mask = observed.mask.as_ref().map(part_of_mask).transpose()?;
    Ok(Observed { mask, ..part_of(&observed.signal)?.into() })
}

/// How many parts like the first make up all of these.
pub fn parts(part: Extent, shapes: &[(Extent, usize)]) -> f64 {
    shapes.iter().map(|(extent, _)| extent.volume() as f64).sum::<f64>() / part.volume() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_is_the_middle() {
        let extent = Extent::new(&[200, 130]).unwrap();
        let signal = Signal::from_planar(extent, 2, (0..2 * 26_000).map(|i| i as f32).collect()).unwrap();
        let part = part_of(&signal).unwrap();
        assert_eq!((part.extent().axes(), part.channels()), (&[128, 128][..], 2));
        assert_eq!((part.data()[0], part.channel(1)[0]), ((36 * 130 + 1) as f32, (26_000 + 36 * 130 + 1) as f32));
        assert_eq!(parts(part.extent(), &[(extent, 2)]), 26_000.0 / 16_384.0);
    }
}
