//! Signals: what is coded.

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use std::ops::Range;

/// A signal `Y`: 1 to 3 axes, one or more channels, stored channel by channel (`c`, then `dhw`, last axis fastest).
#[derive(Clone, Debug, PartialEq)]
pub struct Signal<T> {
    extent: Extent,
    channels: usize,
    data: Vec<T>,
}

impl<T: Real> Signal<T> {
    /// A signal from samples stored channel after channel.
    pub fn from_planar(extent: Extent, channels: usize, data: Vec<T>) -> Result<Self> {
        if channels == 0 || data.len() != extent.volume() * channels {
            return Err(Error::Shape(format!(
                "a {extent} signal with {channels} channels has {} samples, but {} were given",
                extent.volume() * channels,
                data.len()
            )));
        }
        Ok(Self { extent, channels, data })
    }

    /// A signal from samples whose channels vary fastest (`hwc`).
    pub fn from_interleaved(extent: Extent, channels: usize, data: &[T]) -> Result<Self> {
        if channels == 0 || data.len() != extent.volume() * channels {
            return Self::from_planar(extent, channels, data.to_vec());
        }
        let mut planar = Vec::with_capacity(data.len());
        for c in 0..channels {
            planar.extend(data.iter().skip(c).step_by(channels));
        }
        Self::from_planar(extent, channels, planar)
    }

    /// A signal of zeros.
    pub fn zeros(extent: Extent, channels: usize) -> Self {
        Self { extent, channels, data: vec![T::ZERO; extent.volume() * channels] }
    }

    /// The samples of a range of the first axis.
    pub fn rows(&self, rows: Range<usize>) -> Result<Self> {
        let axes = self.extent.axes();
        let line = self.extent.volume() / axes[0];
        let channel = |c: usize| &self.channel(c)[rows.start * line..rows.end * line];
        let data = (0..self.channels).map(channel).collect::<Vec<_>>().concat();
        Self::from_planar(Extent::new(&[&[rows.len()], &axes[1..]].concat())?, self.channels, data)
    }

    /// Size along the axes, channels not counted.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All samples, channel after channel.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// All samples, channel after channel, to be written.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The samples themselves.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// Samples of one channel.
    pub fn channel(&self, c: usize) -> &[T] {
        let v = self.extent.volume();
        &self.data[c * v..(c + 1) * v]
    }

    /// The patch of this box whose first sample lies at `at`, channel after channel; the box must lie in the signal.
    pub(crate) fn patch(&self, at: [usize; 3], extent: Extent) -> Vec<T> {
        let (l, h) = (self.extent.padded(), extent.padded());
        let mut patch = Vec::with_capacity(self.channels * extent.volume());
        for c in 0..self.channels {
            for z in at[0]..at[0] + h[0] {
                for y in at[1]..at[1] + h[1] {
                    let row = (z * l[1] + y) * l[2] + at[2];
                    patch.extend_from_slice(&self.channel(c)[row..row + h[2]]);
                }
            }
        }
        patch
    }

    /// Samples with the channels varying fastest.
    pub fn to_interleaved(&self) -> Vec<T> {
        let v = self.extent.volume();
        (0..v * self.channels).map(|i| self.data[(i % self.channels) * v + i / self.channels]).collect()
    }

    /// The same signal in another precision.
    pub fn cast<U: Real>(&self) -> Signal<U> {
        Signal { extent: self.extent, channels: self.channels, data: self.data.iter().map(|x| U::from_f64(x.to_f64())).collect() }
    }

    /// Sample by sample `self - other`.
    pub fn minus(&self, other: &Self) -> Result<Self> {
        self.zip(other, |a, b| a - b)
    }

    /// Sample by sample `self + other`.
    pub fn plus(&self, other: &Self) -> Result<Self> {
        self.zip(other, |a, b| a + b)
    }

    fn zip(&self, other: &Self, f: impl Fn(T, T) -> T) -> Result<Self> {
        if (self.extent, self.channels) != (other.extent, other.channels) {
            return Err(Error::Shape(format!(
                "a {} signal with {} channels cannot be combined with a {} one with {}",
                self.extent, self.channels, other.extent, other.channels
            )));
        }
        let data = self.data.iter().zip(&other.data).map(|(&a, &b)| f(a, b)).collect();
        Ok(Self { extent: self.extent, channels: self.channels, data })
    }
}
