//! Run-time estimates, from a trial run on a crop of the image.

use crate::progress::duration;
use anyhow::Result;
use lobcod::geometry::{InSignal, Region, cell, index};
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

/// The size of a crop of a signal of this size.
fn part_extent(extent: Extent) -> lobcod::Result<Extent> {
    let side = SIDES[extent.rank() - 1];
    Extent::new(&extent.axes().iter().map(|n| side.min(*n)).collect::<Vec<usize>>())
}

/// The centre crop of a signal, small enough for a trial.
pub fn part_of<T: Real>(signal: &Signal<T>) -> lobcod::Result<Signal<T>> {
    let (whole, part) = (signal.extent().padded(), part_extent(signal.extent())?.padded());
    part_at(signal, std::array::from_fn(|a| (whole[a] - part[a]) / 2))
}

/// Where the crop with the most holes begins, among those with enough known samples.
pub fn position_of_holes<T: Real>(known: &Mask<T>) -> lobcod::Result<[usize; 3]> {
    let extent = known.weights().extent();
    let (whole, part) = (extent.padded(), part_extent(extent)?.padded());
    // Half a crop apart.
    let step = part.map(|n| n.div_ceil(2));
    let counts: [usize; 3] = std::array::from_fn(|a| (whole[a] - part[a]).div_ceil(step[a]) + 1);
    let start = |crop: [usize; 3]| -> [usize; 3] {
        std::array::from_fn(|a| (crop[a] * step[a]).min(whole[a] - part[a]))
    };
    let mut holes = vec![0usize; counts.iter().product()];
    for (i, w) in known.channel(0).iter().enumerate() {
        if *w != T::ZERO {
            continue;
        }
        let at = cell(i, whole);
        let near = Region::<InSignal>::of(|a| {
            let half = (at[a] / step[a]).min(counts[a] - 1);
            half.saturating_sub(1) as i64..(half + 2).min(counts[a]) as i64
        });
        for crop in near.points().map(|point| point.at.map(|x| x as usize)) {
            let first = start(crop);
            if (0..3).all(|a| (first[a]..first[a] + part[a]).contains(&at[a])) {
                holes[index(crop, counts)] += 1;
            }
        }
    }
    // A crop needs known samples too.
    let limit = part.iter().product::<usize>() * 9 / 10;
    let wanted = |i: usize| if holes[i] <= limit { holes[i] } else { 0 };
    let most = (0..holes.len()).max_by_key(|&i| (wanted(i), std::cmp::Reverse(i))).unwrap_or(0);
    Ok(start(cell(most, counts)))
}

/// The crop of a signal that begins here.
pub fn part_at<T: Real>(signal: &Signal<T>, first: [usize; 3]) -> lobcod::Result<Signal<T>> {
    let part = part_extent(signal.extent())?;
    let ([_, rows, columns], [depth, height, width]) = (signal.extent().padded(), part.padded());
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
    fn the_crop_with_the_most_holes_is_found() {
        let extent = Extent::new(&[500, 700]).unwrap();
        let known: Vec<bool> = (0..350_000)
            .map(|i| {
                let (y, x) = (i / 700, i % 700);
                let scratch = (430..433).contains(&y) && x > 600;
                !(scratch || y == 100 && x == 100 || y < 200 && (200..400).contains(&x))
            })
            .collect();
        let place = position_of_holes(&Mask::<f32>::from_known(extent, &known).unwrap()).unwrap();
        // Partly in the blotch, with known samples next to it.
        let crop = (0..128 * 128).map(|i| (place[1] + i / 128) * 700 + place[2] + i % 128);
        let holes = crop.filter(|&i| !known[i]).count();
        assert!((8192..14746).contains(&holes), "{holes} holes at {place:?}");
        let scratch: Vec<bool> = (0..350_000).map(|i| i / 700 != 499 || i % 700 < 690).collect();
        let place = position_of_holes(&Mask::<f32>::from_known(extent, &scratch).unwrap()).unwrap();
        assert_eq!(place, [0, 372, 572]);
    }

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
