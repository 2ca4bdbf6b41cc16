//! Signals: the data to be coded.

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{InSignal, Point, Raster, Region};
use crate::real::Real;
use std::ops::Range;

/// A signal `Y`: 1 to 3 axes, one or more channels, stored channel by channel, last axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal<T> {
    extent: Extent,
    channels: usize,
    data: Vec<T>,
}

impl<T: Real> Signal<T> {
    /// Creates a signal from samples stored channel by channel.
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

    /// Creates a signal from samples whose channels vary fastest (`hwc`).
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

    /// The samples of a range along the first axis.
    pub fn rows(&self, rows: Range<usize>) -> Result<Self> {
        let axes = self.extent.axes();
        let line = self.extent.volume() / axes[0];
        let channel = |c: usize| &self.channel(c)[rows.start * line..rows.end * line];
        let data = (0..self.channels).map(channel).collect::<Vec<_>>().concat();
        Self::from_planar(Extent::new(&[&[rows.len()], &axes[1..]].concat())?, self.channels, data)
    }

    /// Returns the signal, or an error if a sample became NaN or infinite in a computation.
    pub fn finite(self) -> Result<Self> {
        if self.data.iter().all(|x| x.is_finite()) { Ok(self) } else { Err(Error::overflow::<T>()) }
    }

    /// Size along the axes, without channels.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All samples, channel by channel.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// All samples, channel by channel, mutable.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Consumes the signal and returns its samples.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// Samples of one channel.
    pub fn channel(&self, c: usize) -> &[T] {
        let v = self.extent.volume();
        &self.data[c * v..(c + 1) * v]
    }

    /// The patch of this extent at `at`, channel by channel.
    pub fn patch(&self, at: [usize; 3], extent: Extent) -> Vec<T> {
        self.raster().gather(
            &self.data,
            &Region::new(Point::new(at.map(|x| x as i64)), extent.padded()),
            T::ZERO,
            1,
        )
    }

    /// Memory layout of the samples.
    pub fn raster(&self) -> Raster<InSignal> {
        Raster::new(self.extent.region(), self.channels)
    }

    /// The samples that atoms are added to, and the index of the first: all, or one channel with a
    /// one-channel dictionary.
    pub(crate) fn plane(&self, atom_channels: usize, channel: u32) -> (Raster<InSignal>, usize) {
        let first = if atom_channels == 1 { channel as usize * self.extent.volume() } else { 0 };
        (Raster::new(self.extent.region(), atom_channels), first)
    }

    /// Samples with the channels varying fastest.
    pub fn to_interleaved(&self) -> Vec<T> {
        let v = self.extent.volume();
        (0..v * self.channels)
            .map(|i| self.data[(i % self.channels) * v + i / self.channels])
            .collect()
    }

    /// Converts to another precision.
    pub fn cast<U: Real>(&self) -> Signal<U> {
        Signal {
            extent: self.extent,
            channels: self.channels,
            data: self.data.iter().map(|x| U::from_f64(x.to_f64())).collect(),
        }
    }

    /// Elementwise `self - other`.
    pub fn minus(&self, other: &Self) -> Result<Self> {
        self.zip(other, |a, b| a - b)
    }

    /// Elementwise `self + other`.
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
