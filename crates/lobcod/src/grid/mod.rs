//! The schedule in space: colours of tiles, layers of needles.
//!
//! A *tile* is a block of positions; work on it touches only its footprint (the tile and the `h - 1` samples behind it). Tiles of
//! one *colour* have disjoint footprints, so they run in any order or at once. Inside a tile the needles of a *layer* have disjoint
//! patches. The grid depends on the problem alone, never on threads, ranks or caches: that is what makes answers bit-identical.

mod axis;
mod frame;
mod layer;

pub use axis::{AxisCut, cut_axis};
pub use frame::{Frame, TileRange};
pub use layer::{AxisLayer, AxisLayers, axis_order};

use crate::border::Border;
use crate::error::Result;
use crate::extent::Extent;

/// How the positions of a signal are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Tiles of about this many positions along each axis, layers inside each.
    Tiles(usize),
    /// One tile, its layers as in Algorithm 2.
    WholeLayers,
    /// One tile, every needle a layer of its own as in Algorithm 1.
    SingleNeedles,
}

impl Grouping {
    /// Tiles of about 1024 positions whatever the rank.
    pub fn default_tiles(rank: usize) -> Self {
        Grouping::Tiles([1024, 32, 10][rank - 1])
    }
}

/// A block of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// First position, in samples of the domain (may be negative for the free border).
    pub origin: [i64; 3],
    /// Positions along each axis.
    pub size: [usize; 3],
    /// Colour; tiles of one colour have disjoint footprints.
    pub colour: usize,
}

/// All tiles of one signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Samples that carry a data term (the padded signal for the zero border).
    pub domain: [usize; 3],
    /// First sample of the domain, in samples of that of the whole signal; not 0 for a block of tiles.
    pub start: [i64; 3],
    /// Where the signal begins in the domain of the whole.
    pub signal_at: [usize; 3],
    /// Positions along each axis.
    pub positions: [usize; 3],
    /// First position, in samples of the domain.
    pub first: [i64; 3],
    /// Samples up to here are counted with these tiles; those behind, with the tiles of another block.
    pub own_end: [usize; 3],
    /// Box of an atom.
    pub atom: [usize; 3],
    /// Axes on which the domain repeats.
    pub periodic: [bool; 3],
    /// Axes on which the single tile closes on itself.
    pub wraps: [bool; 3],
    /// Distance between the needles of a layer.
    pub period: [usize; 3],
    /// The tiles, last axis fastest.
    pub tiles: Vec<Tile>,
    /// Tiles along each axis.
    pub tile_counts: [usize; 3],
    /// Number of colours.
    pub colours: usize,
}

impl Grid {
    /// The grid of a signal under a border rule.
    pub fn new(signal: Extent, atom: Extent, border: Border, grouping: Grouping) -> Result<Self> {
        let frame = Frame::new(signal, atom, border, grouping)?;
        Ok(frame.block(&frame.all()))
    }

    /// Appends samples of the signal, channel after channel, laid out in the domain, with `with` around them.
    pub fn spread<T: Copy>(&self, signal: Extent, data: &[T], with: T, into: &mut Vec<T>) {
        let signal = signal.padded();
        if self.domain == signal {
            return into.extend_from_slice(data);
        }
        let (channels, domain, at) = (data.len() / signal.iter().product::<usize>(), self.domain, self.signal_at);
        let first = into.len();
        into.resize(first + channels * domain.iter().product::<usize>(), with);
        for (row, line) in data.chunks_exact(signal[2]).enumerate() {
            let (c, z, y) = (row / (signal[0] * signal[1]), row / signal[1] % signal[0], row % signal[1]);
            let start = first + ((c * domain[0] + z + at[0]) * domain[1] + y + at[1]) * domain[2] + at[2];
            into[start..start + signal[2]].copy_from_slice(line);
        }
    }

    /// The same domain as a single tile, whose needles are grouped as asked.
    pub(crate) fn as_one_tile(&self) -> Self {
        let wraps = std::array::from_fn(|a| self.periodic[a] && self.atom[a] > 1);
        let whole = Tile { origin: self.first, size: self.positions, colour: 0 };
        Self { wraps, tiles: vec![whole], tile_counts: [1; 3], colours: 1, ..self.clone() }
    }

    /// Largest tile along each axis.
    pub fn largest_tile(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.tiles.iter().map(|t| t.size[a]).max().unwrap_or(1))
    }

    /// Tiles whose footprints overlap that of tile `index`, itself left out.
    pub fn neighbours(&self, index: usize) -> Vec<usize> {
        let counts = self.tile_counts.map(|c| c as i64);
        let at = [index / (self.tile_counts[1] * self.tile_counts[2]), index / self.tile_counts[2] % self.tile_counts[1]];
        let at = [at[0] as i64, at[1] as i64, (index % self.tile_counts[2]) as i64];
        let mut found = Vec::with_capacity(26);
        for step in 0..27i64 {
            let mut to: [i64; 3] = std::array::from_fn(|a| at[a] + step / [9, 3, 1][a] % 3 - 1);
            for axis in (0..3).filter(|&a| self.periodic[a]) {
                to[axis] = to[axis].rem_euclid(counts[axis]);
            }
            if (0..3).all(|a| (0..counts[a]).contains(&to[a])) {
                found.push(((to[0] * counts[1] + to[1]) * counts[2] + to[2]) as usize);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&other| other != index);
        found
    }

    /// Do two tiles begin at the same place of the first axis that is longer than 1?
    pub(crate) fn in_one_row(&self, a: usize, b: usize) -> bool {
        let axis = (0..3).find(|&axis| self.positions[axis] > 1).unwrap_or(0);
        self.tiles[a].origin[axis] == self.tiles[b].origin[axis]
    }

    /// Samples of the domain whose data term is counted with a tile: every sample with one tile.
    pub fn own_samples(&self, tile: &Tile) -> [std::ops::Range<usize>; 3] {
        std::array::from_fn(|a| {
            let end = tile.origin[a] + tile.size[a] as i64;
            let last = end == self.first[a] + self.positions[a] as i64;
            let end = if last { self.own_end[a] } else { end.clamp(0, self.domain[a] as i64) as usize };
            (tile.origin[a].max(0) as usize).min(end)..end
        })
    }

    /// Number of positions.
    pub fn position_count(&self) -> usize {
        self.positions.iter().product()
    }
}
