//! Needles: the sparse representation of a signal.

use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{InSignal, Point, Raster, Region};
use crate::real::Real;
use crate::signal::Signal;

/// One non-zero code: `value` times atom `atom`, its first sample at `position`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Code<T> {
    /// First sample covered (depth, height, width); may be negative down to `-(h - 1)`.
    pub position: [i32; 3],
    /// Index of the atom.
    pub atom: u32,
    /// Channel of the code with a one-channel dictionary; otherwise 0.
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
    /// Creates the needles of a signal; codes of value 0 are dropped, the rest sorted.
    pub fn new(extent: Extent, channels: usize, border: Border, mut codes: Vec<Code<T>>) -> Self {
        codes.retain(|c| c.value != T::ZERO);
        codes.sort_unstable_by_key(|c| (c.position, c.atom, c.channel));
        Self { extent, channels, border, codes }
    }

    /// Size of the coded signal.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of channels of the coded signal.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Border condition of the codes.
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

    /// Returns an error unless position and atom of every code exist.
    pub fn check_fits(&self, dictionary: &Dictionary<T>) -> Result<()> {
        let positions = self.positions(dictionary.extent());
        let planes = if dictionary.channels() == 1 { self.channels } else { 1 };
        for c in &self.codes {
            let inside = positions.contains(Point::from(c.position));
            if !inside
                || c.atom as usize >= dictionary.len()
                || c.channel as usize >= planes
                || !c.value.is_finite()
            {
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

    /// All positions for atoms of this size.
    fn positions(&self, atom: Extent) -> Region<InSignal> {
        self.border.positions(self.extent, atom)
    }

    /// Size of the grid of positions, `(H + h - 1) x (W + w - 1)` (`H x W` when periodic,
    /// `(H - h + 1) x (W - w + 1)` inside).
    pub fn position_extent(&self, dictionary: &Dictionary<T>) -> Extent {
        self.extent.with_padded(self.positions(dictionary.extent()).size)
    }

    /// Dense maps `(planes, m, positions)`, last axis fastest; one plane for each channel that is
    /// coded separately.
    pub fn to_maps(&self, dictionary: &Dictionary<T>) -> Vec<T> {
        let planes = if dictionary.channels() == 1 { self.channels } else { 1 };
        let maps = Raster::new(self.positions(dictionary.extent()), planes * dictionary.len());
        let mut values = vec![T::ZERO; maps.len()];
        for c in &self.codes {
            values[maps.index(
                c.channel as usize * dictionary.len() + c.atom as usize,
                Point::from(c.position),
            )] = c.value;
        }
        values
    }

    /// The signal `sum_i P_i^T D a_i`: the sum of the unflipped atoms, cropped to the signal
    /// (wrapped when periodic).
    pub fn synthesise(&self, dictionary: &Dictionary<T>) -> Result<Signal<T>> {
        let sum = self.synthesise_exactly(dictionary)?;
        Signal::from_planar(self.extent, self.channels, sum.into_iter().map(T::from_f64).collect())
    }

    /// The same samples before rounding, channel by channel.
    pub(crate) fn synthesise_exactly(&self, dictionary: &Dictionary<T>) -> Result<Vec<f64>> {
        self.check_fits(dictionary)?;
        let by_channel = dictionary.channels() == 1;
        if !by_channel && dictionary.channels() != self.channels {
            return Err(Error::Shape(format!(
                "atoms with {} channels cannot synthesise a signal with {}",
                dictionary.channels(),
                self.channels
            )));
        }
        let volume = self.extent.volume();
        let periodic = [self.border == Border::Periodic; 3];
        let raster =
            Raster { periodic, ..Raster::new(self.extent.region(), dictionary.channels()) };
        let mut sum = vec![0.0f64; volume * self.channels];
        for code in &self.codes {
            let first = if by_channel { code.channel as usize * volume } else { 0 };
            let (value, atom) = (code.value.to_f64(), dictionary.atom(code.atom as usize));
            raster.patch(
                Point::from(code.position),
                dictionary.extent().padded(),
                atom,
                |into, atom| {
                    sum[first + into..]
                        .iter_mut()
                        .zip(atom)
                        .for_each(|(sum, d)| *sum += value * d.to_f64());
                },
            );
        }
        Ok(sum)
    }
}
