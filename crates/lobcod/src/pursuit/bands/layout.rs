//! Splits the positions of a signal into bands.

use super::Strip;
use crate::border::Border;
use crate::error::Result;
use crate::extent::Extent;
use crate::geometry::{InSignal, InWhole, Origin, Point, Raster, Region};
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// Minimum height of a band, in atoms; lower bands converge slowly.
const LEAST_ATOMS: usize = 4;
/// Positions solved together on each side of a seam: this many atoms, but at least this many rows.
const SEAM_ATOMS: usize = 6;
const SEAM_ROWS: usize = 32;

/// Bands of positions along the first axis, high enough that needles overlap only those of the two
/// neighbouring bands.
#[derive(Clone, Copy, Debug)]
pub struct BandLayout {
    whole: Extent,
    border: Border,
    /// Extent of an atom.
    pub atom: [usize; 3],
    /// Index of the first axis among the three.
    pub axis: usize,
    pub count: usize,
}

impl BandLayout {
    /// Creates bands of at most `rows` positions along the first axis, or of a few atoms if that is
    /// more.
    pub fn new(whole: Extent, atom: Extent, border: Border, rows: usize) -> Self {
        let axis = 3 - whole.rank();
        let atom = atom.padded();
        let positions = whole.padded()[axis] + atom[axis] - 1;
        let count =
            positions.div_ceil(rows.max(1)).min(positions / (LEAST_ATOMS * atom[axis])).max(1);
        Self { whole, border, atom, axis, count }
    }

    /// Halves every band; `None` if they would become too low.
    pub fn halved(&self) -> Option<Self> {
        let positions = self.whole.padded()[self.axis] + self.atom[self.axis] - 1;
        (positions / (LEAST_ATOMS * self.atom[self.axis]) >= 2 * self.count)
            .then_some(Self { count: 2 * self.count, ..*self })
    }

    /// Positions of a band along the first axis.
    pub fn positions(&self, band: usize) -> Range<i64> {
        let overhang = self.atom[self.axis] - 1;
        let all = self.whole.padded()[self.axis] + overhang;
        let layout = |band: usize| (band * all / self.count) as i64 - overhang as i64;
        layout(band)..layout(band + 1)
    }

    /// Samples along an axis that have a data term.
    fn domain(&self, axis: usize) -> Range<i64> {
        let pad = if self.border == Border::Zero { self.atom[axis] as i64 - 1 } else { 0 };
        -pad..self.whole.padded()[axis] as i64 + pad
    }

    /// All positions along the first axis.
    pub fn all(&self) -> Range<i64> {
        self.positions(0).start..self.positions(self.count - 1).end
    }

    fn seam_overlap(&self) -> i64 {
        (SEAM_ATOMS * self.atom[self.axis]).max(SEAM_ROWS) as i64
    }

    /// Positions around the seam between a band and its predecessor.
    pub fn seam(&self, band: usize) -> Range<i64> {
        let (before, behind) = (self.positions(band - 1), self.positions(band));
        let (seam, overlap) = (behind.start, self.seam_overlap());
        seam - overlap.min(seam - before.start)..seam + overlap.min(behind.end - seam)
    }

    /// Ranges of positions that are measured together: those near a seam, and those between. In low
    /// bands the zones of two seams touch.
    pub fn zones(&self) -> Vec<Range<i64>> {
        let felt = self.seam_overlap() + self.atom[self.axis] as i64 - 1;
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

    /// Positions whose needles touch a sample that needles at the given positions also touch.
    pub fn around(&self, positions: &Range<i64>) -> Range<i64> {
        let overlap = self.atom[self.axis] as i64 - 1;
        positions.start - overlap..positions.end + overlap
    }

    /// Samples that needles at these positions touch along the first axis.
    fn touched(&self, positions: &Range<i64>) -> Range<i64> {
        let domain = self.domain(self.axis);
        positions.start.max(domain.start)
            ..(positions.end + self.atom[self.axis] as i64 - 1).min(domain.end)
    }

    /// Rows of the signal among those samples.
    pub fn rows(&self, positions: &Range<i64>) -> Range<usize> {
        let (touched, length) = (self.touched(positions), self.whole.padded()[self.axis] as i64);
        touched.start.clamp(0, length) as usize..touched.end.clamp(0, length) as usize
    }

    /// The window of these positions: the samples their needles touch.
    fn region(&self, positions: &Range<i64>) -> Region<InWhole> {
        Region::of(
            |axis| if axis == self.axis { self.touched(positions) } else { self.domain(axis) },
        )
    }

    /// Location of that window.
    pub fn origin(&self, positions: &Range<i64>) -> Origin {
        Origin { first: self.region(positions).first() }
    }

    /// Size of that window.
    pub fn extent(&self, positions: &Range<i64>) -> Extent {
        self.whole.with_padded(self.region(positions).size)
    }

    /// The positions, relative to their window.
    pub fn open_positions(&self, positions: &Range<i64>) -> Region<InSignal> {
        let all = Region::of(|a| 1 - self.atom[a] as i64..self.whole.region().end(a));
        let open = all.with_range(self.axis, positions.clone());
        self.origin(positions).region_to_signal(&open)
    }

    /// Samples of the window whose data term is counted with the positions `own`; the last
    /// positions also count all samples after them.
    pub fn own(&self, positions: &Range<i64>, own: &Range<i64>) -> Region<InSignal> {
        let touched = self.touched(positions);
        let end = if own.end == self.whole.region().end(self.axis) { touched.end } else { own.end };
        let own = own.start.max(touched.start) - touched.start..end - touched.start;
        self.extent(positions).region().with_range(self.axis, own)
    }

    /// Own samples that needles before these positions also touch.
    pub fn shared(&self, positions: &Range<i64>) -> Region<InSignal> {
        let own = self.own(positions, positions);
        let overlap = self.atom[self.axis] as i64 - 1;
        let rows = if positions.start == -overlap { 0 } else { overlap };
        own.with_range(self.axis, 0..rows.min(own.end(self.axis)))
    }

    /// The window of these positions, including the zeros of a zero border.
    pub fn window<T: Real>(&self, positions: &Range<i64>, piece: Strip<T>) -> Result<Strip<T>> {
        let (window, extent) = (self.region(positions), self.extent(positions));
        let first = Point::new(std::array::from_fn(|a| {
            if a == self.axis { self.rows(positions).start as i64 } else { 0 }
        }));
        let lay = |from: Signal<T>, around: T| {
            let channels = from.channels();
            let raster = Raster::new(Region::new(first, from.extent().padded()), channels);
            if raster.region == window {
                return Ok(from);
            }
            Signal::from_planar(extent, channels, raster.gather(from.data(), &window, around, 1))
        };
        let weights = piece.weights.map(|weights| lay(weights, T::ONE)).transpose()?;
        Ok(Strip { samples: lay(piece.samples, T::ZERO)?, weights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bands_cover_positions_and_samples_once(
            length in 1usize..200,
            atom in 1usize..12,
            rows in 1usize..60,
            zero: bool,
        ) {
            let border = if zero { Border::Zero } else { Border::Free };
            let (whole, atom) =
                (Extent::new(&[length, 7]).unwrap(), Extent::new(&[atom, 3]).unwrap());
            let layout = BandLayout::new(whole, atom, border, rows);
            let (mut position, mut sample) = (1 - layout.atom[1] as i64, layout.domain(1).start);
            for band in 0..layout.count {
                let positions = layout.positions(band);
                let own = layout.own(&positions, &positions);
                prop_assert_eq!(positions.start, position);
                prop_assert!(
                    layout.count == 1 || positions.clone().count() >= LEAST_ATOMS * layout.atom[1]
                );
                prop_assert!(
                    positions.clone().count() <= rows.max(2 * LEAST_ATOMS * layout.atom[1])
                        || layout.count == 1
                );
                prop_assert_eq!(layout.origin(&positions).first.at[1], sample);
                if band + 1 < layout.count {
                    let (seam, next) = (layout.seam(band + 1), layout.positions(band + 1));
                    prop_assert!(seam.start < positions.end && seam.end > positions.end);
                    prop_assert!(seam.start >= positions.start && seam.end <= next.end);
                }
                if let Some(halved) = layout.halved() {
                    prop_assert_eq!(halved.positions(2 * band).start, positions.start);
                    prop_assert_eq!(halved.positions(2 * band + 1).end, positions.end);
                }
                position = positions.end;
                sample += own.end(1);
                prop_assert!(own.end(1) <= layout.extent(&positions).region().end(1));
            }
            prop_assert_eq!((position, sample), (length as i64, layout.domain(1).end));
            let zones = layout.zones();
            prop_assert!(zones.windows(2).all(|pair| pair[0].end == pair[1].start));
            prop_assert_eq!(zones[0].start..zones[zones.len() - 1].end, layout.all());
        }
    }
}
