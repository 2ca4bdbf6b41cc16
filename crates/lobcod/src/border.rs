//! Border conditions.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// Border condition: which positions have a needle, and which samples have a data term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Border {
    /// Needles at every position whose patch touches the signal; only samples of the signal count.
    #[default]
    Free,
    /// The same positions, but the signal is padded by `h - 1` zeros on every side and the padding
    /// has a data term.
    Zero,
    /// The signal repeats; needles at every sample. An error if an axis is shorter than the atom.
    Periodic,
}

impl Border {
    /// All border conditions.
    pub const ALL: [Border; 3] = [Border::Free, Border::Zero, Border::Periodic];
}

impl fmt::Display for Border {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Border::Free => "free",
            Border::Zero => "zero",
            Border::Periodic => "periodic",
        })
    }
}

impl FromStr for Border {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        Border::ALL
            .into_iter()
            .find(|b| b.to_string() == s)
            .ok_or_else(|| Error::parameter("the border", s, "free, zero or periodic"))
    }
}
