//! Layers: needles whose patches do not overlap.

use super::{Grid, Tile};
use crate::geometry;
use std::array::from_fn;

/// Positions `start, start + step, ...` (`count` of them) of a tile along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisLayer {
    /// First position.
    pub start: usize,
    /// Distance between positions.
    pub step: usize,
    /// Number of positions.
    pub count: usize,
}

/// The layers of one axis: `length` positions, `period` apart. On an axis that wraps, the remainder
/// gets layers of one position each.
#[derive(Clone, Copy, Debug)]
pub struct AxisLayers {
    period: usize,
    wraps: bool,
    /// Positions of every class, and the number of classes with one more.
    whole: usize,
    rest: usize,
}

impl AxisLayers {
    /// Layers of an axis.
    pub fn new(length: usize, period: usize, wraps: bool) -> Self {
        Self { period, wraps, whole: length / period, rest: length % period }
    }

    /// Number of layers.
    pub fn count(&self) -> usize {
        match (self.wraps, self.whole) {
            (true, _) => self.period + self.rest,
            (false, 0) => self.rest,
            (false, _) => self.period,
        }
    }

    /// All layers, in order.
    pub fn iter(self) -> impl Iterator<Item = AxisLayer> + Clone {
        (0..self.count()).map(move |i| self.layer(i))
    }

    /// Layer `i`, below [`count`](Self::count).
    pub fn layer(&self, i: usize) -> AxisLayer {
        let Self { period, wraps, whole, rest } = *self;
        let (start, count) = match (wraps, i < period) {
            (false, _) => (i, whole + usize::from(i < rest)),
            (true, true) => (i, whole),
            (true, false) => (whole * period + i - period, 1),
        };
        AxisLayer { start, step: period, count }
    }

    /// Layer of position `at`, and its index inside that layer.
    #[inline(always)]
    pub fn order(&self, at: usize) -> (usize, usize) {
        let Self { period, wraps, whole, .. } = *self;
        if wraps && at >= whole * period {
            (period + at - whole * period, 0)
        } else {
            (at % period, at / period)
        }
    }
}

/// All layers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    axes: [AxisLayers; 3],
}

impl Layers {
    /// The layers of a tile of a grid.
    pub fn of(grid: &Grid, tile: &Tile) -> Self {
        Self {
            axes: from_fn(|a| AxisLayers::new(tile.region.size[a], grid.period[a], grid.wraps[a])),
        }
    }

    fn counts(&self) -> [usize; 3] {
        self.axes.map(|axis| axis.count())
    }

    /// Number of layers.
    pub fn count(&self) -> usize {
        geometry::volume(self.counts())
    }

    /// Index of the layer of the needle at this offset in the tile.
    pub fn layer_of(&self, at: [usize; 3]) -> usize {
        geometry::index(from_fn(|a| self.axes[a].order(at[a]).0), self.counts())
    }

    /// Sort key of a needle of the tile: its layer, then its offset in the layer.
    pub fn order(&self, at: [usize; 3]) -> [[usize; 3]; 2] {
        let order: [(usize, usize); 3] = from_fn(|a| self.axes[a].order(at[a]));
        [order.map(|o| o.0), order.map(|o| o.1)]
    }

    fn along_axes(&self, layer: usize) -> [AxisLayer; 3] {
        let at = geometry::cell(layer, self.counts());
        from_fn(|a| self.axes[a].layer(at[a]))
    }

    /// Number of needles of a layer.
    pub fn size(&self, layer: usize) -> usize {
        self.along_axes(layer).iter().map(|axis| axis.count).product()
    }

    /// Appends the offsets of all needles, layer by layer, given the strides of rows and slices.
    #[inline(always)]
    pub fn all_needles(&self, strides: [usize; 2], into: &mut Vec<u32>) {
        (0..self.count()).for_each(|layer| self.needles(layer, strides, into));
    }

    /// Appends the offsets of the needles of one layer.
    #[inline(always)]
    pub fn needles(&self, layer: usize, [row, slice]: [usize; 2], into: &mut Vec<u32>) {
        let [lz, ly, lx] = self.along_axes(layer);
        for z in 0..lz.count {
            for y in 0..ly.count {
                let first = ((lz.start + z * lz.step) * slice
                    + (ly.start + y * ly.step) * row
                    + lx.start) as u32;
                into.extend((0..lx.count as u32).map(|x| first + x * lx.step as u32));
            }
        }
    }
}
