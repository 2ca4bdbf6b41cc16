//! Run-time estimates, from a trial run on parts of the image.

use crate::output::summary;
use crate::progress::duration;
use anyhow::Result;
use lobcod::geometry::{InSignal, Region, cell, cells, index};
use lobcod::run::Clock;
use lobcod::{Extent, Mask, Observed, Real, Signal, Status};
use std::ops::Range;
use std::time::Duration;

/// Side length of what a trial works on, for signals with one, two and three axes.
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
    /// Runs `work` on parts of this size, of which the whole consists of `of`; `work` returns how
    /// it ended.
    pub fn run(part: Extent, of: f64, work: impl FnOnce() -> Result<Status>) -> Result<Self> {
        let clock = Clock::start();
        let whole = work()? != Status::TimeLimit;
        Ok(Self { seconds: clock.elapsed().as_secs_f64() * of, part, whole })
    }

    /// `about 12 s, from a trial on 128x128 pixels`.
    pub fn words(&self) -> String {
        let bound = if self.whole { "about" } else { "more than" };
        let (time, unit) = (duration(self.seconds), summary::unit(self.part));
        format!("{bound} {time}, from a trial on {} {unit}s", self.part)
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

/// Parts of a signal, side by side: the centre of each half along every axis. One crop would often
/// show the subject of an image and not its surroundings, which are quicker.
pub fn part_of<T: Real>(signal: &Signal<T>) -> lobcod::Result<Signal<T>> {
    let part = part_extent(signal.extent())?;
    let (whole, size) = (signal.extent().padded(), part.padded());
    let place = |a: usize, i: usize| {
        let ([first, first_part], [half, half_part]) =
            ([whole[a], size[a]].map(|n| n.div_ceil(2)), [whole[a], size[a]].map(|n| n / 2));
        if i < first_part {
            (first - first_part) / 2 + i
        } else {
            first + (half - half_part) / 2 + i - first_part
        }
    };
    let places = cells(size)
        .map(|at| index(std::array::from_fn(|a| place(a, at[a])), whole))
        .collect::<Vec<usize>>();
    let data = (0..signal.channels())
        .flat_map(|c| places.iter().map(move |&i| signal.channel(c)[i]))
        .collect();
    Signal::from_planar(part, signal.channels(), data)
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

/// The same parts of a mask.
pub fn part_of_mask<T: Real>(mask: &Mask<T>) -> lobcod::Result<Mask<T>> {
    Mask::weighted(part_of(mask.weights())?)
}

/// The same parts of a signal and its mask.
pub fn part_of_observed<T: Real>(observed: &Observed<T>) -> lobcod::Result<Observed<T>> {
    let mask = observed.mask.as_ref().map(part_of_mask).transpose()?;
    Ok(Observed { mask, ..part_of(&observed.signal)?.into() })
}

/// How many parts of this size make up all images.
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
    fn parts_are_spread_over_the_signal() {
        let extent = Extent::new(&[201, 100]).unwrap();
        let signal =
            Signal::from_planar(extent, 2, (0..2 * 20_100).map(|i| i as f32).collect()).unwrap();
        let part = part_of(&signal).unwrap();
        assert_eq!((part.extent().axes(), part.channels()), (&[128, 100][..], 2));
        // Rows 18 to 82 and 119 to 183, and all columns.
        let row = |y: usize| part.channel(1)[y * 100] as usize;
        assert_eq!([0, 63, 64, 127].map(|y| (row(y) - 20_100) / 100), [18, 81, 119, 182]);
        assert_eq!(part.data()[..100], signal.data()[1800..1900]);
        assert_eq!(parts(part.extent(), &[(extent, 2)]), 20_100.0 / 12_800.0);
    }
}
