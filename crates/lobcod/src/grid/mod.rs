//! The schedule in space: colours of tiles, layers of needles.
//!
//! A *tile* is a block of positions; work on it touches only its footprint (the tile and the `h - 1` samples behind it). Tiles of
//! one *colour* have disjoint footprints, so they run in any order or at once. Inside a tile the needles of a *layer* have disjoint
//! patches. The grid depends on the problem alone, never on threads, ranks or caches: that is what makes answers bit-identical.

mod axis;
mod layer;

pub use axis::{AxisCut, cut_axis};
pub use layer::{AxisLayer, axis_layers, axis_order};

use crate::border::Border;
use crate::error::{Error, Result};
use crate::extent::Extent;
use std::ops::Range;

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
    /// Where the signal begins in the domain.
    pub signal_at: [usize; 3],
    /// Positions along each axis.
    pub positions: [usize; 3],
    /// First position, in samples of the domain.
    pub first: [i64; 3],
    /// Box of an atom.
    pub atom: [usize; 3],
    /// Does the domain repeat?
    pub periodic: bool,
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

/// What is cut into tiles.
struct Span {
    domain: [usize; 3],
    signal_at: [usize; 3],
    positions: [usize; 3],
    first: [i64; 3],
    atom: [usize; 3],
    periodic: bool,
}

impl Grid {
    /// The grid of a signal under a border rule.
    pub fn new(signal: Extent, atom: Extent, border: Border, grouping: Grouping) -> Result<Self> {
        if signal.rank() != atom.rank() {
            return Err(Error::Shape(format!(
                "the signal has {} axes but the atoms have {}; choose a dictionary of the same rank or name the axes",
                signal.rank(),
                atom.rank()
            )));
        }
        let (length, box_) = (signal.padded(), atom.padded());
        let periodic = border == Border::Periodic;
        if periodic && (0..3).any(|a| length[a] < box_[a]) {
            return Err(Error::Shape(format!(
                "a {signal} signal is shorter than the {atom} atoms, which the periodic border does not allow; use the free border"
            )));
        }
        let margin = box_.map(|h| h - 1);
        let pad = if border == Border::Zero { margin } else { [0; 3] };
        let domain: [usize; 3] = std::array::from_fn(|a| length[a] + 2 * pad[a]);
        let positions: [usize; 3] = std::array::from_fn(|a| if periodic { length[a] } else { length[a] + margin[a] });
        let first: [i64; 3] = std::array::from_fn(|a| if border == Border::Free { -(margin[a] as i64) } else { 0 });
        Ok(Self::cut(Span { domain, signal_at: pad, positions, first, atom: box_, periodic }, grouping))
    }

    /// The grid of the given positions alone, relative to the signal; samples beyond its edge are free.
    pub(crate) fn of_positions(signal: Extent, atom: Extent, positions: &[Range<i64>; 3], grouping: Grouping) -> Self {
        let (first, count) = (std::array::from_fn(|a| positions[a].start), std::array::from_fn(|a| positions[a].clone().count()));
        let (domain, atom) = (signal.padded(), atom.padded());
        Self::cut(Span { domain, signal_at: [0; 3], positions: count, first, atom, periodic: false }, grouping)
    }

    fn cut(span: Span, grouping: Grouping) -> Self {
        let Span { domain, signal_at, positions, first, atom, periodic } = span;
        let cuts: [AxisCut; 3] = std::array::from_fn(|a| {
            let target = if let Grouping::Tiles(target) = grouping { target } else { positions[a] };
            cut_axis(positions[a], atom[a], target, periodic)
        });
        let mut tiles = Vec::with_capacity(cuts.iter().map(|c| c.tiles.len()).product());
        for z in &cuts[0].tiles {
            for y in &cuts[1].tiles {
                for x in &cuts[2].tiles {
                    let axes = [z, y, x];
                    tiles.push(Tile {
                        origin: std::array::from_fn(|a| first[a] + axes[a].start as i64),
                        size: axes.map(|t| t.length),
                        colour: (z.colour * cuts[1].colours + y.colour) * cuts[2].colours + x.colour,
                    });
                }
            }
        }
        Self {
            domain,
            signal_at,
            positions,
            first,
            atom,
            periodic,
            wraps: std::array::from_fn(|a| cuts[a].wraps),
            period: if grouping == Grouping::SingleNeedles { positions } else { atom },
            tiles,
            tile_counts: std::array::from_fn(|a| cuts[a].tiles.len()),
            colours: cuts.iter().map(|c| c.colours).product(),
        }
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
        let wraps = std::array::from_fn(|a| self.periodic && self.atom[a] > 1);
        let whole = Tile { origin: self.first, size: self.positions, colour: 0 };
        Self { wraps, tiles: vec![whole], tile_counts: [1; 3], colours: 1, ..self.clone() }
    }

    /// Largest tile along each axis.
    pub fn largest_tile(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.tiles.iter().map(|t| t.size[a]).max().unwrap_or(0))
    }

    /// Tiles whose footprints overlap that of tile `index`, itself left out.
    pub fn neighbours(&self, index: usize) -> Vec<usize> {
        let counts = self.tile_counts.map(|c| c as i64);
        let at = [index / (self.tile_counts[1] * self.tile_counts[2]), index / self.tile_counts[2] % self.tile_counts[1]];
        let at = [at[0] as i64, at[1] as i64, (index % self.tile_counts[2]) as i64];
        let mut found = Vec::with_capacity(26);
        for step in 0..27i64 {
            let mut to: [i64; 3] = std::array::from_fn(|a| at[a] + step / [9, 3, 1][a] % 3 - 1);
            if self.periodic {
                to = std::array::from_fn(|a| to[a].rem_euclid(counts[a]));
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

    /// Number of positions.
    pub fn position_count(&self) -> usize {
        self.positions.iter().product()
    }
}
