//! A box of samples in memory.

use super::{InDomain, Point, Region, index};
use crate::parallel;

/// Samples of a box, channel by channel, last axis fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raster<F> {
    /// The box.
    pub region: Region<F>,
    /// Channels.
    pub channels: usize,
    /// Axes along which positions beyond the edge wrap around.
    pub periodic: [bool; 3],
}

/// Minimum number of samples per thread for a copy.
const LEAST: usize = 1 << 14;

impl<F: Copy + Send + Sync> Raster<F> {
    /// A box without periodic axes.
    pub fn new(region: Region<F>, channels: usize) -> Self {
        Self { region, channels, periodic: [false; 3] }
    }

    /// Number of samples of all channels.
    pub fn len(&self) -> usize {
        self.channels * self.region.volume()
    }

    /// Whether it has no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of a sample that is in the box.
    #[inline(always)]
    pub fn index(&self, channel: usize, at: Point<F>) -> usize {
        let at = (at - self.region.first()).map(|x| x as usize);
        channel * self.region.volume() + index(at, self.region.size)
    }

    /// Position of the sample with this index.
    #[inline(always)]
    pub fn point(&self, index: usize) -> Point<F> {
        let within = super::cell(index % self.region.volume(), self.region.size);
        self.region.first() + within.map(|x| x as i64)
    }

    /// Offset of a position along an axis of the box; `None` beyond the edge.
    #[inline(always)]
    fn along(&self, axis: usize, at: i64) -> Option<usize> {
        let (from, length) = (at - self.region.start[axis], self.region.size[axis] as i64);
        if self.periodic[axis] {
            Some(from.rem_euclid(length) as usize)
        } else {
            (0..length).contains(&from).then_some(from as usize)
        }
    }

    /// Calls `f(index, length)` for the rows of a part of the box, channel by channel.
    #[inline(always)]
    pub fn rows(&self, part: &Region<F>, mut f: impl FnMut(usize, usize)) {
        if part.is_empty() {
            return;
        }
        let size = self.region.size;
        for c in 0..self.channels {
            let first = self.index(c, part.first());
            for z in 0..part.size[0] {
                for y in 0..part.size[1] {
                    f(first + (z * size[1] + y) * size[2], part.size[2]);
                }
            }
        }
    }

    /// Calls `f([channel, z, y, x], index, length)` for the runs of samples of a region: start of
    /// the run in the region, its index in memory (`None` outside the box), and its length.
    #[inline(always)]
    pub fn runs(&self, region: &Region<F>, mut f: impl FnMut([usize; 4], Option<usize>, usize)) {
        let (size, own) = (region.size, self.region.size);
        if self.region.holds(region) {
            for c in 0..self.channels {
                let first = self.index(c, region.first());
                for z in 0..size[0] {
                    for y in 0..size[1] {
                        f([c, z, y, 0], Some(first + (z * own[1] + y) * own[2]), size[2]);
                    }
                }
            }
            return;
        }
        let from = region.start[2] - self.region.start[2];
        for c in 0..self.channels {
            for z in 0..size[0] {
                let slice = self.along(0, region.start[0] + z as i64);
                for y in 0..size[1] {
                    let row = self.along(1, region.start[1] + y as i64);
                    let (Some(slice), Some(row)) = (slice, row) else {
                        f([c, z, y, 0], None, size[2]);
                        continue;
                    };
                    let line = ((c * own[0] + slice) * own[1] + row) * own[2];
                    if self.periodic[2] {
                        let mut x = 0;
                        while x < size[2] {
                            let at = (from + x as i64).rem_euclid(own[2] as i64) as usize;
                            let run = (size[2] - x).min(own[2] - at);
                            f([c, z, y, x], Some(line + at), run);
                            x += run;
                        }
                        continue;
                    }
                    let before = (-from).clamp(0, size[2] as i64) as usize;
                    let end = (own[2] as i64 - from).clamp(before as i64, size[2] as i64) as usize;
                    if before > 0 {
                        f([c, z, y, 0], None, before);
                    }
                    if end > before {
                        f(
                            [c, z, y, before],
                            Some(line + (from + before as i64) as usize),
                            end - before,
                        );
                    }
                    if end < size[2] {
                        f([c, z, y, end], None, size[2] - end);
                    }
                }
            }
        }
    }

    /// The samples of a region, channel by channel, with `around` beyond the edge.
    pub fn gather<T: Copy + Send + Sync>(
        &self,
        data: &[T],
        region: &Region<F>,
        around: T,
        threads: usize,
    ) -> Vec<T> {
        let mut out = vec![around; self.channels * region.volume()];
        let (height, width) = (region.size[1], region.size[2]);
        let places = self.channels * region.size[0];
        let one_place = Self { channels: 1, ..*self };
        let least = LEAST.div_ceil((height * width).max(1));
        parallel::groups(
            &mut out,
            places,
            |place| place * height * width,
            least,
            threads,
            |places, part| {
                for (place, slice) in places.zip(part.chunks_exact_mut((height * width).max(1))) {
                    let (c, z) = (place / region.size[0], place % region.size[0]);
                    let own = region
                        .with_range(0, region.start[0] + z as i64..region.start[0] + z as i64 + 1);
                    let channel = &data[c * self.region.volume()..(c + 1) * self.region.volume()];
                    one_place.runs(&own, |[_, _, y, x], from, length| {
                        if let Some(from) = from {
                            slice[y * width + x..][..length]
                                .copy_from_slice(&channel[from..from + length]);
                        }
                    });
                }
            },
        );
        out
    }

    /// Writes samples of a region, channel by channel; those beyond the edge are dropped.
    pub fn scatter<T: Copy>(&self, data: &mut [T], region: &Region<F>, samples: &[T]) {
        self.patch(region.first(), region.size, samples, |into, run| {
            data[into..into + run.len()].copy_from_slice(run)
        });
    }

    /// Calls `f(index, values)` for the runs of a patch at `at` that are in the box.
    #[inline(always)]
    pub fn patch<'a, T>(
        &self,
        at: Point<F>,
        atom: [usize; 3],
        patch: &'a [T],
        mut f: impl FnMut(usize, &'a [T]),
    ) {
        self.runs(&Region::new(at, atom), |[c, z, y, x], into, length| {
            if let Some(into) = into {
                f(into, &patch[((c * atom[0] + z) * atom[1] + y) * atom[2] + x..][..length]);
            }
        });
    }
}

impl Raster<InDomain> {
    /// Samples that begin at the start of the domain.
    pub fn of_domain(size: [usize; 3], channels: usize, periodic: [bool; 3]) -> Self {
        Self { region: Region::whole(size), channels, periodic }
    }
}
