//! The tiling of a whole signal, and its blocks of tiles.

use super::axis::{AxisTiles, split_axis};
use super::{AxisLayers, Grid, Grouping, Tile};
use crate::border::Border;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{self, InSignal, Point, Region};
use std::array::from_fn;
use std::ops::Range;

/// Minimum number of tiles of a band.
const BAND_TILES: usize = 256;

/// Tiles along every axis.
pub type TileRange = [Range<usize>; 3];

/// The tiles of a whole signal, stored implicitly, so that every rank can hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Samples with a data term: the padded signal for the zero border.
    pub domain: Region<InSignal>,
    /// Positions that may have codes.
    pub positions: Region<InSignal>,
    /// Extent of an atom.
    pub atom: [usize; 3],
    /// Whether the domain is periodic.
    pub periodic: bool,
    /// Distance between the needles of a layer.
    period: [usize; 3],
    axes: [AxisTiles; 3],
}

impl Tiling {
    /// The tiles of a signal with a border condition.
    pub fn new(signal: Extent, atom: Extent, border: Border, grouping: Grouping) -> Result<Self> {
        if signal.rank() != atom.rank() {
            return Err(Error::Shape(format!(
                "the signal has {} axes but the atoms have {}; choose a dictionary of the same \
                 rank or name the axes",
                signal.rank(),
                atom.rank()
            )));
        }
        border.check_fits(signal, atom)?;
        let (all, size) = (signal.region(), atom.padded());
        let domain = Region::of(|a| {
            let pad = if border == Border::Zero { size[a] as i64 - 1 } else { 0 };
            -pad..all.end(a) + pad
        });
        let positions = border.positions(signal, atom);
        Ok(Self::split(domain, positions, size, border == Border::Periodic, grouping))
    }

    /// The tiles of only the given positions; samples beyond the edge of the signal are free.
    pub fn of_positions(
        signal: Extent,
        atom: Extent,
        positions: &Region<InSignal>,
        grouping: Grouping,
    ) -> Self {
        Self::split(signal.region(), *positions, atom.padded(), false, grouping)
    }

    fn split(
        domain: Region<InSignal>,
        positions: Region<InSignal>,
        atom: [usize; 3],
        periodic: bool,
        grouping: Grouping,
    ) -> Self {
        let axes = from_fn(|a| {
            let target =
                if let Grouping::Tiles(target) = grouping { target } else { positions.size[a] };
            split_axis(positions.size[a], atom[a], target, periodic)
        });
        let period = if grouping == Grouping::SingleNeedles { positions.size } else { atom };
        Self { domain, positions, atom, periodic, period, axes }
    }

    /// Tiles along each axis.
    pub fn tile_counts(&self) -> [usize; 3] {
        from_fn(|a| self.axes[a].tiles.len())
    }

    /// All tiles.
    pub fn all(&self) -> TileRange {
        self.tile_counts().map(|count| 0..count)
    }

    /// Index of a tile.
    pub fn number(&self, tile: [usize; 3]) -> usize {
        geometry::index(tile, self.tile_counts())
    }

    /// Positions of a tile.
    pub fn tile(&self, at: [usize; 3]) -> Region<InSignal> {
        let axes: [_; 3] = from_fn(|a| &self.axes[a].tiles[at[a]]);
        Region::new(self.positions.first() + axes.map(|t| t.start as i64), axes.map(|t| t.length))
    }

    /// Colour of a tile.
    pub fn colour(&self, at: [usize; 3]) -> usize {
        geometry::index(
            from_fn(|a| self.axes[a].tiles[at[a]].colour),
            from_fn(|a| self.axes[a].colours),
        )
    }

    /// The axis along which a large plane is split into bands: the first that has several tiles.
    pub fn band_axis(&self) -> usize {
        (0..3).find(|&a| self.axes[a].tiles.len() > 1).unwrap_or(0)
    }

    /// Bands of tiles for a pass over the atoms, along the axis of bands.
    pub fn bands(&self) -> Vec<Range<usize>> {
        let axis = self.band_axis();
        let rows = self.axes[axis].tiles.len();
        // On a short axis a band and its surroundings would overlap themselves.
        let long = self.positions.size[axis] >= 8 * self.atom[axis];
        let count = if long {
            (geometry::volume(self.tile_counts()) / BAND_TILES).clamp(1, rows)
        } else {
            1
        };
        (0..count).map(|band| band * rows / count..(band + 1) * rows / count).collect()
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.axes.iter().map(|axis| axis.colours).product()
    }

    /// Largest tile along each axis.
    pub fn largest_tile(&self) -> [usize; 3] {
        from_fn(|a| self.axes[a].tiles.iter().map(|t| t.length).max().unwrap_or(1))
    }

    /// Maximum number of layers of a tile.
    pub fn layers(&self) -> usize {
        let most = |a: usize| {
            let layers = self.axes[a]
                .tiles
                .iter()
                .map(|t| AxisLayers::new(t.length, self.period[a], self.axes[a].wraps).count());
            layers.max().unwrap_or(0)
        };
        (0..3).map(most).product()
    }

    /// Tiles whose footprints overlap that of a tile, by increasing index, without the tile itself.
    pub fn neighbours(&self, at: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        let [z, y, x] = from_fn(|a| near(self.axes[a].tiles.len(), self.periodic, at[a]));
        let rows = z.into_iter().flat_map(move |z| y.clone().into_iter().map(move |y| [z, y]));
        rows.flat_map(move |[z, y]| x.clone().into_iter().map(move |x| [z, y, x]))
            .filter(move |other| *other != at)
    }

    /// Samples a block of tiles touches; they may extend past the end of a periodic domain.
    pub fn footprint(&self, tiles: &TileRange) -> Region<InSignal> {
        Region::of(|a| {
            if tiles[a] == (0..self.axes[a].tiles.len()) {
                return self.domain.range(a);
            }
            if tiles.iter().any(Range::is_empty) {
                return 0..0;
            }
            let positions = self.positions_of(a, &tiles[a]);
            let end = positions.end + self.atom[a] as i64 - 1;
            let domain = self.domain.range(a);
            if self.periodic {
                positions.start..end
            } else {
                positions.start.max(domain.start)..end.min(domain.end)
            }
        })
    }

    /// Positions of tiles along an axis.
    pub fn positions_of(&self, axis: usize, tiles: &Range<usize>) -> Range<i64> {
        let start = |i: usize| {
            self.axes[axis].tiles.get(i).map_or(self.positions.size[axis], |tile| tile.start)
        };
        self.positions.start[axis] + start(tiles.start) as i64
            ..self.positions.start[axis] + start(tiles.end) as i64
    }

    /// A block of whole tiles as a grid, whose domain is their footprint.
    pub fn block(&self, tiles: &TileRange) -> Grid {
        let (footprint, counts) = (self.footprint(tiles), self.tile_counts());
        let whole: [bool; 3] = from_fn(|a| tiles[a] == (0..counts[a]));
        let (origin, domain) = (footprint.first(), footprint.size);
        let local = |region: Region<InSignal>| {
            Region::new(Point::new(region.first() - origin), region.size)
        };
        let positions = local(Region::of(|a| self.positions_of(a, &tiles[a])));
        let own: [usize; 3] = from_fn(|a| tiles[a].len());
        let tile = |cell: [usize; 3]| {
            let at = from_fn(|a| tiles[a].start + cell[a]);
            Tile { region: local(self.tile(at)), colour: self.colour(at) }
        };
        Grid {
            domain,
            origin,
            positions,
            own_end: from_fn(|a| {
                // The last tile also owns the samples after it.
                let last = tiles[a].end == counts[a] && (whole[a] || !self.periodic);
                if last { domain[a] } else { positions.end(a).max(0) as usize }
            }),
            atom: self.atom,
            periodic: whole.map(|whole| whole && self.periodic),
            wraps: from_fn(|a| self.axes[a].wraps),
            period: self.period,
            tiles: geometry::cells(own).map(tile).collect(),
            tile_counts: own,
            colours: self.colours(),
        }
    }
}

/// The indices along an axis whose footprints overlap that of `at`, itself included, in order.
pub(super) fn near(count: usize, periodic: bool, at: usize) -> Vec<usize> {
    let around = (at + count - 1..=at + count + 1)
        .filter(|place| periodic || (count..2 * count).contains(place));
    let mut places: Vec<usize> = around.map(|place| place % count).collect();
    places.sort_unstable();
    places.dedup();
    places
}
