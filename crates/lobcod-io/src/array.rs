//! Arrays as stored in files: a data type, a shape and bytes.

use lobcod::Real;

/// Data type of an array on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// Booleans, one byte each.
    Bool,
    /// Signed bytes.
    I8,
    /// Unsigned bytes.
    U8,
    /// Signed 16-bit integers.
    I16,
    /// Unsigned 16-bit integers.
    U16,
    /// Signed 32-bit integers.
    I32,
    /// Unsigned 32-bit integers.
    U32,
    /// Signed 64-bit integers.
    I64,
    /// Unsigned 64-bit integers.
    U64,
    /// Single-precision floats.
    F32,
    /// Double-precision floats.
    F64,
    /// Strings of at most this many code points, four bytes each.
    Text(usize),
}

impl DataType {
    /// Size of one item in bytes.
    pub fn size(self) -> usize {
        use DataType::*;
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
            Text(points) => points.saturating_mul(4),
        }
    }

    /// Whether the items are floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, DataType::F32 | DataType::F64)
    }
}

/// A number that can be an item of an [`Array`].
pub trait Element: Copy {
    /// Its data type.
    const TYPE: DataType;
    /// Appends its bytes, least significant first.
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! element {
    ($($number:ident $name:ident),*) => {$(
        impl Element for $number {
            const TYPE: DataType = DataType::$name;
            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
element!(i8 I8, u8 U8, i16 I16, u16 U16, i32 I32, u32 U32, i64 I64, u64 U64, f32 F32, f64 F64);

/// An array of numbers or strings, in C order and little-endian.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    dtype: DataType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// An array of numbers.
    ///
    /// # Panics
    /// If the number of values does not match the shape.
    pub fn new<E: Element>(shape: &[usize], values: impl IntoIterator<Item = E>) -> Self {
        let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * E::TYPE.size());
        values.into_iter().for_each(|value| value.append_to(&mut bytes));
        Self::from_bytes(E::TYPE, shape.to_vec(), bytes)
    }

    /// A scalar.
    pub fn scalar<E: Element>(value: E) -> Self {
        Self::new(&[], [value])
    }

    /// An array of `f32` or `f64`, the type of the samples.
    ///
    /// # Panics
    /// If the number of values does not match the shape.
    pub fn from_reals<T: Real>(shape: &[usize], values: &[T]) -> Self {
        if size_of::<T>() == 4 {
            Self::new(shape, values.iter().map(|x| x.to_f64() as f32))
        } else {
            Self::new(shape, values.iter().map(|x| x.to_f64()))
        }
    }

    /// A scalar string.
    pub fn from_text(text: &str) -> Self {
        // numpy has no strings of length 0 on disk and drops trailing zeros, so one zero represents
        // the empty string.
        let points = text.chars().count().max(1);
        let mut bytes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        bytes.resize(4 * points, 0);
        Self::from_bytes(DataType::Text(points), vec![], bytes)
    }

    /// The bytes must fill the shape.
    pub(crate) fn from_bytes(dtype: DataType, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        let needed = shape.iter().try_fold(dtype.size(), |n, &axis| n.checked_mul(axis));
        assert_eq!(needed, Some(bytes.len()), "an array's bytes must fill its shape");
        Self { dtype, shape, bytes }
    }

    /// Data type of the items.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Length of every axis, slowest first; empty for a single item.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The items, least significant byte first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same items with another shape of the same volume.
    pub(crate) fn reshaped(self, shape: Vec<usize>) -> Self {
        Self::from_bytes(self.dtype, shape, self.bytes)
    }

    /// All numbers times `factor`; `None` for strings.
    pub fn to_reals<T: Real>(&self, factor: f64) -> Option<Vec<T>> {
        macro_rules! read {
            ($number:ident) => {
                items(&self.bytes, |b| T::from_f64($number::from_le_bytes(b) as f64 * factor))
            };
        }
        Some(match self.dtype {
            DataType::Bool => items(&self.bytes, |[b]| T::from_f64(f64::from(b != 0) * factor)),
            DataType::I8 => read!(i8),
            DataType::U8 => read!(u8),
            DataType::I16 => read!(i16),
            DataType::U16 => read!(u16),
            DataType::I32 => read!(i32),
            DataType::U32 => read!(u32),
            DataType::I64 => read!(i64),
            DataType::U64 => read!(u64),
            DataType::F32 => read!(f32),
            DataType::F64 => read!(f64),
            DataType::Text(_) => return None,
        })
    }

    /// All integers; `None` for other types, or if an integer does not fit in `i64`.
    pub fn to_integers(&self) -> Option<Vec<i64>> {
        macro_rules! read {
            ($number:ident) => {
                items(&self.bytes, |b| i64::from($number::from_le_bytes(b)))
            };
        }
        Some(match self.dtype {
            DataType::I8 => read!(i8),
            DataType::U8 => read!(u8),
            DataType::I16 => read!(i16),
            DataType::U16 => read!(u16),
            DataType::I32 => read!(i32),
            DataType::U32 => read!(u32),
            DataType::I64 => read!(i64),
            DataType::U64 => items(&self.bytes, u64::from_le_bytes)
                .into_iter()
                .map(|x| x.try_into().ok())
                .collect::<Option<_>>()?,
            _ => return None,
        })
    }

    /// The value of a scalar string.
    pub fn to_text(&self) -> Option<String> {
        if !matches!(self.dtype, DataType::Text(_)) || self.shape.iter().product::<usize>() != 1 {
            return None;
        }
        let points = items(&self.bytes, u32::from_le_bytes);
        let text: String = points.into_iter().map(char::from_u32).collect::<Option<_>>()?;
        Some(text.trim_end_matches('\0').into())
    }
}

fn items<const N: usize, U>(bytes: &[u8], read: impl Fn([u8; N]) -> U) -> Vec<U> {
    bytes.as_chunks::<N>().0.iter().map(|&b| read(b)).collect()
}
