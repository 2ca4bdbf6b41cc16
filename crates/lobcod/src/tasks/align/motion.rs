//! A motion of the picture plane.

use super::crop::Crop;
use crate::error::{Error, Result};
use crate::extent::Extent;

/// Where a frame shows what the first one shows at `p`: `c + scale R(angle) (p - c) + shift`, `c` the centre of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Samples down and to the right.
    pub shift: [f64; 2],
    /// Change of size.
    pub scale: f64,
    /// Turn in radians, from down to right.
    pub angle: f64,
}

impl Motion {
    /// No motion.
    pub const STILL: Motion = Motion { shift: [0.0; 2], scale: 1.0, angle: 0.0 };

    /// Whether nothing moves.
    pub fn is_still(&self) -> bool {
        *self == Self::STILL
    }

    /// Where the point at `p` from the centre is found, from the centre.
    pub fn apply(&self, [y, x]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.sin_cos();
        [self.scale * (cos * y - sin * x) + self.shift[0], self.scale * (sin * y + cos * x) + self.shift[1]]
    }

    /// This motion, and then another.
    pub fn then(&self, next: &Motion) -> Motion {
        Motion { shift: next.apply(self.shift), scale: self.scale * next.scale, angle: self.angle + next.angle }
    }

    /// Largest distance, in samples, that a corner or the centre of a picture moves by.
    pub fn reach(&self, extent: Extent) -> f64 {
        let [_, height, width] = extent.padded();
        let half = [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0];
        let moved = |p: [f64; 2]| {
            let q = self.apply(p);
            (q[0] - p[0]).hypot(q[1] - p[1])
        };
        [[0.0, 0.0], half, [-half[0], half[1]], [half[0], -half[1]], half.map(|h| -h)].map(moved).into_iter().fold(0.0, f64::max)
    }

    /// The largest part, cut evenly from the sides that need it, that a frame moved so still covers.
    pub fn crop(&self, extent: Extent) -> Result<Crop> {
        let [_, height, width] = extent.padded();
        let size = [height as f64, width as f64];
        let half = size.map(|n| (n - 1.0) / 2.0);
        let (mut low, mut high) = (half.map(|h| -h), half);
        for _ in 0..height + width {
            let mut excess = [0.0f64; 2];
            let mut cut = [[0.0f64; 2]; 2];
            for corner in [[low[0], low[1]], [low[0], high[1]], [high[0], low[1]], [high[0], high[1]]] {
                let q = self.apply(corner);
                for axis in 0..2 {
                    let outside = (-half[axis] - q[axis]).max(q[axis] - half[axis]);
                    excess[axis] = excess[axis].max(outside);
                    let side = usize::from(q[axis] > 0.0);
                    cut[axis][side] = cut[axis][side].max(outside);
                }
            }
            if excess.iter().all(|&e| e <= 1e-9) {
                let top = (low[0] + half[0]).ceil() as usize;
                let left = (low[1] + half[1]).ceil() as usize;
                let extent = [(high[0] + half[0]).floor() as usize + 1 - top, (high[1] + half[1]).floor() as usize + 1 - left];
                return Ok(Crop { top, left, height: extent[0], width: extent[1] });
            }
            for axis in 0..2 {
                low[axis] += cut[axis][0].max(0.0).ceil();
                high[axis] -= cut[axis][1].max(0.0).ceil();
            }
            if low[0] >= high[0] || low[1] >= high[1] {
                break;
            }
        }
        Err(Error::Data("the frames hardly overlap once they are aligned; check that they show one scene".into()))
    }
}
