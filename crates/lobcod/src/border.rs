//! Border conditions.

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{InSignal, Region};
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
    /// Needles at every position whose patch lies inside the signal; samples near the edge are
    /// covered by fewer patches. An error if an axis is shorter than the atom.
    Inside,
}

impl Border {
    /// All border conditions.
    pub const ALL: [Border; 4] = [Border::Free, Border::Zero, Border::Periodic, Border::Inside];

    /// The positions of atoms of this size; empty along an axis that is too short.
    pub fn positions(self, signal: Extent, atom: Extent) -> Region<InSignal> {
        let (all, atom) = (signal.region(), atom.padded());
        Region::of(|a| {
            let overlap = atom[a] as i64 - 1;
            match self {
                Border::Free | Border::Zero => -overlap..all.end(a),
                Border::Periodic => 0..all.end(a),
                Border::Inside => 0..(all.end(a) - overlap).max(0),
            }
        })
    }

    /// Returns an error if the signal is too short for atoms of this size.
    pub(crate) fn check_fits(self, signal: Extent, atom: Extent) -> Result<()> {
        let short = (0..3).any(|a| signal.padded()[a] < atom.padded()[a]);
        if short && matches!(self, Border::Periodic | Border::Inside) {
            return Err(Error::Shape(format!(
                "a {signal} signal is shorter than the {atom} atoms, which the {self} border does \
                 not allow; use the free border"
            )));
        }
        Ok(())
    }
}

impl fmt::Display for Border {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Border::Free => "free",
            Border::Zero => "zero",
            Border::Periodic => "periodic",
            Border::Inside => "inside",
        })
    }
}

impl FromStr for Border {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        Border::ALL
            .into_iter()
            .find(|b| b.to_string() == s)
            .ok_or_else(|| Error::parameter("the border", s, "free, zero, periodic or inside"))
    }
}
