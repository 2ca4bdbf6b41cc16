//! Order of the axes of an image in a file.

use crate::error::{Error, Result};
use crate::npy::shape_words;
use lobcod::{Extent, Real, Signal};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Meaning of the axes of an array, slowest first: `t`ime, `d`epth, `h`eight, `w`idth, `c`hannels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axes {
    /// A sequence; multiple channels are the last axis.
    T,
    /// A greyscale image.
    #[default]
    Hw,
    /// A colour image, channels last.
    Hwc,
    /// A colour image, channels first.
    Chw,
    /// A volume.
    Dhw,
    /// A volume with channels last.
    Dhwc,
    /// Time points that are greyscale images.
    Thw,
    /// Time points that are colour images, channels last.
    Thwc,
    /// Time points that are volumes.
    Tdhw,
    /// Time points that are volumes with channels last.
    Tdhwc,
}

#[derive(PartialEq)]
enum Channels {
    None,
    First,
    Last,
}

impl Axes {
    /// All orders.
    pub const ALL: [Axes; 10] = [
        Axes::T,
        Axes::Hw,
        Axes::Hwc,
        Axes::Chw,
        Axes::Dhw,
        Axes::Dhwc,
        Axes::Thw,
        Axes::Thwc,
        Axes::Tdhw,
        Axes::Tdhwc,
    ];

    /// Number of axes besides channels and time points.
    pub fn rank(self) -> usize {
        match self {
            Axes::T => 1,
            Axes::Hw | Axes::Hwc | Axes::Chw | Axes::Thw | Axes::Thwc => 2,
            Axes::Dhw | Axes::Dhwc | Axes::Tdhw | Axes::Tdhwc => 3,
        }
    }

    /// The axes of a time point; `None` if there are no time points.
    pub fn of_time_point(self) -> Option<Self> {
        match self {
            Axes::Thw => Some(Axes::Hw),
            Axes::Thwc => Some(Axes::Hwc),
            Axes::Tdhw => Some(Axes::Dhw),
            Axes::Tdhwc => Some(Axes::Dhwc),
            _ => None,
        }
    }

    /// The order for a signal of this rank and number of channels: this one if it fits, otherwise
    /// the default.
    pub fn fitting(self, rank: usize, channels: usize) -> Self {
        let usual = match (rank, channels) {
            (1, _) => Axes::T,
            (2, 1) => Axes::Hw,
            (2, _) => Axes::Hwc,
            (_, 1) => Axes::Dhw,
            _ => Axes::Dhwc,
        };
        if self.rank() == rank && (channels == 1 || self.channels() != Channels::None) {
            self
        } else {
            usual
        }
    }

    fn channels(self) -> Channels {
        match self {
            Axes::T | Axes::Hwc | Axes::Dhwc | Axes::Thwc | Axes::Tdhwc => Channels::Last,
            Axes::Chw => Channels::First,
            Axes::Hw | Axes::Dhw | Axes::Thw | Axes::Tdhw => Channels::None,
        }
    }

    /// Shape of the array for a signal.
    pub(crate) fn shape(self, extent: Extent, channels: usize) -> Vec<usize> {
        let mut shape = extent.axes().to_vec();
        match self.channels() {
            Channels::First => shape.insert(0, channels),
            Channels::Last if self != Axes::T || channels > 1 => shape.push(channels),
            _ => {}
        }
        shape
    }

    /// Extent and number of channels of an array of this shape; an array without a channel axis has
    /// one channel.
    pub(crate) fn split(self, path: &Path, shape: &[usize]) -> Result<(Extent, usize)> {
        let rank = self.rank();
        let (axes, channels) = match self.channels() {
            _ if shape.len() == rank => (shape, 1),
            Channels::Last if shape.len() == rank + 1 => (&shape[..rank], shape[rank]),
            Channels::First if shape.len() == rank + 1 => (&shape[1..], shape[0]),
            _ => {
                let reason = format!(
                    "contains an array of shape {}, which does not fit the axes {self}",
                    shape_words(shape)
                );
                return Err(Error::shape(path, format!("{reason}; set its axes with --axes")));
            }
        };
        if channels == 0 {
            return Err(Error::shape(
                path,
                format!(
                    "has the shape {} and no channels; there is nothing to code",
                    shape_words(shape)
                ),
            ));
        }
        Ok((Extent::new(axes).map_err(Error::content(path))?, channels))
    }

    /// Samples of an array in C order, as a signal.
    pub(crate) fn to_signal<T: Real>(
        self,
        path: &Path,
        shape: &[usize],
        samples: Vec<T>,
    ) -> Result<Signal<T>> {
        let (extent, channels) = self.split(path, shape)?;
        let signal = if self.channels() == Channels::Last && channels > 1 {
            Signal::from_interleaved(extent, channels, &samples)
        } else {
            Signal::from_planar(extent, channels, samples)
        };
        signal.map_err(Error::content(path))
    }

    /// Samples of a signal in C order.
    pub(crate) fn samples<T: Real>(self, signal: &Signal<T>) -> Vec<T> {
        if self.channels() == Channels::Last {
            signal.to_interleaved()
        } else {
            signal.data().to_vec()
        }
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Axes::T => "t",
            Axes::Hw => "hw",
            Axes::Hwc => "hwc",
            Axes::Chw => "chw",
            Axes::Dhw => "dhw",
            Axes::Dhwc => "dhwc",
            Axes::Thw => "thw",
            Axes::Thwc => "thwc",
            Axes::Tdhw => "tdhw",
            Axes::Tdhwc => "tdhwc",
        })
    }
}

impl FromStr for Axes {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Axes::ALL.into_iter().find(|a| a.to_string() == text).ok_or_else(|| {
            lobcod::Error::Parameter {
                name: "the order of the axes",
                value: text.into(),
                allowed: "t, hw, hwc, chw, dhw, dhwc, thw, thwc, tdhw or tdhwc",
            }
            .into()
        })
    }
}
