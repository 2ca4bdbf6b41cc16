//! One axis cut into tiles and coloured.

/// A tile's part of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisTile {
    /// First position.
    pub start: usize,
    /// Number of positions.
    pub length: usize,
    /// Colour along this axis.
    pub colour: usize,
}

/// An axis cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisCut {
    /// The tiles in order.
    pub tiles: Vec<AxisTile>,
    /// Colours in use, 1 to 3.
    pub colours: usize,
    /// One tile that closes on itself (a short periodic axis).
    pub wraps: bool,
}

/// Cuts `positions` into tiles of about `target`, none shorter than `atom - 1` where another follows, so that the footprints of
/// every other tile are disjoint. A periodic axis with an odd number of tiles gives the last one a third colour; one too short
/// for two tiles is a single tile that wraps.
pub fn cut_axis(positions: usize, atom: usize, target: usize, periodic: bool) -> AxisCut {
    let shortest = (atom - 1).max(1);
    let wanted = target.min(positions).max(shortest);
    // Nearest whole number of tiles, fewer where they would come out too short.
    let count = ((2 * positions + wanted) / (2 * wanted)).clamp(1, (positions / shortest).max(1));
    let start = |i: usize| i * positions / count;
    let tiles: Vec<AxisTile> = (0..count)
        .map(|i| {
            let colour = if periodic && count % 2 == 1 && count > 1 && i == count - 1 { 2 } else { i % 2 };
            AxisTile { start: start(i), length: start(i + 1) - start(i), colour }
        })
        .collect();
    let colours = tiles.iter().map(|t| t.colour + 1).max().unwrap_or(1);
    AxisCut { tiles, colours, wraps: periodic && count == 1 && atom > 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_cover_the_axis_and_footprints_of_a_colour_are_disjoint(
            positions in 1usize..400, atom in 1usize..40, target in 1usize..80, periodic: bool,
        ) {
            prop_assume!(!periodic || positions >= atom);
            let cut = cut_axis(positions, atom, target, periodic);
            let mut next = 0;
            for t in &cut.tiles {
                prop_assert_eq!(t.start, next);
                prop_assert!(t.length > 0 && t.colour < cut.colours);
                next += t.length;
            }
            prop_assert_eq!(next, positions);
            if cut.wraps {
                prop_assert!(periodic && cut.tiles.len() == 1);
                return Ok(());
            }
            let room = if periodic { positions } else { positions + atom - 1 };
            for colour in 0..cut.colours {
                let mut touched = vec![false; room];
                for t in cut.tiles.iter().filter(|t| t.colour == colour) {
                    for sample in t.start..t.start + t.length + atom - 1 {
                        prop_assert!(!std::mem::replace(&mut touched[sample % room], true));
                    }
                }
            }
        }
    }
}
