//! Codes written piece by piece: from memory without a second copy of them, or from where they wait on disk.

use crate::array::{Array, DataType};
use crate::atomic::write_atomically_with;
use crate::axes::Axes;
use crate::codes::facts;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::notes::Notes;
use crate::npz::NpzStream;
use lobcod::{Border, Code, Dictionary, Extent, Needles, Real, Signal};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Rows of the base layer that are written at once.
const ROWS: usize = 64;

/// What a codes file says beside its codes and base layer.
pub struct CodesFacts<'a, T> {
    /// Size of the coded picture.
    pub extent: Extent,
    /// Its channels.
    pub channels: usize,
    /// Border rule.
    pub border: Border,
    /// Order of the axes of the coded picture.
    pub axes: Axes,
    /// Penalty the codes were found with, in units of the signal.
    pub penalty: f64,
    /// What the full range of integers stands for.
    pub scale: f64,
    /// Type of the samples of the coded picture.
    pub depth: Depth,
    /// Samples a second, if sound was coded.
    pub sample_rate: Option<u32>,
    /// The dictionary the codes belong to.
    pub dictionary: &'a Dictionary<T>,
    /// What the file of the coded picture said beside.
    pub notes: &'a Notes,
}

/// The base layer over a range of rows.
pub type BaseRows<'a, T> = &'a mut dyn FnMut(Range<usize>) -> lobcod::Result<Signal<T>>;

/// Codes that can be gone through again and again, in one order.
pub trait CodesList<T> {
    /// How many there are.
    fn count(&self) -> usize;
    /// Shows all.
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

/// Writes codes, in their order, as a `.npz` file that numpy reads without pickle; equal codes make equal bytes.
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

/// What can go wrong: the file, or what is written into it.
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
    let mut column = |npz: &mut NpzStream<W>, name, dtype, shape: &[usize], bytes: &dyn Fn(Code<T>, &mut Vec<u8>)| {
        npz.array(name, dtype, shape, |sink| each_code(codes, sink, bytes))
    };
    column(npz, "position", DataType::I32, &[count, rank], &|code, out| {
        code.position[3 - rank..].iter().for_each(|p| out.extend(p.to_le_bytes()));
    })?;
    column(npz, "atom", DataType::I32, &[count], &|code, out| out.extend((code.atom as i32).to_le_bytes()))?;
    column(npz, "value", real, &[count], &|code, out| match real {
        DataType::F32 => out.extend((code.value.to_f64() as f32).to_le_bytes()),
        _ => out.extend(code.value.to_f64().to_le_bytes()),
    })?;
    for (name, array) in facts(of) {
        npz.array::<Fault>(name, array.dtype(), array.shape(), |sink| Ok(sink(array.bytes())?))?;
    }
    if of.channels > 1 && of.dictionary.channels() == 1 {
        column(npz, "channel", DataType::I32, &[count], &|code, out| out.extend((code.channel as i32).to_le_bytes()))?;
    }
    if let Some(rate) = of.sample_rate {
        let array = Array::scalar(i64::from(rate));
        npz.array::<Fault>("sample_rate", array.dtype(), array.shape(), |sink| Ok(sink(array.bytes())?))?;
    }
    let Some(base) = base else { return Ok(()) };
    let axes = of.axes.fitting(rank, of.channels);
    npz.array("base", real, &axes.shape(of.extent, of.channels), |sink| base_rows(of, axes, base, sink))
}

/// Makes bytes of every code and hands them on, some thousand codes at a time.
fn each_code<T: Real>(codes: &mut dyn CodesList<T>, sink: Sink, bytes: &dyn Fn(Code<T>, &mut Vec<u8>)) -> Result<(), Fault> {
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

fn base_rows<T: Real>(of: &CodesFacts<T>, axes: Axes, base: BaseRows<T>, sink: Sink) -> Result<(), Fault> {
    let rows = of.extent.axes()[0];
    // One channel after the other where the file wants it so, otherwise all at once.
    let planes = if axes == Axes::Chw { of.channels } else { 1 };
    // Sequences have rows of one sample.
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
