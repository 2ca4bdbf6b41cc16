//! Rectangles of pixels.

use lobcod::{Extent, Result, Signal};
use std::ops::Range;

/// A rectangle of an image: rows first, then columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// First row and column.
    pub start: [usize; 2],
    /// Height and width.
    pub size: [usize; 2],
}

impl Rectangle {
    /// The whole image.
    pub fn whole(extent: Extent) -> Self {
        let [_, height, width] = extent.padded();
        Self { start: [0, 0], size: [height, width] }
    }

    /// From the first row and column to those after the last.
    pub(crate) fn between(start: [usize; 2], end: [usize; 2]) -> Self {
        Self { start, size: [0, 1].map(|a| end[a].saturating_sub(start[a])) }
    }

    /// Number of pixels.
    pub fn area(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// One past the last row (axis 0) or column (axis 1).
    pub fn end(&self, axis: usize) -> usize {
        self.start[axis] + self.size[axis]
    }

    /// The rows (axis 0) or columns (axis 1).
    pub fn range(&self, axis: usize) -> Range<usize> {
        self.start[axis]..self.end(axis)
    }

    /// Whether it contains a pixel.
    pub fn contains(&self, at: [usize; 2]) -> bool {
        (0..2).all(|a| self.range(a).contains(&at[a]))
    }

    /// The intersection.
    pub fn shared(&self, other: &Self) -> Self {
        let end = [0, 1].map(|a| self.end(a).min(other.end(a)));
        Self::between([0, 1].map(|a| self.start[a].max(other.start[a])), end)
    }

    /// The rectangle with a margin, as far as an image of this size has one.
    pub fn widened(&self, margin: usize, image: [usize; 2]) -> Self {
        let end = [0, 1].map(|a| (self.end(a) + margin).min(image[a]));
        Self::between(self.start.map(|s| s.saturating_sub(margin)), end)
    }

    /// Indices of its pixels in an image of this width, row by row.
    pub(crate) fn pixels(&self, width: usize) -> impl Iterator<Item = usize> + use<> {
        let columns = self.range(1);
        self.range(0).flat_map(move |row| columns.clone().map(move |x| row * width + x))
    }

    /// Crops an image.
    pub fn crop(&self, image: &Signal<f32>) -> Result<Signal<f32>> {
        if *self == Self::whole(image.extent()) {
            return Ok(image.clone());
        }
        let extent = Extent::new(&self.size)?;
        let patch = image.patch([0, self.start[0], self.start[1]], extent);
        Signal::from_planar(extent, image.channels(), patch)
    }
}
