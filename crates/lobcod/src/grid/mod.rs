//! The spatial schedule: colours of tiles, layers of needles.
//!
//! Work on a *tile*, a block of positions, touches its footprint: the tile and the `h - 1` samples
//! after it. Tiles of one *colour* have disjoint footprints and run concurrently; needles of a
//! *layer* have disjoint patches. The grid depends only on the problem, so runs are reproducible.

mod axis;
mod layer;
mod locate;
mod tiling;

pub use axis::{AxisTiles, split_axis};
pub use layer::{AxisLayer, AxisLayers, Layers};
pub use locate::Locator;
pub use tiling::{TileRange, Tiling};

use crate::border::Border;
use crate::error::Result;
use crate::extent::Extent;
use crate::geometry::{self, InDomain, InSignal, Point, Raster, Region};
use crate::parallel;
use std::array::from_fn;

/// Minimum number of tiles per thread when listing neighbours.
const LEAST_TILES: usize = 1024;

/// How the positions of a signal are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Tiles of about this many positions along each axis, layers inside each.
    Tiles(usize),
    /// One tile, with layers as in Algorithm 2.
    WholeLayers,
    /// One tile, with every needle a separate layer as in Algorithm 1.
    SingleNeedles,
}

impl Grouping {
    /// Tiles of about 1024 positions for any rank.
    pub fn default_tiles(rank: usize) -> Self {
        Grouping::Tiles([1024, 32, 10][rank - 1])
    }
}

/// A block of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The positions; the first may be before the domain for the free border.
    pub region: Region<InDomain>,
    /// Colour; tiles of one colour have disjoint footprints.
    pub colour: usize,
}

/// All tiles of one signal, or a block of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Samples with a data term along each axis.
    pub domain: [usize; 3],
    /// The first of them in the signal.
    pub origin: Point<InSignal>,
    /// Positions that may have codes.
    pub positions: Region<InDomain>,
    /// Samples up to here are counted with these tiles; later ones belong to the tiles of another
    /// block.
    pub own_end: [usize; 3],
    /// Extent of an atom.
    pub atom: [usize; 3],
    /// Axes along which the domain is periodic.
    pub periodic: [bool; 3],
    /// Axes along which the single tile wraps around.
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

/// The tiles around every tile: `list[starts[i]..starts[i + 1]]`, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Start of the neighbours of every tile, and the end.
    pub starts: Vec<u32>,
    /// The neighbours.
    pub list: Vec<u32>,
}

impl Grid {
    /// The grid of a signal with a border condition.
    pub fn new(signal: Extent, atom: Extent, border: Border, grouping: Grouping) -> Result<Self> {
        let tiling = Tiling::new(signal, atom, border, grouping)?;
        Ok(tiling.block(&tiling.all()))
    }

    /// The samples of the domain in memory.
    #[inline(always)]
    pub fn raster(&self, channels: usize) -> Raster<InDomain> {
        Raster::of_domain(self.domain, channels, self.periodic)
    }

    /// Converts a position from the signal to the domain.
    #[inline(always)]
    pub fn to_domain(&self, at: Point<InSignal>) -> Point<InDomain> {
        Point::new(at - self.origin)
    }

    /// Converts a position from the domain to the signal.
    #[inline(always)]
    pub fn to_signal(&self, at: Point<InDomain>) -> Point<InSignal> {
        self.origin + at.at
    }

    /// Converts a box from the signal to the domain.
    pub fn region_to_domain(&self, region: &Region<InSignal>) -> Region<InDomain> {
        Region::new(self.to_domain(region.first()), region.size)
    }

    /// Samples of the signal laid out in the domain, with `around` beyond the edge.
    pub fn lay<T: Copy + Send + Sync>(
        &self,
        given: &Raster<InSignal>,
        data: Vec<T>,
        around: T,
        threads: usize,
    ) -> Vec<T> {
        let wanted = Region::new(self.origin, self.domain);
        if given.region == wanted { data } else { given.gather(&data, &wanted, around, threads) }
    }

    /// The same domain as a single tile, whose needles are grouped in the same way.
    pub(crate) fn as_one_tile(&self) -> Self {
        let wraps = from_fn(|a| self.periodic[a] && self.atom[a] > 1);
        let whole = Tile { region: self.positions, colour: 0 };
        Self { wraps, tiles: vec![whole], tile_counts: [1; 3], colours: 1, ..self.clone() }
    }

    /// Largest tile along each axis.
    pub fn largest_tile(&self) -> [usize; 3] {
        from_fn(|a| self.tiles.iter().map(|t| t.region.size[a]).max().unwrap_or(1))
    }

    /// Tiles whose footprints overlap that of each tile, numbered from `first` on.
    pub fn neighbours(&self, first: usize, threads: usize) -> Neighbours {
        let near: [Vec<Vec<usize>>; 3] = from_fn(|a| {
            (0..self.tile_counts[a])
                .map(|at| tiling::near(self.tile_counts[a], self.periodic[a], at))
                .collect()
        });
        let around = |index: usize| geometry::cell(index, self.tile_counts);
        let mut starts = vec![0u32];
        starts.extend((0..self.tiles.len()).scan(0, |end, index| {
            let at = around(index);
            *end += (0..3).map(|a| near[a][at[a]].len() as u32).product::<u32>() - 1;
            Some(*end)
        }));
        let mut list = vec![0u32; starts[self.tiles.len()] as usize];
        let start = |tile: usize| starts[tile] as usize;
        parallel::groups(
            &mut list,
            self.tiles.len(),
            start,
            LEAST_TILES,
            threads,
            |tiles, part| {
                let mut into = part.iter_mut();
                for index in tiles {
                    let at = around(index);
                    for &z in &near[0][at[0]] {
                        for &y in &near[1][at[1]] {
                            let row = near[2][at[2]]
                                .iter()
                                .map(|&x| geometry::index([z, y, x], self.tile_counts));
                            for (other, into) in
                                row.filter(|&other| other != index).zip(into.by_ref())
                            {
                                *into = (first + other) as u32;
                            }
                        }
                    }
                }
            },
        );
        Neighbours { starts, list }
    }

    /// Whether two tiles start at the same position of the first axis that is longer than 1.
    pub(crate) fn in_one_row(&self, a: usize, b: usize) -> bool {
        let axis = (0..3).find(|&axis| self.positions.size[axis] > 1).unwrap_or(0);
        self.tiles[a].region.start[axis] == self.tiles[b].region.start[axis]
    }

    /// Samples of the domain counted with a tile: every sample belongs to exactly one tile.
    pub fn own_samples(&self, tile: &Tile) -> Region<InDomain> {
        Region::of(|a| {
            let last = tile.region.end(a) == self.positions.end(a);
            let end = if last {
                self.own_end[a] as i64
            } else {
                tile.region.end(a).clamp(0, self.domain[a] as i64)
            };
            tile.region.start[a].max(0).min(end)..end
        })
    }

    /// Number of positions.
    pub fn position_count(&self) -> usize {
        self.positions.volume()
    }
}
