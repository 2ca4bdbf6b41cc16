//! Run-time estimates, from a trial run on a crop of the image.

use crate::progress::duration;
use anyhow::Result;
use lobcod::run::Clock;
use lobcod::{Extent, Mask, Observed, Real, Signal, Status};
use std::ops::Range;
use std::time::Duration;

/// Side length of the crop, for signals with one, two and three axes.
const SIDES: [usize; 3] = [1 << 14, 128, 24];
/// Time limit of a trial.
pub const LIMIT: Duration = Duration::from_secs(3);

/// The result of a trial.
pub struct Trial {
    /// Estimated seconds for the whole image.
    pub seconds: f64,
    part: Extent,
    /// Whether the trial ran to completion.
    whole: bool,
}

impl Trial {
    /// Runs `work` on a crop, of which the whole consists of `of`; `work` returns how it ended.
    pub fn run(part: Extent, of: f64, work: impl FnOnce() -> Result<Status>) -> Result<Self> {
        let clock = Clock::start();
        let whole = work()? != Status::TimeLimit;
        Ok(Self { seconds: clock.elapsed().as_secs_f64() * of, part, whole })
    }

    /// `about 12 s, from a trial on a crop of 128x128`.
    pub fn words(&self) -> String {
        let bound = if self.whole { "about" } else { "more than" };
        format!("{bound} {}, from a trial on a crop of {}", duration(self.seconds), self.part)
    }
}

/// The parameters of a trial: those of the run with the limits of a trial.
macro_rules! trial_params {
    ($params:expr) => {
        $params.clone().with(|p| {
            p.time_limit = Some($crate::trial::LIMIT);
            p.max_memory = None;
        })
    };
}
pub(crate) use trial_params;

/// The range of the crop along the first axis.
pub fn middle(extent: Extent) -> Range<usize> {
    let (length, side) = (extent.axes()[0], SIDES[extent.rank() - 1].min(extent.axes()[0]));
    (length - side) / 2..(length - side) / 2 + side
}

/// The centre crop of a signal, small enough for a trial.
pub fn part_of<T: Real>(signal: &Signal<T>) -> lobcod::Result<Signal<T>> {
    let extent = signal.extent();
    let side = SIDES[extent.rank() - 1];
    let axes: Vec<usize> = extent.axes().iter().map(|n| side.min(*n)).collect();
    let part = Extent::new(&axes)?;
    let ([_, rows, columns], [depth, height, width]) = (extent.padded(), part.padded());
    let first: Vec<usize> =
        extent.padded().iter().zip(part.padded()).map(|(whole, part)| (whole - part) / 2).collect();
    let mut data = Vec::with_capacity(part.volume() * signal.channels());
    for c in 0..signal.channels() {
        for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
            let start = ((first[0] + z) * rows + first[1] + y) * columns + first[2];
            data.extend_from_slice(&signal.channel(c)[start..start + width]);
        }
    }
    Signal::from_planar(part, signal.channels(), data)
}

/// The same crop of a mask.
pub fn part_of_mask<T: Real>(mask: &Mask<T>) -> lobcod::Result<Mask<T>> {
    Mask::new(part_of(mask.weights())?)
}

/// The same crop of a signal and its mask.
pub fn part_of_observed<T: Real>(observed: &Observed<T>) -> lobcod::Result<Observed<T>> {
    let mask = observed.mask.as_ref().map(part_of_mask).transpose()?;
    Ok(Observed { mask, ..part_of(&observed.signal)?.into() })
}

/// How many crops of this size make up all images.
pub fn parts(part: Extent, shapes: &[(Extent, usize)]) -> f64 {
    shapes.iter().map(|(extent, _)| extent.volume() as f64).sum::<f64>() / part.volume() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crop_is_centred() {
        let extent = Extent::new(&[200, 130]).unwrap();
        let signal =
            Signal::from_planar(extent, 2, (0..2 * 26_000).map(|i| i as f32).collect()).unwrap();
        let part = part_of(&signal).unwrap();
        assert_eq!((part.extent().axes(), part.channels()), (&[128, 128][..], 2));
        assert_eq!(
            (part.data()[0], part.channel(1)[0]),
            ((36 * 130 + 1) as f32, (26_000 + 36 * 130 + 1) as f32)
        );
        assert_eq!(parts(part.extent(), &[(extent, 2)]), 26_000.0 / 16_384.0);
    }
}
