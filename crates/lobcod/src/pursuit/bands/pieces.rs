//! Rows of positions whose codes are kept together.

use super::cut::Cut;
use std::ops::Range;

/// All positions cut along the first axis wherever something that is worked on, measured or felt begins or ends, so that each of
/// these is made of whole pieces.
pub(super) struct Pieces {
    edges: Vec<i64>,
}

impl Pieces {
    pub(super) fn new(cut: &Cut) -> Self {
        let all = cut.all();
        let seams = (1..cut.count).map(|band| cut.seam(band));
        let ranges = (0..cut.count).map(|band| cut.positions(band)).chain(seams).chain(cut.zones());
        let ends = |range: Range<i64>| {
            let felt = cut.around(&range);
            [felt.start, range.start, range.end, felt.end]
        };
        let mut edges: Vec<i64> = ranges.flat_map(ends).map(|edge| edge.clamp(all.start, all.end)).collect();
        edges.sort_unstable();
        edges.dedup();
        Self { edges }
    }

    /// Pieces that are also cut as another cut wants it.
    pub(super) fn cut_further(&self, cut: &Cut) -> Self {
        let mut edges = [&self.edges[..], &Self::new(cut).edges].concat();
        edges.sort_unstable();
        edges.dedup();
        Self { edges }
    }

    pub(super) fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// Positions of a piece.
    pub(super) fn range(&self, piece: usize) -> Range<i64> {
        self.edges[piece]..self.edges[piece + 1]
    }

    /// The pieces that a range is made of, as far as there are positions in it.
    pub(super) fn of(&self, range: &Range<i64>) -> Range<usize> {
        let at = |edge: i64| self.edges.partition_point(|&e| e < edge).min(self.edges.len() - 1);
        at(range.start)..at(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Border;
    use crate::extent::Extent;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_worked_on_measured_or_felt_is_made_of_whole_pieces(
            length in 1usize..400, atom in 1usize..12, rows in 1usize..200,
        ) {
            let (whole, atom) = (Extent::new(&[length]).unwrap(), Extent::new(&[atom]).unwrap());
            let cut = Cut::new(whole, atom, Border::Free, rows);
            let (pieces, all) = (Pieces::new(&cut), cut.all());
            let seams = (1..cut.count).map(|band| cut.seam(band));
            for range in (0..cut.count).map(|band| cut.positions(band)).chain(seams).chain(cut.zones()) {
                for range in [range.clone(), cut.around(&range)] {
                    let own = pieces.of(&range);
                    prop_assert_eq!(pieces.edges[own.start], range.start.max(all.start));
                    prop_assert_eq!(pieces.range(own.end - 1).end, range.end.min(all.end));
                }
            }
            prop_assert_eq!(pieces.of(&all), 0..pieces.edges.len() - 1);
        }
    }
}
