//! Windows that taper learnt atoms towards the ends of their box.

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::cells;
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

/// Window of learnt atoms, the product of one window per axis.
///
/// ```
/// use lobcod::dictionary::Window;
/// let window: Window = "tukey:0.5".parse()?;
/// assert_eq!(window, Window::Tukey(0.5));
/// # Ok::<(), lobcod::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The Tukey window: cosine tapers over this fraction of the axis, half of it at each end. The
    /// first and the last sample are 0. A fraction of 1 is the Hann window.
    Tukey(f64),
}

impl Window {
    /// Returns an error unless the fraction is above 0 and at most 1.
    pub(crate) fn check(self) -> Result<()> {
        let Window::Tukey(fraction) = self;
        if fraction > 0.0 && fraction <= 1.0 {
            return Ok(());
        }
        Err(Error::parameter("the tapered fraction of the window", fraction, "above 0, at most 1"))
    }

    /// The window over a box, in the order of its samples; an error if nothing of it remains.
    pub(crate) fn over(self, extent: Extent) -> Result<Vec<f64>> {
        let size = extent.padded();
        let axes = size.map(|length| (0..length).map(|i| self.at(i, length)).collect::<Vec<_>>());
        if axes.iter().any(|axis| axis.iter().all(|w| *w == 0.0)) {
            return Err(Error::Shape(format!(
                "a window over {extent} atoms is 0 everywhere; use at least 3 samples along each \
                 axis"
            )));
        }
        Ok(cells(size).map(|at| (0..3).map(|a| axes[a][at[a]]).product()).collect())
    }

    fn at(self, i: usize, length: usize) -> f64 {
        let Window::Tukey(fraction) = self;
        if length == 1 {
            return 1.0;
        }
        // Distance to the nearer end, as a fraction of the axis.
        let distance = i.min(length - 1 - i) as f64 / (length - 1) as f64;
        if 2.0 * distance >= fraction {
            return 1.0;
        }
        0.5 * (1.0 - (2.0 * PI * distance / fraction).cos())
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Window::Tukey(fraction) = self;
        write!(f, "tukey:{fraction}")
    }
}

impl FromStr for Window {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let fraction = s.strip_prefix("tukey:").and_then(|fraction| fraction.parse().ok());
        let window = fraction.map(Window::Tukey).ok_or_else(|| {
            Error::parameter("the window", s, "tukey:ALPHA with the tapered fraction ALPHA")
        })?;
        window.check()?;
        Ok(window)
    }
}
