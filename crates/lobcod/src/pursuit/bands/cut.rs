//! How the positions of a signal are cut into bands.

use super::Piece;
use crate::border::Border;
use crate::engine::Part;
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// The lowest band, in atoms. Lower ones meet so often that passes over them never seem to end.
const LEAST_ATOMS: usize = 4;
/// Positions to each side of a seam that are worked on together: this many atoms, or this many rows where that is more.
const SEAM_ATOMS: usize = 6;
const SEAM_ROWS: usize = 32;

/// Bands of positions along the first axis, none lower than a few atoms, so that needles of a band meet those of its two neighbours
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
    /// Bands of at most `rows` positions along the first axis, or of a few atoms where that is more.
    pub(super) fn new(whole: Extent, atom: Extent, border: Border, rows: usize) -> Self {
        let axis = 3 - whole.rank();
        let atom = atom.padded();
        let positions = whole.padded()[axis] + atom[axis] - 1;
        let count = positions.div_ceil(rows.max(1)).min(positions / (LEAST_ATOMS * atom[axis])).max(1);
        Self { whole, border, atom, axis, count }
    }

    /// Every band cut in two; `None` where they would be too low.
    pub(super) fn halved(&self) -> Option<Self> {
        let positions = self.whole.padded()[self.axis] + self.atom[self.axis] - 1;
        (positions / (LEAST_ATOMS * self.atom[self.axis]) >= 2 * self.count).then_some(Self { count: 2 * self.count, ..*self })
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

    /// All positions along the first axis.
    pub(super) fn all(&self) -> Range<i64> {
        self.positions(0).start..self.positions(self.count - 1).end
    }

    fn seam_reach(&self) -> i64 {
        (SEAM_ATOMS * self.atom[self.axis]).max(SEAM_ROWS) as i64
    }

    /// Positions around the seam between a band and the one before it: far enough to both sides that what is beyond hardly feels it.
    pub(super) fn seam(&self, band: usize) -> Range<i64> {
        let (before, behind) = (self.positions(band - 1), self.positions(band));
        let (cut, reach) = (behind.start, self.seam_reach());
        cut - reach.min(cut - before.start)..cut + reach.min(behind.end - cut)
    }

    /// Positions that are measured together: around every seam those that feel what is done there, and those between. In low bands
    /// the zones of two seams meet in the middle.
    pub(super) fn zones(&self) -> Vec<Range<i64>> {
        let felt = self.seam_reach() + self.atom[self.axis] as i64 - 1;
        let mut edges = vec![self.all().start];
        for band in 0..self.count {
            let Range { start, end } = self.positions(band);
            let middle = start + (end - start) / 2;
            edges.extend((band > 0).then_some(middle.min(start + felt)));
            edges.extend((band + 1 < self.count).then_some(middle.max(end - felt)));
        }
        edges.push(self.all().end);
        edges.windows(2).map(|pair| pair[0]..pair[1]).filter(|zone| !zone.is_empty()).collect()
    }

    /// Positions that touch samples which needles of these positions touch.
    pub(super) fn around(&self, positions: &Range<i64>) -> Range<i64> {
        let reach = self.atom[self.axis] as i64 - 1;
        positions.start - reach..positions.end + reach
    }

    /// Samples that needles at these positions touch along the first axis.
    fn touched(&self, positions: &Range<i64>) -> Range<i64> {
        let domain = self.domain(self.axis);
        positions.start.max(domain.start)..(positions.end + self.atom[self.axis] as i64 - 1).min(domain.end)
    }

    /// Rows of the signal among them.
    pub(super) fn rows(&self, positions: &Range<i64>) -> Range<usize> {
        let (touched, length) = (self.touched(positions), self.whole.padded()[self.axis] as i64);
        touched.start.clamp(0, length) as usize..touched.end.clamp(0, length) as usize
    }

    /// First sample of the window of these positions, in samples of the signal.
    pub(super) fn origin(&self, positions: &Range<i64>) -> [i64; 3] {
        std::array::from_fn(|axis| if axis == self.axis { self.touched(positions).start } else { self.domain(axis).start })
    }

    /// Size of that window.
    pub(super) fn extent(&self, positions: &Range<i64>) -> Extent {
        self.whole.with_padded(std::array::from_fn(|axis| {
            let range = if axis == self.axis { self.touched(positions) } else { self.domain(axis) };
            (range.end - range.start) as usize
        }))
    }

    /// The positions, relative to their window.
    pub(super) fn open_positions(&self, positions: &Range<i64>) -> [Range<i64>; 3] {
        let origin = self.origin(positions);
        std::array::from_fn(|axis| {
            let all = 1 - self.atom[axis] as i64..self.whole.padded()[axis] as i64;
            let open = if axis == self.axis { positions.clone() } else { all };
            open.start - origin[axis]..open.end - origin[axis]
        })
    }

    /// Samples of the window of some positions whose data term is counted with `own` of these: those at them, and behind the last
    /// of all every one.
    pub(super) fn own(&self, positions: &Range<i64>, own: &Range<i64>) -> Part {
        let touched = self.touched(positions);
        let end = if own.end == self.whole.padded()[self.axis] as i64 { touched.end } else { own.end };
        let mut part = self.extent(positions).padded().map(|length| 0..length);
        part[self.axis] = (own.start.max(touched.start) - touched.start) as usize..(end - touched.start) as usize;
        part
    }

    /// Own samples that needles before these positions touch too.
    pub(super) fn shared(&self, positions: &Range<i64>) -> Part {
        let mut part = self.own(positions, positions);
        let reach = self.atom[self.axis] - 1;
        let rows = if positions.start == -(reach as i64) { 0 } else { reach };
        part[self.axis] = 0..rows.min(part[self.axis].end);
        part
    }

    /// The window of these positions from what was read of it: zeros around the signal where the border says so, and they count.
    pub(super) fn window<T: Real>(&self, positions: &Range<i64>, piece: Piece<T>) -> Result<Piece<T>> {
        let (origin, extent, first) = (self.origin(positions), self.extent(positions), self.rows(positions).start as i64);
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
                let positions = cut.positions(band);
                let own = cut.own(&positions, &positions);
                prop_assert_eq!(positions.start, position);
                prop_assert!(cut.count == 1 || positions.clone().count() >= LEAST_ATOMS * cut.atom[1]);
                prop_assert!(positions.clone().count() <= rows.max(2 * LEAST_ATOMS * cut.atom[1]) || cut.count == 1);
                prop_assert_eq!(cut.origin(&positions)[1], sample);
                if band + 1 < cut.count {
                    let (seam, next) = (cut.seam(band + 1), cut.positions(band + 1));
                    prop_assert!(seam.start < positions.end && seam.end > positions.end);
                    prop_assert!(seam.start >= positions.start && seam.end <= next.end);
                }
                if let Some(halved) = cut.halved() {
                    prop_assert_eq!(halved.positions(2 * band).start, positions.start);
                    prop_assert_eq!(halved.positions(2 * band + 1).end, positions.end);
                }
                position = positions.end;
                sample += own[1].end as i64;
                prop_assert!(own[1].end <= cut.extent(&positions).padded()[1]);
            }
            prop_assert_eq!((position, sample), (length as i64, cut.domain(1).end));
            let zones = cut.zones();
            prop_assert!(zones.windows(2).all(|pair| pair[0].end == pair[1].start));
            prop_assert_eq!(zones[0].start..zones[zones.len() - 1].end, cut.all());
        }
    }
}
