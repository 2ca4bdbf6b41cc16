//! A grid whose tiles are not listed, and the blocks of tiles cut out of it.

use super::axis::{AxisCut, cut_axis};
use super::{AxisLayers, Grid, Grouping, Tile};
use crate::border::Border;
use crate::error::{Error, Result};
use crate::extent::Extent;
use std::ops::Range;

/// Tiles of a band, at least.
const BAND_TILES: usize = 256;

/// Tiles along every axis.
pub type TileRange = [Range<usize>; 3];

/// All that a grid is made from. Its size does not depend on the number of tiles, so every rank can hold that of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Samples that carry a data term.
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
    /// Distance between the needles of a layer.
    period: [usize; 3],
    cuts: [AxisCut; 3],
}

impl Frame {
    /// The frame of a signal under a border rule.
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
        Ok(Self {
            domain,
            signal_at: pad,
            positions,
            first,
            atom: box_,
            periodic,
            ..Self::cut(positions, box_, periodic, grouping)
        })
    }

    /// The frame of the given positions alone, relative to the signal; samples beyond its edge are free.
    pub fn of_positions(signal: Extent, atom: Extent, positions: &[Range<i64>; 3], grouping: Grouping) -> Self {
        let (first, count) = (std::array::from_fn(|a| positions[a].start), std::array::from_fn(|a| positions[a].clone().count()));
        let (domain, atom) = (signal.padded(), atom.padded());
        Self { domain, first, ..Self::cut(count, atom, false, grouping) }
    }

    fn cut(positions: [usize; 3], atom: [usize; 3], periodic: bool, grouping: Grouping) -> Self {
        let cuts = std::array::from_fn(|a| {
            let target = if let Grouping::Tiles(target) = grouping { target } else { positions[a] };
            cut_axis(positions[a], atom[a], target, periodic)
        });
        let period = if grouping == Grouping::SingleNeedles { positions } else { atom };
        Self { domain: positions, signal_at: [0; 3], positions, first: [0; 3], atom, periodic, period, cuts }
    }

    /// Tiles along each axis.
    pub fn tile_counts(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.cuts[a].tiles.len())
    }

    /// All tiles.
    pub fn all(&self) -> TileRange {
        self.tile_counts().map(|count| 0..count)
    }

    /// Number of a tile among all.
    pub fn number(&self, [z, y, x]: [usize; 3]) -> usize {
        let [_, ny, nx] = self.tile_counts();
        (z * ny + y) * nx + x
    }

    /// A tile, in samples of the domain.
    pub fn tile(&self, at: [usize; 3]) -> Tile {
        let axes: [_; 3] = std::array::from_fn(|a| &self.cuts[a].tiles[at[a]]);
        Tile {
            origin: std::array::from_fn(|a| self.first[a] + axes[a].start as i64),
            size: axes.map(|t| t.length),
            colour: (axes[0].colour * self.cuts[1].colours + axes[1].colour) * self.cuts[2].colours + axes[2].colour,
        }
    }

    /// The axis along which a large plane is cut into bands: the first that has several tiles.
    pub fn band_axis(&self) -> usize {
        (0..3).find(|&a| self.cuts[a].tiles.len() > 1).unwrap_or(0)
    }

    /// Bands of tiles in which a pass over the atoms works, by their tiles along the axis of bands. They depend on the plane alone.
    pub fn bands(&self) -> Vec<Range<usize>> {
        let axis = self.band_axis();
        let (rows, all) = (self.cuts[axis].tiles.len(), self.tile_counts().iter().product::<usize>());
        // On a short axis a band and what is around it would meet itself.
        let long = self.positions[axis] >= 8 * self.atom[axis];
        let count = if long { (all / BAND_TILES).clamp(1, rows) } else { 1 };
        (0..count).map(|band| band * rows / count..(band + 1) * rows / count).collect()
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.cuts.iter().map(|cut| cut.colours).product()
    }

    /// Largest tile along each axis.
    pub fn largest_tile(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.cuts[a].tiles.iter().map(|t| t.length).max().unwrap_or(1))
    }

    /// Most layers that a tile has.
    pub fn layers(&self) -> usize {
        let most = |a: usize| {
            let layers = self.cuts[a].tiles.iter().map(|t| AxisLayers::new(t.length, self.period[a], self.cuts[a].wraps).count());
            layers.max().unwrap_or(0)
        };
        (0..3).map(most).product()
    }

    /// Tiles whose footprints overlap that of a tile, in the order of their numbers, itself left out.
    pub fn neighbours(&self, at: [usize; 3]) -> Vec<[usize; 3]> {
        let mut found: Vec<[usize; 3]> = Vec::with_capacity(26);
        let along = |axis: usize| {
            let count = self.cuts[axis].tiles.len();
            (0..3).filter_map(move |step| {
                let place = at[axis] + step;
                if self.periodic { Some((place + count - 1) % count) } else { (1..=count).contains(&place).then(|| place - 1) }
            })
        };
        for z in along(0) {
            for y in along(1) {
                found.extend(along(2).map(|x| [z, y, x]));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|other| *other != at);
        found
    }

    /// Samples of the domain that the footprints of a block of tiles touch. Beyond the end of a periodic domain they go on counting.
    pub fn footprint(&self, tiles: &TileRange) -> [Range<i64>; 3] {
        std::array::from_fn(|a| {
            if tiles[a] == (0..self.cuts[a].tiles.len()) {
                return 0..self.domain[a] as i64;
            }
            if tiles.iter().any(Range::is_empty) {
                return 0..0;
            }
            let positions = self.positions_of(a, &tiles[a]);
            let end = positions.end + self.atom[a] as i64 - 1;
            if self.periodic { positions.start..end } else { positions.start.max(0)..end.min(self.domain[a] as i64) }
        })
    }

    /// Positions of tiles along an axis, in samples of the domain.
    pub fn positions_of(&self, axis: usize, tiles: &Range<usize>) -> Range<i64> {
        let start = |i: usize| self.cuts[axis].tiles.get(i).map_or(self.positions[axis], |tile| tile.start);
        self.first[axis] + start(tiles.start) as i64..self.first[axis] + start(tiles.end) as i64
    }

    /// A block of whole tiles as a grid of its own, whose domain is their footprint. An axis that is not cut stays as it is.
    pub fn block(&self, tiles: &TileRange) -> Grid {
        let (footprint, counts) = (self.footprint(tiles), self.tile_counts());
        let whole: [bool; 3] = std::array::from_fn(|a| tiles[a] == (0..counts[a]));
        let positions: [Range<i64>; 3] = std::array::from_fn(|a| self.positions_of(a, &tiles[a]));
        let start = footprint.each_ref().map(|range| range.start);
        let domain = footprint.each_ref().map(|range| (range.end - range.start) as usize);
        let mut list = Vec::with_capacity(tiles.iter().map(|range| range.len()).product());
        for z in tiles[0].clone() {
            for y in tiles[1].clone() {
                for x in tiles[2].clone() {
                    let tile = self.tile([z, y, x]);
                    list.push(Tile { origin: std::array::from_fn(|a| tile.origin[a] - start[a]), ..tile });
                }
            }
        }
        Grid {
            domain,
            start,
            signal_at: self.signal_at,
            positions: positions.each_ref().map(|range| (range.end - range.start) as usize),
            first: std::array::from_fn(|a| positions[a].start - start[a]),
            own_end: std::array::from_fn(|a| {
                // Behind the last tile of all, the samples that nobody else counts.
                let last = tiles[a].end == counts[a] && (whole[a] || !self.periodic);
                if last { domain[a] } else { (positions[a].end - start[a]).max(0) as usize }
            }),
            atom: self.atom,
            periodic: whole.map(|whole| whole && self.periodic),
            wraps: std::array::from_fn(|a| self.cuts[a].wraps),
            period: self.period,
            tiles: list,
            tile_counts: tiles.each_ref().map(|range| range.len()),
            colours: self.colours(),
        }
    }
}
