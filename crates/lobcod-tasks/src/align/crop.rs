//! Cropping of images.

use lobcod::{Extent, Result, Signal};

/// A rectangle of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// First row.
    pub top: usize,
    /// First column.
    pub left: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
}

impl Crop {
    /// The whole image.
    pub fn whole(extent: Extent) -> Self {
        let [_, height, width] = extent.padded();
        Self { top: 0, left: 0, height, width }
    }

    /// Whether sample `i` of an image of that width is inside.
    pub fn holds(&self, i: usize, width: usize) -> bool {
        (self.top..self.top + self.height).contains(&(i / width))
            && (self.left..self.left + self.width).contains(&(i % width))
    }

    /// The intersection, of at least one sample.
    pub fn and(&self, other: &Crop) -> Crop {
        let (top, left) = (self.top.max(other.top), self.left.max(other.left));
        let bottom = (self.top + self.height).min(other.top + other.height);
        let right = (self.left + self.width).min(other.left + other.width);
        Crop {
            top,
            left,
            height: bottom.saturating_sub(top).max(1),
            width: right.saturating_sub(left).max(1),
        }
    }

    /// Crops an image.
    pub fn cut(&self, image: &Signal<f32>) -> Result<Signal<f32>> {
        if *self == Self::whole(image.extent()) {
            return Ok(image.clone());
        }
        let extent = Extent::new(&[self.height, self.width])?;
        Signal::from_planar(extent, image.channels(), image.patch([0, self.top, self.left], extent))
    }
}
