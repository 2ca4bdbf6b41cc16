//! The samples a tile touches, copied into a buffer that stays in cache.

use crate::engine::Scaling;
use crate::engine::cpu::data::plane::PlaneState;
use crate::error::{Error, Result};
use crate::geometry::{InDomain, Raster, Region};
use crate::grid::{Grid, Tile};
use crate::real::Real;
use crate::simd::{PatchRows, PatchSamples};

/// Layout of the footprints of a plane: the same strides for all its tiles.
pub struct Layout {
    /// Distance between rows, slices and channels.
    pub strides: [usize; 3],
    pub channels: usize,
    /// Offset of each sample of a patch.
    pub patch: PatchSamples,
    /// Offsets of the rows of a patch.
    pub rows: PatchRows,
    /// The same in one channel.
    pub channel_rows: PatchRows,
    pub channel_patch: PatchSamples,
    /// Length of a footprint buffer.
    pub len: usize,
}

impl Layout {
    pub fn new(grid: &Grid, channels: usize, row_width: usize) -> Result<Self> {
        let (tile, atom) = (grid.largest_tile(), grid.atom);
        // A padded row read at the last position of a tile must stay inside the buffer's row.
        let row = tile[2] - 1 + row_width;
        let slice = (tile[1] + atom[1] - 1) * row;
        let channel = (tile[0] + atom[0] - 1) * slice;
        if channels.checked_mul(channel).is_none_or(|len| u32::try_from(len).is_err()) {
            return Err(Error::Shape(
                "the tile is too large; use the tiles schedule or smaller tiles".into(),
            ));
        }
        let mut starts = Vec::with_capacity(channels * atom[0] * atom[1]);
        for c in 0..channels {
            for z in 0..atom[0] {
                starts.extend((0..atom[1]).map(|y| (c * channel + z * slice + y * row) as u32));
            }
        }
        let samples = |starts: &[u32]| {
            let row = |&s: &u32| (0..atom[2] as u32).map(move |x| s + x);
            PatchSamples::new(starts.iter().flat_map(row).collect())
        };
        let (patch, of_channel) = (samples(&starts), &starts[..atom[0] * atom[1]]);
        let channel_patch = samples(of_channel);
        let channel_rows = PatchRows::new(of_channel.to_vec(), row_width);
        let rows = PatchRows::new(starts, row_width);
        let (strides, len) = ([row, slice, channel], channels * channel);
        Ok(Self { strides, channels, patch, rows, channel_rows, channel_patch, len })
    }

    #[inline(always)]
    pub fn offset(&self, at: [usize; 3]) -> usize {
        at[0] * self.strides[1] + at[1] * self.strides[0] + at[2]
    }

    /// Distance between rows and slices.
    pub fn needle_strides(&self) -> [usize; 2] {
        [self.strides[0], self.strides[1]]
    }

    #[inline(always)]
    pub fn coordinates(&self, offset: usize) -> [usize; 3] {
        [
            offset / self.strides[1],
            offset % self.strides[1] / self.strides[0],
            offset % self.strides[0],
        ]
    }

    /// Calls `f(start in the buffer, start in the raster, length)` for the runs of a footprint; the
    /// second is `None` outside the raster and for the padding after a row.
    #[inline(always)]
    pub fn runs(
        &self,
        raster: &Raster<InDomain>,
        footprint: &Region<InDomain>,
        mut f: impl FnMut(usize, Option<usize>, usize),
    ) {
        let padding = self.strides[0] - footprint.size[2];
        raster.runs(footprint, |[c, z, y, x], from, length| {
            let at = c * self.strides[2] + self.offset([z, y, x]);
            f(at, from, length);
            if padding > 0 && x + length == footprint.size[2] {
                f(at + length, None, padding);
            }
        });
    }

    /// Fills a buffer with the samples of a footprint, 0 outside the raster.
    #[inline(always)]
    pub fn load<T: Real>(
        &self,
        raster: &Raster<InDomain>,
        footprint: &Region<InDomain>,
        samples: &[T],
        into: &mut [T],
    ) {
        self.runs(raster, footprint, |at, from, length| match from {
            Some(start) => copy_run(&samples[start..start + length], &mut into[at..at + length]),
            None => into[at..at + length].fill(T::ZERO),
        });
    }

    /// Multiplies a footprint by the scales; returns the lowest and highest scale.
    pub fn scale<T: Real>(
        &self,
        plane: &PlaneState<T>,
        tile: &Tile,
        scaling: Scaling,
        field: &mut [T],
    ) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        let raster = plane.raster();
        self.runs(&raster, &plane.touched(tile), |at, from, length| {
            let Some(start) = from else { return };
            let run = &mut field[at..at + length];
            scaling.for_row(plane.grid.to_signal(raster.point(start)), length, |i, scale| {
                (low, high) = (low.min(scale), high.max(scale));
                run[i] *= T::from_f64(scale);
            });
        });
        (low, high)
    }

    /// Copies an updated patch to the other locations in the buffer that hold the same samples: on
    /// an axis that wraps, `i` and `i + length` are identical.
    pub fn repeat_wrapped<T: Real>(
        &self,
        grid: &Grid,
        tile: &Tile,
        offset: usize,
        buffer: &mut [T],
    ) {
        let at = self.coordinates(offset);
        let size = tile.region.touched(grid.atom).size;
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
        if (0..3).all(|a| {
            !grid.wraps[a] || (at[a] >= grid.atom[a] - 1 && at[a] + grid.atom[a] <= grid.domain[a])
        }) {
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

/// Copies a run of samples too short for `memcpy` to be worthwhile.
#[inline(always)]
pub fn copy_run<T: Copy>(from: &[T], into: &mut [T]) {
    const AT_ONCE: usize = 16;
    let ((blocks, _), (into_blocks, _)) =
        (from.as_chunks::<AT_ONCE>(), into.as_chunks_mut::<AT_ONCE>());
    blocks.iter().zip(into_blocks).for_each(|(from, into)| *into = *from);
    match (from.last_chunk::<AT_ONCE>(), into.last_chunk_mut::<AT_ONCE>()) {
        (Some(from), Some(into)) => *into = *from,
        _ => into.copy_from_slice(from),
    }
}

/// A tile's samples.
pub struct Footprint<T> {
    /// Residual, including the squared weights.
    pub residual: Vec<T>,
    /// Squared weights; meaningful when `weighted`.
    pub weights: Vec<T>,
    /// Whether any weight differs from 1.
    pub weighted: bool,
    /// Whether weights inside the domain differ from 1.
    pub masked: bool,
    /// Positions along each axis whose patches are entirely in the domain.
    pub inside: [(usize, usize); 3],
}

impl<T: Real> Footprint<T> {
    pub fn new(len: usize) -> Self {
        Self {
            residual: vec![T::ZERO; len],
            weights: vec![T::ZERO; len],
            weighted: false,
            masked: false,
            inside: [(0, 0); 3],
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.residual[..]) + size_of_val(&self.weights[..])
    }

    /// Whether all weights of the patch are 1.
    #[inline(always)]
    pub fn is_plain(&self, offset: usize, layout: &Layout) -> bool {
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
