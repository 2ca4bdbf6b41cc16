//! Ranges of positions whose codes are stored together.

use super::layout::BandLayout;
use std::ops::Range;

/// All positions, split along the first axis wherever a band, seam or zone (or its surroundings)
/// begins or ends.
pub struct Pieces {
    edges: Vec<i64>,
}

impl Pieces {
    pub fn new(layout: &BandLayout) -> Self {
        let all = layout.all();
        let seams = (1..layout.count).map(|band| layout.seam(band));
        let ranges =
            (0..layout.count).map(|band| layout.positions(band)).chain(seams).chain(layout.zones());
        let ends = |range: Range<i64>| {
            let felt = layout.around(&range);
            [felt.start, range.start, range.end, felt.end]
        };
        let mut edges: Vec<i64> =
            ranges.flat_map(ends).map(|edge| edge.clamp(all.start, all.end)).collect();
        edges.sort_unstable();
        edges.dedup();
        Self { edges }
    }

    /// Splits the pieces further, at the boundaries of another layout.
    pub fn split_further(&self, layout: &BandLayout) -> Self {
        let mut edges = [&self.edges[..], &Self::new(layout).edges].concat();
        edges.sort_unstable();
        edges.dedup();
        Self { edges }
    }

    pub fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// Positions of a piece.
    pub fn range(&self, piece: usize) -> Range<i64> {
        self.edges[piece]..self.edges[piece + 1]
    }

    /// The pieces that make up a range, clipped to existing positions.
    pub fn of(&self, range: &Range<i64>) -> Range<usize> {
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
        fn bands_seams_and_zones_consist_of_whole_pieces(
            length in 1usize..400,
            atom in 1usize..12,
            rows in 1usize..200,
        ) {
            let (whole, atom) = (Extent::new(&[length]).unwrap(), Extent::new(&[atom]).unwrap());
            let layout = BandLayout::new(whole, atom, Border::Free, rows);
            let (pieces, all) = (Pieces::new(&layout), layout.all());
            let seams = (1..layout.count).map(|band| layout.seam(band));
            for range in (0..layout.count)
                .map(|band| layout.positions(band))
                .chain(seams)
                .chain(layout.zones())
            {
                for range in [range.clone(), layout.around(&range)] {
                    let own = pieces.of(&range);
                    prop_assert_eq!(pieces.edges[own.start], range.start.max(all.start));
                    prop_assert_eq!(pieces.range(own.end - 1).end, range.end.min(all.end));
                }
            }
            prop_assert_eq!(pieces.of(&all), 0..pieces.edges.len() - 1);
        }
    }
}
