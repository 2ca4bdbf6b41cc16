//! How the positions of a signal are cut into bands.

use super::Piece;
use crate::border::Border;
use crate::engine::Part;
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// Bands of positions along the first axis, none shorter than an atom, so that needles of a band meet those of its two neighbours
/// only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    whole: Extent,
    border: Border,
    /// Box of an atom.
    pub(super) atom: [usize; 3],
    /// The first axis among the three.
    pub(super) axis: usize,
    pub(super) count: usize,
}

impl Cut {
    /// Bands of at most `rows` positions along the first axis, or of an atom where that is more.
    pub(super) fn new(whole: Extent, atom: Extent, border: Border, rows: usize) -> Self {
        let axis = 3 - whole.rank();
        let atom = atom.padded();
        let positions = whole.padded()[axis] + atom[axis] - 1;
        let count = positions.div_ceil(rows.max(1)).min(positions / atom[axis]).max(1);
        Self { whole, border, atom, axis, count }
    }

    /// The most bands there can be.
    pub(super) fn most(whole: Extent, atom: Extent) -> usize {
        Self::new(whole, atom, Border::Free, 1).count
    }

    /// Positions of a band along the first axis.
    pub(super) fn positions(&self, band: usize) -> Range<i64> {
        let overhang = self.atom[self.axis] - 1;
        let all = self.whole.padded()[self.axis] + overhang;
        let cut = |band: usize| (band * all / self.count) as i64 - overhang as i64;
        cut(band)..cut(band + 1)
    }

    /// Samples that carry a data term along an axis: with the zero border also those around the signal.
    fn domain(&self, axis: usize) -> Range<i64> {
        let pad = if self.border == Border::Zero { self.atom[axis] as i64 - 1 } else { 0 };
        -pad..self.whole.padded()[axis] as i64 + pad
    }

    /// Samples that the needles of a band touch along the first axis.
    fn touched(&self, band: usize) -> Range<i64> {
        let (positions, domain) = (self.positions(band), self.domain(self.axis));
        positions.start.max(domain.start)..(positions.end + self.atom[self.axis] as i64 - 1).min(domain.end)
    }

    /// Rows of the signal that a band reads.
    pub(super) fn rows(&self, band: usize) -> Range<usize> {
        let touched = self.touched(band);
        touched.start.max(0) as usize..touched.end.clamp(0, self.whole.padded()[self.axis] as i64) as usize
    }

    /// First sample of the window of a band, in samples of the signal.
    pub(super) fn origin(&self, band: usize) -> [i64; 3] {
        std::array::from_fn(|axis| if axis == self.axis { self.touched(band).start } else { self.domain(axis).start })
    }

    /// Size of the window of a band.
    pub(super) fn extent(&self, band: usize) -> Extent {
        self.whole.with_padded(std::array::from_fn(|axis| {
            let range = if axis == self.axis { self.touched(band) } else { self.domain(axis) };
            (range.end - range.start) as usize
        }))
    }

    /// Positions of a band, relative to its window.
    pub(super) fn open_positions(&self, band: usize) -> [Range<i64>; 3] {
        let origin = self.origin(band);
        std::array::from_fn(|axis| {
            let all = 1 - self.atom[axis] as i64..self.whole.padded()[axis] as i64;
            let open = if axis == self.axis { self.positions(band) } else { all };
            open.start - origin[axis]..open.end - origin[axis]
        })
    }

    /// Samples of the window of a band whose data term is counted with it: those of its positions, and behind the last band all.
    pub(super) fn own(&self, band: usize) -> Part {
        let (positions, touched) = (self.positions(band), self.touched(band));
        let end = if band + 1 == self.count { touched.end } else { positions.end };
        let mut part = self.extent(band).padded().map(|length| 0..length);
        part[self.axis] = 0..(end - touched.start) as usize;
        part
    }

    /// Own samples of a band that needles of the band before it touch too.
    pub(super) fn shared(&self, band: usize) -> Part {
        let mut part = self.own(band);
        let rows = if band == 0 { 0 } else { self.atom[self.axis] - 1 };
        part[self.axis] = 0..rows.min(part[self.axis].end);
        part
    }

    /// The window of a band from what was read of it: zeros around the signal where the border says so, and they count.
    pub(super) fn window<T: Real>(&self, band: usize, piece: Piece<T>) -> Result<Piece<T>> {
        let (origin, extent, first) = (self.origin(band), self.extent(band), self.rows(band).start as i64);
        let at: [usize; 3] = std::array::from_fn(|axis| (if axis == self.axis { first } else { 0 } - origin[axis]) as usize);
        let spread = |from: Signal<T>, with: T| {
            if from.extent() == extent {
                return Ok(from);
            }
            let (inner, size, channels) = (from.extent().padded(), extent.padded(), from.channels());
            let mut data = vec![with; channels * extent.volume()];
            for (row, line) in from.data().chunks_exact(inner[2]).enumerate() {
                let (c, z, y) = (row / (inner[0] * inner[1]), row / inner[1] % inner[0], row % inner[1]);
                let start = ((c * size[0] + z + at[0]) * size[1] + y + at[1]) * size[2] + at[2];
                data[start..start + inner[2]].copy_from_slice(line);
            }
            Signal::from_planar(extent, channels, data)
        };
        let weights = piece.weights.map(|weights| spread(weights, T::ONE)).transpose()?;
        Ok(Piece { samples: spread(piece.samples, T::ZERO)?, weights })
    }

    /// Does a code at this place of the first axis touch samples that needles of other bands touch?
    pub(super) fn is_edge(&self, position: i64, band: usize) -> bool {
        let (positions, reach) = (self.positions(band), self.atom[self.axis] as i64 - 1);
        position < positions.start + reach || position >= positions.end - reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bands_cover_positions_and_samples_once(
            length in 1usize..200, atom in 1usize..12, rows in 1usize..60, zero: bool,
        ) {
            let border = if zero { Border::Zero } else { Border::Free };
            let (whole, atom) = (Extent::new(&[length, 7]).unwrap(), Extent::new(&[atom, 3]).unwrap());
            let cut = Cut::new(whole, atom, border, rows);
            let (mut position, mut sample) = (1 - cut.atom[1] as i64, cut.domain(1).start);
            for band in 0..cut.count {
                let (positions, own) = (cut.positions(band), cut.own(band));
                prop_assert_eq!(positions.start, position);
                prop_assert!(cut.count == 1 || positions.clone().count() >= cut.atom[1]);
                prop_assert!(positions.clone().count() <= rows.max(2 * cut.atom[1]) || cut.count == 1);
                prop_assert_eq!(cut.origin(band)[1], sample);
                position = positions.end;
                sample += own[1].end as i64;
                prop_assert!(own[1].end <= cut.extent(band).padded()[1]);
            }
            prop_assert_eq!((position, sample), (length as i64, cut.domain(1).end));
        }
    }
}
