//! A motion of the image plane.

use crate::rectangle::Rectangle;
use lobcod::{Error, Extent, Result};

/// Maps point `p` of the first frame to another frame: `c + scale R(angle) (p - c) + shift`, with
/// `c` the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Shift in samples, down and to the right.
    pub shift: [f64; 2],
    /// Scale factor.
    pub scale: f64,
    /// Rotation in radians, from down to right.
    pub angle: f64,
}

impl Motion {
    /// No motion.
    pub const STILL: Motion = Motion { shift: [0.0; 2], scale: 1.0, angle: 0.0 };

    /// Whether this is the identity.
    pub fn is_still(&self) -> bool {
        *self == Self::STILL
    }

    /// Maps a point; both are relative to the centre.
    pub fn apply(&self, [y, x]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.sin_cos();
        [
            self.scale * (cos * y - sin * x) + self.shift[0],
            self.scale * (sin * y + cos * x) + self.shift[1],
        ]
    }

    /// Composition with a following motion.
    pub fn then(&self, next: &Motion) -> Motion {
        Motion {
            shift: next.apply(self.shift),
            scale: self.scale * next.scale,
            angle: self.angle + next.angle,
        }
    }

    /// Largest displacement of a corner or the centre, in samples.
    pub fn largest_shift(&self, extent: Extent) -> f64 {
        let [_, height, width] = extent.padded();
        let half = [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0];
        let moved = |p: [f64; 2]| {
            let q = self.apply(p);
            (q[0] - p[0]).hypot(q[1] - p[1])
        };
        [[0.0, 0.0], half, [-half[0], half[1]], [half[0], -half[1]], half.map(|h| -h)]
            .map(moved)
            .into_iter()
            .fold(0.0, f64::max)
    }

    /// The largest rectangle that a moved frame still covers.
    pub fn crop(&self, extent: Extent) -> Result<Rectangle> {
        let [_, height, width] = extent.padded();
        let size = [height as f64, width as f64];
        let half = size.map(|n| (n - 1.0) / 2.0);
        let (mut low, mut high) = (half.map(|h| -h), half);
        for _ in 0..height + width {
            let mut excess = [0.0f64; 2];
            let mut beyond = [[0.0f64; 2]; 2];
            for corner in
                [[low[0], low[1]], [low[0], high[1]], [high[0], low[1]], [high[0], high[1]]]
            {
                let q = self.apply(corner);
                for axis in 0..2 {
                    let outside = (-half[axis] - q[axis]).max(q[axis] - half[axis]);
                    excess[axis] = excess[axis].max(outside);
                    let side = usize::from(q[axis] > 0.0);
                    beyond[axis][side] = beyond[axis][side].max(outside);
                }
            }
            if excess.iter().all(|&e| e <= 1e-9) {
                let start = [0, 1].map(|a| (low[a] + half[a]).ceil() as usize);
                let end = [0, 1].map(|a| (high[a] + half[a]).floor() as usize + 1);
                return Ok(Rectangle::between(start, end));
            }
            for axis in 0..2 {
                low[axis] += beyond[axis][0].max(0.0).ceil();
                high[axis] -= beyond[axis][1].max(0.0).ceil();
            }
            if low[0] >= high[0] || low[1] >= high[1] {
                break;
            }
        }
        Err(hardly_overlap())
    }
}

/// The error for frames without a common rectangle.
pub(crate) fn hardly_overlap() -> Error {
    Error::Data("the aligned frames hardly overlap; check that they show the same scene".into())
}
