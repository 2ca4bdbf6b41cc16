//! The embedded dictionaries; `docs/reference/dictionaries.md` describes how they were learnt.

use super::Dictionary;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use std::fmt;
use std::str::FromStr;

/// A dictionary included in the library, learnt from photographs minus their local mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embedded {
    /// `natural`: 81 atoms of 8x8.
    Natural,
    /// `natural-12x12-128`: 128 atoms of 12x12.
    Natural12x12,
    /// `natural-rgb-8x8-96`: 96 atoms of 8x8 that span red, green and blue.
    NaturalRgb,
}

impl Embedded {
    /// All embedded dictionaries.
    pub const ALL: [Embedded; 3] =
        [Embedded::Natural, Embedded::Natural12x12, Embedded::NaturalRgb];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Embedded::Natural => "natural",
            Embedded::Natural12x12 => "natural-12x12-128",
            Embedded::NaturalRgb => "natural-rgb-8x8-96",
        }
    }

    /// Length of an atom along each axis, channels, and the atoms as little-endian `f32`.
    fn parts(self) -> (usize, usize, &'static [u8]) {
        match self {
            Embedded::Natural => (8, 1, include_bytes!("natural.f32")),
            Embedded::Natural12x12 => (12, 1, include_bytes!("natural-12x12-128.f32")),
            Embedded::NaturalRgb => (8, 3, include_bytes!("natural-rgb-8x8-96.f32")),
        }
    }
}

impl fmt::Display for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Embedded {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|e| e.name() == s);
        found.ok_or_else(|| {
            Error::parameter(
                "the embedded dictionary",
                s,
                "natural, natural-12x12-128 or natural-rgb-8x8-96",
            )
        })
    }
}

impl<T: Real> Dictionary<T> {
    /// Loads an embedded dictionary.
    pub fn embedded(which: Embedded) -> Self {
        let (side, channels, bytes) = which.parts();
        let number = |bytes: &[u8]| {
            T::from_f64(f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
        };
        let extent = Extent::new(&[side, side]).expect("valid extent");
        Self::new(extent, channels, bytes.chunks_exact(4).map(number).collect())
            .expect("valid embedded atoms")
    }

    /// The embedded dictionary `natural`: 81 atoms of 8x8.
    pub fn natural() -> Self {
        Self::embedded(Embedded::Natural)
    }
}
