//! Codes written piece by piece: from memory without a second copy, or from a temporary file.

use crate::array::{Array, DataType};
use crate::atomic::write_atomically_with;
use crate::axes::Axes;
use crate::codes::facts;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::npz::NpzStream;
use lobcod::{Border, Code, Dictionary, Extent, Needles, Real, Signal};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Number of base-layer rows written at once.
const ROWS: usize = 64;

/// Contents of a codes file other than the codes and the base layer.
pub struct CodesFacts<'a, T> {
    /// Size of the coded image.
    pub extent: Extent,
    /// Its number of channels.
    pub channels: usize,
    /// Border rule.
    pub border: Border,
    /// Order of the axes of the coded image.
    pub axes: Axes,
    /// Penalty of the pursuit, in signal units.
    pub penalty: f64,
    /// Signal value of the full integer range.
    pub scale: f64,
    /// Type of the samples of the coded image.
    pub depth: Depth,
    /// Sample rate, if a sound was coded.
    pub sample_rate: Option<u32>,
    /// The dictionary the codes belong to.
    pub dictionary: &'a Dictionary<T>,
    /// Metadata of the coded image.
    pub metadata: &'a Metadata,
}

/// The base layer over a range of rows.
pub type BaseRows<'a, T> = &'a mut dyn FnMut(Range<usize>) -> lobcod::Result<Signal<T>>;

/// Codes that can be iterated repeatedly, in a fixed order.
pub trait CodesList<T> {
    /// Number of codes.
    fn count(&self) -> usize;
    /// Passes all codes to `each`.
    fn show_all(&mut self, each: &mut dyn FnMut(Code<T>)) -> lobcod::Result<()>;
}

impl<T: Real> CodesList<T> for &Needles<T> {
    fn count(&self) -> usize {
        self.nonzeros()
    }

    fn show_all(&mut self, each: &mut dyn FnMut(Code<T>)) -> lobcod::Result<()> {
        self.codes().iter().copied().for_each(each);
        Ok(())
    }
}

/// Writes codes, in their order, as a `.npz` file that numpy reads without pickle; equal codes give
/// equal bytes.
pub fn stream_codes<T: Real>(
    path: &Path,
    of: &CodesFacts<T>,
    codes: &mut dyn CodesList<T>,
    base: Option<BaseRows<T>>,
) -> Result<()> {
    write_atomically_with(path, |file| {
        let mut npz = NpzStream::new(file);
        write(&mut npz, of, codes, base)?;
        npz.finish().map_err(Fault::Io)
    })
    .map_err(|fault| match fault {
        Fault::Io(source) => Error::write(path, source),
        Fault::Core(error) => error.into(),
    })
}

/// An error of the file, or of the contents.
pub(crate) enum Fault {
    Io(io::Error),
    Core(lobcod::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

fn write<T: Real, W: io::Write + io::Seek>(
    npz: &mut NpzStream<W>,
    of: &CodesFacts<T>,
    codes: &mut dyn CodesList<T>,
    base: Option<BaseRows<T>>,
) -> Result<(), Fault> {
    let (rank, count) = (of.extent.rank(), codes.count());
    let real = if size_of::<T>() == 4 { DataType::F32 } else { DataType::F64 };
    let mut column = |npz: &mut NpzStream<W>,
                      name,
                      dtype,
                      shape: &[usize],
                      bytes: &dyn Fn(Code<T>, &mut Vec<u8>)| {
        npz.array(name, dtype, shape, |sink| each_code(codes, sink, bytes))
    };
    column(npz, "position", DataType::I32, &[count, rank], &|code, out| {
        code.position[3 - rank..].iter().for_each(|p| out.extend(p.to_le_bytes()));
    })?;
    column(npz, "atom", DataType::I32, &[count], &|code, out| {
        out.extend((code.atom as i32).to_le_bytes())
    })?;
    column(npz, "value", real, &[count], &|code, out| match real {
        DataType::F32 => out.extend((code.value.to_f64() as f32).to_le_bytes()),
        _ => out.extend(code.value.to_f64().to_le_bytes()),
    })?;
    for (name, array) in facts(of) {
        npz.array::<Fault>(name, array.dtype(), array.shape(), |sink| Ok(sink(array.bytes())?))?;
    }
    if of.channels > 1 && of.dictionary.channels() == 1 {
        column(npz, "channel", DataType::I32, &[count], &|code, out| {
            out.extend((code.channel as i32).to_le_bytes())
        })?;
    }
    if let Some(rate) = of.sample_rate {
        let array = Array::scalar(i64::from(rate));
        npz.array::<Fault>("sample_rate", array.dtype(), array.shape(), |sink| {
            Ok(sink(array.bytes())?)
        })?;
    }
    let Some(base) = base else { return Ok(()) };
    let axes = of.axes.fitting(rank, of.channels);
    npz.array("base", real, &axes.shape(of.extent, of.channels), |sink| {
        base_rows(of, axes, base, sink)
    })
}

/// Serializes the codes in blocks of some thousand.
fn each_code<T: Real>(
    codes: &mut dyn CodesList<T>,
    sink: Sink,
    bytes: &dyn Fn(Code<T>, &mut Vec<u8>),
) -> Result<(), Fault> {
    let (mut buffer, mut written) = (Vec::new(), Ok(()));
    codes
        .show_all(&mut |code| {
            bytes(code, &mut buffer);
            if buffer.len() > 1 << 16 && written.is_ok() {
                written = sink(&buffer);
                buffer.clear();
            }
        })
        .map_err(Fault::Core)?;
    written?;
    Ok(sink(&buffer)?)
}

fn base_rows<T: Real>(
    of: &CodesFacts<T>,
    axes: Axes,
    base: BaseRows<T>,
    sink: Sink,
) -> Result<(), Fault> {
    let rows = of.extent.axes()[0];
    // Channel by channel if the file format requires it, otherwise all at once.
    let planes = if axes == Axes::Chw { of.channels } else { 1 };
    // The rows of a sequence are single samples.
    let step = if of.extent.rank() == 1 { 1 << 16 } else { ROWS };
    for plane in 0..planes {
        for start in (0..rows).step_by(step) {
            let layer = base(start..rows.min(start + step)).map_err(Fault::Core)?;
            let array = match axes {
                Axes::Chw => Array::from_reals(&[layer.extent().volume()], layer.channel(plane)),
                _ => Array::from_reals(&[layer.data().len()], &axes.samples(&layer)),
            };
            sink(array.bytes())?;
        }
    }
    Ok(())
}
