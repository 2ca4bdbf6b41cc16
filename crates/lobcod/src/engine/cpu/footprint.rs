//! The samples a tile touches, copied to where they stay in cache.

use super::field::SharedField;
use super::plane::PlaneState;
use crate::engine::Scaling;
use crate::error::{Error, Result};
use crate::grid::{Grid, Tile};
use crate::real::Real;
use crate::simd::{PatchRows, PatchSamples};

/// How footprints of a plane are laid out: the same strides for all its tiles.
pub(super) struct Layout {
    /// Distance between rows, slices and channels.
    pub(super) strides: [usize; 3],
    channels: usize,
    /// Where sample `p` of a patch lies.
    pub(super) patch: PatchSamples,
    /// Where the rows of a patch lie.
    pub(super) rows: PatchRows,
    /// Samples a footprint buffer must hold.
    pub(super) len: usize,
}

impl Layout {
    pub(super) fn new(grid: &Grid, channels: usize, row_width: usize) -> Result<Self> {
        let (tile, atom) = (grid.largest_tile(), grid.atom);
        // A padded row read at the last position of a tile must stay inside the buffer's row.
        let row = tile[2] - 1 + row_width;
        let slice = (tile[1] + atom[1] - 1) * row;
        let channel = (tile[0] + atom[0] - 1) * slice;
        if channels.checked_mul(channel).is_none_or(|len| u32::try_from(len).is_err()) {
            return Err(Error::Shape(
                "a tile of this size is too large to be worked on; use the schedule tiles or smaller ones".into(),
            ));
        }
        let mut starts = Vec::with_capacity(channels * atom[0] * atom[1]);
        for c in 0..channels {
            for z in 0..atom[0] {
                starts.extend((0..atom[1]).map(|y| (c * channel + z * slice + y * row) as u32));
            }
        }
        let patch = PatchSamples::new(starts.iter().flat_map(|&s| (0..atom[2] as u32).map(move |x| s + x)).collect());
        let rows = PatchRows::new(starts, row_width);
        Ok(Self { strides: [row, slice, channel], channels, patch, rows, len: channels * channel })
    }

    #[inline(always)]
    pub(super) fn offset(&self, at: [usize; 3]) -> usize {
        at[0] * self.strides[1] + at[1] * self.strides[0] + at[2]
    }

    #[inline(always)]
    pub(super) fn coordinates(&self, offset: usize) -> [usize; 3] {
        [offset / self.strides[1], offset % self.strides[1] / self.strides[0], offset % self.strides[0]]
    }

    /// Calls `f(start in the buffer, start in the domain plane, length)` for the runs of samples of the tile's footprint that lie in
    /// the domain; `f(start, None, length)` for those outside and for the padding behind a row.
    #[inline(always)]
    fn for_runs(&self, grid: &Grid, tile: &Tile, mut f: impl FnMut(usize, Option<usize>, usize)) {
        let size: [usize; 3] = std::array::from_fn(|a| tile.size[a] + grid.atom[a] - 1);
        let domain = grid.domain;
        let wrap = |axis: usize, i: usize| -> Option<usize> {
            let p = tile.origin[axis] + i as i64;
            let l = domain[axis] as i64;
            if grid.periodic[axis] { Some(p.rem_euclid(l) as usize) } else { (0..l).contains(&p).then_some(p as usize) }
        };
        for c in 0..self.channels {
            for z in 0..size[0] {
                for y in 0..size[1] {
                    let row = c * self.strides[2] + self.offset([z, y, 0]);
                    let (Some(gz), Some(gy)) = (wrap(0, z), wrap(1, y)) else {
                        f(row, None, self.strides[0]);
                        continue;
                    };
                    let line = ((c * domain[0] + gz) * domain[1] + gy) * domain[2];
                    let mut x = 0;
                    if !grid.periodic[2] {
                        let before = (-tile.origin[2]).clamp(0, size[2] as i64) as usize;
                        let end = (domain[2] as i64 - tile.origin[2]).clamp(before as i64, size[2] as i64) as usize;
                        if before > 0 {
                            f(row, None, before);
                        }
                        if end > before {
                            f(row + before, Some(line + (tile.origin[2] + before as i64) as usize), end - before);
                        }
                        x = end;
                    } else {
                        while x < size[2] {
                            let g = (tile.origin[2] + x as i64).rem_euclid(domain[2] as i64) as usize;
                            let run = (size[2] - x).min(domain[2] - g);
                            f(row + x, Some(line + g), run);
                            x += run;
                        }
                    }
                    if x < self.strides[0] {
                        f(row + x, None, self.strides[0] - x);
                    }
                }
            }
        }
    }

    /// Fills the buffer with the tile's footprint, 0 outside the domain; its weights too, unless all are 1.
    #[inline(always)]
    pub(super) fn load<T: Real>(
        &self,
        grid: &Grid,
        tile: &Tile,
        residual: &SharedField<T>,
        weights: Option<&[T]>,
        into: &mut Footprint<T>,
    ) {
        self.for_runs(grid, tile, |at, from, length| match from {
            // SAFETY: tiles that run together have disjoint footprints or, in a measurement, only read.
            Some(start) => unsafe { residual.read(start, &mut into.residual[at..at + length]) },
            None => into.residual[at..at + length].fill(T::ZERO),
        });
        let cut = (0..3).any(|a| {
            let last = tile.origin[a] + (tile.size[a] + grid.atom[a]) as i64 - 1;
            !grid.periodic[a] && (tile.origin[a] < 0 || last > grid.domain[a] as i64)
        });
        into.weighted = weights.is_some() || cut;
        if !into.weighted {
            return;
        }
        into.inside = std::array::from_fn(|a| {
            if grid.periodic[a] {
                return (0, usize::MAX);
            }
            let end = grid.domain[a] as i64 - grid.atom[a] as i64 + 1 - tile.origin[a];
            ((-tile.origin[a]).max(0) as usize, end.max(0) as usize)
        });
        into.masked = weights.is_some();
        self.for_runs(grid, tile, |at, from, length| {
            let run = &mut into.weights[at..at + length];
            match (from, weights) {
                (Some(start), Some(weights)) => run.copy_from_slice(&weights[start..start + length]),
                (Some(_), None) => run.fill(T::ONE),
                (None, _) => run.fill(T::ZERO),
            }
        });
    }

    /// Fills a buffer with samples of the domain over the tile's footprint, 0 outside.
    #[inline(always)]
    pub(super) fn load_samples<T: Real>(&self, grid: &Grid, tile: &Tile, samples: &[T], into: &mut [T]) {
        self.for_runs(grid, tile, |at, from, length| match from {
            Some(start) => into[at..at + length].copy_from_slice(&samples[start..start + length]),
            None => into[at..at + length].fill(T::ZERO),
        });
    }

    /// Multiplies a footprint by the scales; gives the lowest and the highest of them.
    pub(super) fn scale<T: Real>(&self, plane: &PlaneState<T>, tile: &Tile, scaling: Scaling, field: &mut [T]) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        let domain = plane.grid.domain;
        self.for_runs(&plane.grid, tile, |at, from, length| {
            let Some(start) = from else { return };
            let line = start / domain[2];
            let first = [line / domain[1] % domain[0], line % domain[1], start % domain[2]];
            let run = &mut field[at..at + length];
            scaling.field.for_row(plane.in_field(scaling.origin, first.map(|x| x as i64)), length, |i, scale| {
                (low, high) = (low.min(scale), high.max(scale));
                run[i] *= T::from_f64(scale);
            });
        });
        (low, high)
    }

    /// Writes the footprint's residual back.
    #[inline(always)]
    pub(super) fn store<T: Real>(&self, grid: &Grid, tile: &Tile, residual: &SharedField<T>, from: &Footprint<T>) {
        self.for_runs(grid, tile, |at, into, length| {
            if let Some(start) = into {
                // SAFETY: footprints of the tiles that run together are disjoint, and a tile is worked on by one thread.
                unsafe { residual.write(start, &from.residual[at..at + length]) }
            }
        });
    }

    /// Writes back the part of a footprint that is a smaller tile's; `at`: where that begins in it.
    pub(super) fn store_part<T: Real>(
        &self,
        grid: &Grid,
        part: &Tile,
        at: usize,
        residual: &SharedField<T>,
        from: &Footprint<T>,
    ) {
        self.for_runs(grid, part, |start, into, length| {
            if let Some(place) = into {
                // SAFETY: the parts that are written together are disjoint, and each is written by one thread.
                unsafe { residual.write(place, &from.residual[at + start..at + start + length]) }
            }
        });
    }

    /// Copies the patch at `offset`, just updated, to the other places of the buffer that stand for the same samples: on an axis
    /// that wraps, sample `i` and sample `i + length` are one.
    pub(super) fn repeat_wrapped<T: Real>(&self, grid: &Grid, tile: &Tile, offset: usize, buffer: &mut [T]) {
        let at = self.coordinates(offset);
        let size: [usize; 3] = std::array::from_fn(|a| tile.size[a] + grid.atom[a] - 1);
        let twins = |axis: usize, i: usize| {
            let l = grid.domain[axis];
            let twin = if !grid.wraps[axis] {
                None
            } else if i >= l {
                Some(i - l)
            } else {
                (i + l < size[axis]).then_some(i + l)
            };
            std::iter::once(i).chain(twin)
        };
        if (0..3).all(|a| !grid.wraps[a] || (at[a] >= grid.atom[a] - 1 && at[a] + grid.atom[a] <= grid.domain[a])) {
            return;
        }
        for c in 0..self.channels {
            for z in at[0]..at[0] + grid.atom[0] {
                for y in at[1]..at[1] + grid.atom[1] {
                    for x in at[2]..at[2] + grid.atom[2] {
                        let value = buffer[c * self.strides[2] + self.offset([z, y, x])];
                        for z in twins(0, z) {
                            for y in twins(1, y) {
                                for x in twins(2, x) {
                                    buffer[c * self.strides[2] + self.offset([z, y, x])] = value;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A tile's samples.
pub(super) struct Footprint<T> {
    /// Residual, weights squared already in it.
    pub(super) residual: Vec<T>,
    /// Squared weights; meaningful when `weighted`.
    pub(super) weights: Vec<T>,
    /// Is any weight not 1?
    pub(super) weighted: bool,
    /// Do weights differ from 1 other than by lying outside the domain?
    masked: bool,
    /// Positions along each axis whose patches lie wholly in the domain.
    inside: [(usize, usize); 3],
}

impl<T: Real> Footprint<T> {
    pub(super) fn new(len: usize) -> Self {
        Self { residual: vec![T::ZERO; len], weights: vec![T::ZERO; len], weighted: false, masked: false, inside: [(0, 0); 3] }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.residual[..]) + size_of_val(&self.weights[..])
    }

    /// Are all weights of the patch 1?
    #[inline(always)]
    pub(super) fn is_plain(&self, offset: usize, layout: &Layout) -> bool {
        if !self.weighted {
            return true;
        }
        if self.masked {
            return layout.patch.iter().all(|&p| self.weights[offset + p as usize] == T::ONE);
        }
        let at = layout.coordinates(offset);
        (0..3).all(|a| (self.inside[a].0..self.inside[a].1).contains(&at[a]))
    }
}
