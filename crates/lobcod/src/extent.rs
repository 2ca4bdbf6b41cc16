//! Sizes of boxes along one, two or three axes.

use crate::error::{Error, Result};
use crate::geometry::{InSignal, Region};
use std::fmt;

/// Size of a signal or an atom: 1, 2 or 3 axes, slowest first (`t`, `hw` or `dhw`).
///
/// Internally every box has three axes; the leading ones of a 1-D or 2-D box have length 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent {
    rank: usize,
    size: [usize; 3],
}

impl Extent {
    /// A box with the given axis lengths, all at least 1.
    ///
    /// ```
    /// let image = lobcod::Extent::new(&[480, 640])?;
    /// assert_eq!((image.rank(), image.volume()), (2, 480 * 640));
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn new(axes: &[usize]) -> Result<Self> {
        if axes.is_empty() || axes.len() > 3 {
            return Err(Error::Shape(format!(
                "a signal or atom has 1 to 3 axes besides channels, not {}",
                axes.len()
            )));
        }
        if axes.contains(&0) {
            return Err(Error::Shape(format!(
                "the shape {axes:?} has an axis of length 0; every axis needs at least one sample"
            )));
        }
        if axes.iter().any(|&a| a > (1 << 30))
            || axes.iter().try_fold(1usize, |v, &a| v.checked_mul(a)).is_none()
        {
            return Err(Error::Shape(format!(
                "the shape {axes:?} is too large; an axis can have up to 2^30 samples"
            )));
        }
        let mut size = [1; 3];
        size[3 - axes.len()..].copy_from_slice(axes);
        Ok(Self { rank: axes.len(), size })
    }

    /// Number of axes, 1 to 3.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Length of each axis, slowest first.
    pub fn axes(&self) -> &[usize] {
        &self.size[3 - self.rank..]
    }

    /// Lengths as depth, height, width; missing leading axes are 1.
    pub fn padded(&self) -> [usize; 3] {
        self.size
    }

    /// Number of samples in the box.
    pub fn volume(&self) -> usize {
        self.size.iter().product()
    }

    /// The box as a region of the signal.
    pub fn region(&self) -> Region<InSignal> {
        Region::whole(self.size)
    }

    /// The same rank with other lengths (depth, height, width).
    pub fn with_padded(&self, size: [usize; 3]) -> Self {
        Self { rank: self.rank, size }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.axes().iter().map(usize::to_string).collect();
        f.write_str(&words.join("x"))
    }
}

impl fmt::Debug for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
