//! Conversion between numpy arrays and signals, masks, dictionaries and codes.
//!
//! Arrays are read in place, whatever their strides; the signal of the solver is the only copy.
//! Results are passed to numpy without copying.

use crate::errors::{Fault, Result};
use lobcod::{Border, Code, Dictionary, Extent, Mask, Needles, Real, Signal};
use numpy::ndarray::ArrayViewD;
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::prelude::*;

/// An array of one of the types that are read without a copy.
#[derive(FromPyObject)]
pub enum Numbers<'py> {
    /// Single precision.
    F32(PyReadonlyArrayDyn<'py, f32>),
    /// Double precision.
    F64(PyReadonlyArrayDyn<'py, f64>),
    /// 8-bit images.
    U8(PyReadonlyArrayDyn<'py, u8>),
    /// 16-bit images.
    U16(PyReadonlyArrayDyn<'py, u16>),
    /// Masks.
    Bool(PyReadonlyArrayDyn<'py, bool>),
}

impl Numbers<'_> {
    fn shape(&self) -> &[usize] {
        use numpy::PyUntypedArrayMethods;
        match self {
            Numbers::F32(a) => a.shape(),
            Numbers::F64(a) => a.shape(),
            Numbers::U8(a) => a.shape(),
            Numbers::U16(a) => a.shape(),
            Numbers::Bool(a) => a.shape(),
        }
    }

    /// All values, in C order.
    pub fn values<T: Real>(&self) -> Vec<T> {
        match self {
            Numbers::F32(a) => collect(a.as_array(), |x| T::from_f64(f64::from(x))),
            Numbers::F64(a) => collect(a.as_array(), T::from_f64),
            Numbers::U8(a) => collect(a.as_array(), |x| T::from_f64(f64::from(x))),
            Numbers::U16(a) => collect(a.as_array(), |x| T::from_f64(f64::from(x))),
            Numbers::Bool(a) => collect(a.as_array(), |x| if x { T::ONE } else { T::ZERO }),
        }
    }

    /// A signal, channels first if there is a channel axis.
    pub fn signal<T: Real>(&self, has_channels: bool) -> Result<Signal<T>> {
        let shape = self.shape();
        let (channels, axes) = match (has_channels, shape) {
            (true, [channels, axes @ ..]) => (*channels, axes),
            _ => (1, shape),
        };
        Ok(Signal::from_planar(Extent::new(axes)?, channels, self.values())?)
    }

    /// A mask for signals with `rank` axes: single-channel, or channels first.
    pub fn mask<T: Real>(&self, rank: usize) -> Result<Mask<T>> {
        Ok(Mask::new(self.weights(rank)?)?)
    }

    /// The weights of a mask or of a part of one: single-channel, or channels first.
    pub fn weights<T: Real>(&self, rank: usize) -> Result<Signal<T>> {
        self.signal(self.shape().len() > rank)
    }

    /// Atoms with `rank` axes: `(m, ...)`, or `(m, c, ...)`.
    pub fn dictionary<T: Real>(&self, rank: usize) -> Result<Dictionary<T>> {
        let shape = self.shape();
        let channels = match shape.len().checked_sub(rank) {
            Some(1) => 1,
            Some(2) => shape[1],
            _ => {
                let axes = ["t", "h, w", "d, h, w"][rank.clamp(1, 3) - 1];
                let words = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                return Err(Fault::value(format!(
                    "a dictionary for these signals has the shape (m, {axes}) or, with channels, \
                     (m, c, {axes}), not ({words}); reshape it, or set channel_axis"
                )));
            }
        };
        Ok(Dictionary::new(Extent::new(&shape[shape.len() - rank..])?, channels, self.values())?)
    }
}

fn collect<S: Element + Copy, T>(array: ArrayViewD<'_, S>, cast: impl Fn(S) -> T) -> Vec<T> {
    match array.as_slice() {
        Some(numbers) => numbers.iter().map(|&x| cast(x)).collect(),
        None => array.iter().map(|&x| cast(x)).collect(),
    }
}

/// A mask, if there is one.
pub fn optional_mask<T: Real>(mask: Option<&Numbers<'_>>, rank: usize) -> Result<Option<Mask<T>>> {
    mask.map(|mask| mask.mask(rank)).transpose()
}

/// A mask whose weights may be above 1, if there is one.
pub fn optional_weights<T: Real>(
    mask: Option<&Numbers<'_>>,
    rank: usize,
) -> Result<Option<Mask<T>>> {
    mask.map(|mask| Ok(Mask::weighted(mask.weights(rank)?)?)).transpose()
}

/// An array of this shape that takes ownership of the values.
pub fn array<'py, T: Element>(
    py: Python<'py>,
    numbers: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, numbers).reshape(shape.to_vec())
}

/// The array of a signal, channels first if it has a channel axis.
pub fn signal_array<'py, T: Real + Element>(
    py: Python<'py>,
    signal: Signal<T>,
    has_channels: bool,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let mut shape: Vec<usize> = has_channels.then_some(signal.channels()).into_iter().collect();
    shape.extend(signal.extent().axes());
    array(py, signal.into_data(), &shape)
}

/// The array of a dictionary, with a channel axis if it has several channels.
pub fn atoms_array<'py, T: Real + Element>(
    py: Python<'py>,
    atoms: &Dictionary<T>,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let mut shape = vec![atoms.len()];
    shape.extend((atoms.channels() > 1).then_some(atoms.channels()));
    shape.extend(atoms.extent().axes());
    array(py, atoms.data().to_vec(), &shape)
}

/// Codes as arrays: position, atom, channel, value.
pub type CodeArrays<'py, T> = (
    Bound<'py, PyArrayDyn<i32>>,
    Bound<'py, PyArrayDyn<i32>>,
    Bound<'py, PyArrayDyn<i32>>,
    Bound<'py, PyArrayDyn<T>>,
);

/// Codes as arrays.
pub fn code_arrays<'py, T: Real + Element>(
    py: Python<'py>,
    needles: &Needles<T>,
) -> PyResult<CodeArrays<'py, T>> {
    let codes = needles.codes();
    let count = needles.nonzeros();
    let rank = needles.extent().rank();
    let positions = codes.iter().flat_map(|c| c.position[3 - rank..].iter().copied()).collect();
    Ok((
        array(py, positions, &[count, rank])?,
        array(py, codes.iter().map(|c| c.atom as i32).collect(), &[count])?,
        array(py, codes.iter().map(|c| c.channel as i32).collect(), &[count])?,
        array(py, codes.iter().map(|c| c.value).collect(), &[count])?,
    ))
}

/// Codes from Python, with their context.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GivenCodes<'py> {
    position: PyReadonlyArrayDyn<'py, i32>,
    atom: PyReadonlyArrayDyn<'py, i32>,
    channel: PyReadonlyArrayDyn<'py, i32>,
    value: Numbers<'py>,
    /// Shape of the coded signal, without channels.
    shape: Vec<usize>,
    channels: usize,
    border: String,
}

impl GivenCodes<'_> {
    /// Number of axes of the coded signal.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The needles.
    pub fn needles<T: Real>(&self) -> Result<Needles<T>> {
        let extent = Extent::new(&self.shape)?;
        let values: Vec<T> = self.value.values();
        let positions = collect(self.position.as_array(), |x| x);
        let (atoms, channels) =
            (collect(self.atom.as_array(), |x| x), collect(self.channel.as_array(), |x| x));
        let (count, rank) = (values.len(), extent.rank());
        if positions.len() != count * rank || atoms.len() != count || channels.len() != count {
            return Err(Fault::value(format!(
                "the arrays of {count} codes have different lengths; they must be equal"
            )));
        }
        let number = |x: i32| {
            u32::try_from(x).map_err(|_| Fault::value("an atom or channel index is negative"))
        };
        let code = |i: usize| {
            let mut position = [0; 3];
            position[3 - rank..].copy_from_slice(&positions[i * rank..(i + 1) * rank]);
            Ok(Code {
                position,
                atom: number(atoms[i])?,
                channel: number(channels[i])?,
                value: values[i],
            })
        };
        let codes = (0..count).map(code).collect::<Result<Vec<_>>>()?;
        Ok(Needles::new(extent, self.channels, self.border.parse::<Border>()?, codes))
    }
}
