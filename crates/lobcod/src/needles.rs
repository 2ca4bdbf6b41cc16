//! Needles: the sparse answer.

use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;

/// One non-zero code: `value` times atom `atom`, its first sample at `position`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Code<T> {
    /// First sample covered (depth, height, width); may be negative down to `-(h - 1)`.
    pub position: [i32; 3],
    /// Index of the atom.
    pub atom: u32,
    /// Channel this code belongs to when a one-channel dictionary codes each channel by itself; otherwise 0.
    pub channel: u32,
    /// The code.
    pub value: T,
}

/// All non-zero codes of a signal, sorted by position, then atom, then channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Needles<T> {
    extent: Extent,
    channels: usize,
    border: Border,
    codes: Vec<Code<T>>,
}

impl<T: Real> Needles<T> {
    /// Needles of a signal of the given shape; codes of value 0 are dropped, the rest sorted.
    pub fn new(extent: Extent, channels: usize, border: Border, mut codes: Vec<Code<T>>) -> Self {
        codes.retain(|c| c.value != T::ZERO);
        codes.sort_unstable_by_key(|c| (c.position, c.atom, c.channel));
        Self { extent, channels, border, codes }
    }

    /// Size of the coded signal.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Channels of the coded signal.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Border rule the codes belong to.
    pub fn border(&self) -> Border {
        self.border
    }

    /// The codes, sorted.
    pub fn codes(&self) -> &[Code<T>] {
        &self.codes
    }

    /// Number of non-zero codes.
    pub fn nonzeros(&self) -> usize {
        self.codes.len()
    }

    /// Error unless every code names a position and atom that exist for this dictionary.
    pub fn check_fits(&self, dictionary: &Dictionary<T>) -> Result<()> {
        let (l, h) = (self.extent.padded(), dictionary.extent().padded());
        let planes = if dictionary.channels() == 1 { self.channels } else { 1 };
        for c in &self.codes {
            let inside = (0..3).all(|a| {
                let low = if self.border == Border::Periodic { 0 } else { 1 - h[a] as i64 };
                (low..l[a] as i64).contains(&i64::from(c.position[a]))
            });
            if !inside || c.atom as usize >= dictionary.len() || c.channel as usize >= planes || !c.value.is_finite() {
                return Err(Error::Data(format!(
                    "the code of atom {} at {:?} does not fit a {} signal with {} atoms of {}",
                    c.atom,
                    c.position,
                    self.extent,
                    dictionary.len(),
                    dictionary.extent()
                )));
            }
        }
        Ok(())
    }

    /// Size of the grid of positions, `(H + h - 1) x (W + w - 1)` (`H x W` when periodic).
    pub fn position_extent(&self, dictionary: &Dictionary<T>) -> Extent {
        let (l, h) = (self.extent.padded(), dictionary.extent().padded());
        let periodic = self.border == Border::Periodic;
        self.extent.with_padded(std::array::from_fn(|a| if periodic { l[a] } else { l[a] + h[a] - 1 }))
    }

    /// Dense maps, one a channel coded by itself and atom: `(planes, m, positions)`, last axis fastest.
    pub fn to_maps(&self, dictionary: &Dictionary<T>) -> Vec<T> {
        let grid = self.position_extent(dictionary).padded();
        let shift: [i32; 3] = match self.border {
            Border::Periodic => [0; 3],
            _ => dictionary.extent().padded().map(|h| h as i32 - 1),
        };
        let planes = if dictionary.channels() == 1 { self.channels } else { 1 };
        let size: usize = grid.iter().product();
        let mut maps = vec![T::ZERO; planes * dictionary.len() * size];
        for c in &self.codes {
            let at: [usize; 3] = std::array::from_fn(|a| (c.position[a] + shift[a]) as usize);
            let map = c.channel as usize * dictionary.len() + c.atom as usize;
            maps[map * size + (at[0] * grid[1] + at[1]) * grid[2] + at[2]] = c.value;
        }
        maps
    }

    /// The signal the codes stand for, `sum_i P_i^T D a_i`: the atoms added up, unflipped, cropped to the signal (wrapped when periodic).
    pub fn synthesise(&self, dictionary: &Dictionary<T>) -> Result<Signal<T>> {
        let sum = self.synthesise_exactly(dictionary)?;
        Signal::from_planar(self.extent, self.channels, sum.into_iter().map(T::from_f64).collect())
    }

    /// The same samples before they are rounded, channel after channel.
    pub(crate) fn synthesise_exactly(&self, dictionary: &Dictionary<T>) -> Result<Vec<f64>> {
        self.check_fits(dictionary)?;
        let by_channel = dictionary.channels() == 1;
        if !by_channel && dictionary.channels() != self.channels {
            return Err(Error::Shape(format!(
                "atoms of {} channels cannot make a signal of {}",
                dictionary.channels(),
                self.channels
            )));
        }
        let (l, h) = (self.extent.padded(), dictionary.extent().padded());
        let volume = self.extent.volume();
        let mut sum = vec![0.0f64; volume * self.channels];
        for code in &self.codes {
            let value = code.value.to_f64();
            for (row, atom_row) in dictionary.atom(code.atom as usize).chunks_exact(h[2]).enumerate() {
                let (c, z, y) = (row / (h[0] * h[1]), row / h[1] % h[0], row % h[1]);
                let c = if by_channel { code.channel as usize } else { c };
                let at = |axis: usize, offset: usize| {
                    let p = i64::from(code.position[axis]) + offset as i64;
                    let l = l[axis] as i64;
                    if self.border == Border::Periodic {
                        Some((p % l) as usize)
                    } else {
                        (0..l).contains(&p).then_some(p as usize)
                    }
                };
                let (Some(z), Some(y)) = (at(0, z), at(1, y)) else { continue };
                let line = c * volume + (z * l[1] + y) * l[2];
                for (x, d) in atom_row.iter().enumerate() {
                    if let Some(x) = at(2, x) {
                        sum[line + x] += value * d.to_f64();
                    }
                }
            }
        }
        Ok(sum)
    }
}
