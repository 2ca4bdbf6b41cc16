//! One axis split into coloured tiles.

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

/// An axis split into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisTiles {
    /// The tiles in order.
    pub tiles: Vec<AxisTile>,
    /// Colours in use, 1 to 3.
    pub colours: usize,
    /// Whether there is a single tile that wraps around (a short periodic axis).
    pub wraps: bool,
}

/// Splits `positions` into tiles of about `target`, none shorter than `atom - 1`, so that
/// footprints of every other tile are disjoint. With an odd number of tiles on a periodic axis the
/// last gets a third colour; a single tile wraps.
pub fn split_axis(positions: usize, atom: usize, target: usize, periodic: bool) -> AxisTiles {
    let shortest = (atom - 1).max(1);
    let wanted = target.min(positions).max(shortest);
    // Nearest integer number of tiles, fewer if they would be too short.
    let count = ((2 * positions + wanted) / (2 * wanted)).clamp(1, (positions / shortest).max(1));
    let start = |i: usize| i * positions / count;
    let tiles: Vec<AxisTile> = (0..count)
        .map(|i| {
            let colour =
                if periodic && count % 2 == 1 && count > 1 && i == count - 1 { 2 } else { i % 2 };
            AxisTile { start: start(i), length: start(i + 1) - start(i), colour }
        })
        .collect();
    let colours = tiles.iter().map(|t| t.colour + 1).max().unwrap_or(1);
    AxisTiles { tiles, colours, wraps: periodic && count == 1 && atom > 1 }
}
