//! A part of a picture.

use crate::error::Result;
use crate::extent::Extent;
use crate::signal::Signal;

/// A rectangle of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// First row.
    pub top: usize,
    /// First column.
    pub left: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Crop {
    /// All of a picture.
    pub fn whole(extent: Extent) -> Self {
        let [_, height, width] = extent.padded();
        Self { top: 0, left: 0, height, width }
    }

    /// Whether sample `i` of a picture of that width lies in it.
    pub fn holds(&self, i: usize, width: usize) -> bool {
        (self.top..self.top + self.height).contains(&(i / width)) && (self.left..self.left + self.width).contains(&(i % width))
    }

    /// What lies in both; at least one sample, which two parts of a picture that were not refused have in common.
    pub fn and(&self, other: &Crop) -> Crop {
        let (top, left) = (self.top.max(other.top), self.left.max(other.left));
        let bottom = (self.top + self.height).min(other.top + other.height);
        let right = (self.left + self.width).min(other.left + other.width);
        Crop { top, left, height: bottom.saturating_sub(top).max(1), width: right.saturating_sub(left).max(1) }
    }

    /// This part of a picture.
    pub fn cut(&self, picture: &Signal<f32>) -> Result<Signal<f32>> {
        if *self == Self::whole(picture.extent()) {
            return Ok(picture.clone());
        }
        let extent = Extent::new(&[self.height, self.width])?;
        Signal::from_planar(extent, picture.channels(), picture.patch([0, self.top, self.left], extent))
    }
}
