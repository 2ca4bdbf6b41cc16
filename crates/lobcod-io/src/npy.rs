//! The `.npy` format of numpy: one array per file.

use crate::array::{Array, DataType};
use crate::error::{Error, Result};
use std::path::Path;

/// First bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// The traditional axis limit of numpy.
const MAX_AXES: usize = 32;

/// Longest header of version 1 files, including the preamble.
pub(crate) const LONGEST_HEADER: u64 = (1 << 16) + 12;

/// Encodes `array` as a `.npy` file.
pub fn encode(array: &Array) -> Vec<u8> {
    let mut file = preamble(array.dtype(), array.shape());
    file.reserve_exact(array.bytes().len());
    file.extend_from_slice(array.bytes());
    file
}

/// Everything before the samples.
pub(crate) fn preamble(dtype: DataType, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let shape = if shape.len() == 1 { axes.trim_end() } else { axes.trim_end_matches(", ") };
    let mut header =
        format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", descr(dtype));
    // The samples start at a multiple of 64 bytes, so that the file can be memory-mapped.
    let preamble = MAGIC.len() + 4;
    let padding =
        (preamble + header.len() + 1).next_multiple_of(64) - (preamble + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding).chain(['\n']));

    let mut file = Vec::with_capacity(preamble + header.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[1, 0]);
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file
}

/// Decodes a `.npy` file; `path` is used in error messages.
pub fn decode(path: &Path, file: &[u8]) -> Result<Array> {
    decode_whole(path, file.to_vec())
}

/// Decodes a `.npy` file, reusing its memory.
pub(crate) fn decode_whole(path: &Path, mut file: Vec<u8>) -> Result<Array> {
    let header = Header::parse(path, &file)?;
    let size = header.dtype.size();
    let samples = &file[header.offset..];
    let needed = header.shape.iter().try_fold(size, |n, &axis| n.checked_mul(axis));
    if needed != Some(samples.len()) {
        return Err(Error::format(
            path,
            format!(
                "is truncated or damaged: the header declares shape {} of {size}-byte items, but \
                 {} bytes follow; recreate the file",
                shape_words(&header.shape),
                samples.len()
            ),
        ));
    }
    if header.fortran {
        file = to_c_order(&header.shape, size, samples);
    } else {
        file.drain(..header.offset);
    }
    header.to_little_endian(&mut file);
    Ok(Array::from_bytes(header.dtype, header.shape, file))
}

/// A shape as numpy prints it: `(480, 640)`.
pub(crate) fn shape_words(shape: &[usize]) -> String {
    let words: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({})", words.join(", "))
}

/// The header of a `.npy` file.
pub(crate) struct Header {
    pub dtype: DataType,
    pub shape: Vec<usize>,
    big_endian: bool,
    pub fortran: bool,
    pub offset: usize,
}

impl Header {
    /// Converts samples to little-endian.
    pub(crate) fn to_little_endian(&self, bytes: &mut [u8]) {
        if self.big_endian {
            let unit = if matches!(self.dtype, DataType::Text(_)) { 4 } else { self.dtype.size() };
            bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
    }

    pub(crate) fn parse(path: &Path, file: &[u8]) -> Result<Self> {
        let damaged = || {
            Error::format(
                path,
                "is not a valid npy file: its header is damaged or truncated; recreate the file",
            )
        };
        let (length, start) = match file.get(..8) {
            Some([magic @ .., 1, _]) if magic == MAGIC => {
                (file.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))), 10)
            }
            Some([magic @ .., 2 | 3, _]) if magic == MAGIC => {
                (file.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize), 12)
            }
            _ => return Err(damaged()),
        };
        let offset = start + length.ok_or_else(damaged)?;
        let text = file
            .get(start..offset)
            .and_then(|b| std::str::from_utf8(b).ok())
            .ok_or_else(damaged)?;
        let fields = Fields::parse(text).ok_or_else(damaged)?;
        let (dtype, big_endian) = parse_descr(&fields.descr).ok_or_else(|| {
            let cure = "save real numbers, such as float32, float64 or uint8";
            Error::format(
                path,
                format!("contains items of type {}, which is not supported; {cure}", fields.descr),
            )
        })?;
        if fields.shape.len() > MAX_AXES {
            return Err(damaged());
        }
        Ok(Self { dtype, shape: fields.shape, big_endian, fortran: fields.fortran, offset })
    }
}

fn descr(dtype: DataType) -> String {
    use DataType::*;
    match dtype {
        Bool => "|b1".into(),
        I8 => "|i1".into(),
        U8 => "|u1".into(),
        I16 => "<i2".into(),
        U16 => "<u2".into(),
        I32 => "<i4".into(),
        U32 => "<u4".into(),
        I64 => "<i8".into(),
        U64 => "<u8".into(),
        F32 => "<f4".into(),
        F64 => "<f8".into(),
        Text(points) => format!("<U{points}"),
    }
}

/// The type, and whether it is big-endian.
fn parse_descr(text: &str) -> Option<(DataType, bool)> {
    use DataType::*;
    let order = text.chars().next().filter(|c| "<>|=".contains(*c))?;
    let dtype = match &text[1..] {
        "b1" => Bool,
        "i1" => I8,
        "u1" => U8,
        "i2" => I16,
        "u2" => U16,
        "i4" => I32,
        "u4" => U32,
        "i8" => I64,
        "u8" => U64,
        "f4" => F32,
        "f8" => F64,
        other => Text(other.strip_prefix('U')?.parse().ok().filter(|&points| points > 0)?),
    };
    Some((dtype, order == '>'))
}

/// Converts items from Fortran order (first axis fastest) to C order.
fn to_c_order(shape: &[usize], size: usize, items: &[u8]) -> Vec<u8> {
    let mut strides = vec![size; shape.len()];
    for a in 1..shape.len() {
        strides[a] = strides[a - 1] * shape[a - 1];
    }
    let mut at = vec![0; shape.len()];
    let mut from = 0;
    let mut sorted = Vec::with_capacity(items.len());
    while sorted.len() < items.len() {
        sorted.extend_from_slice(&items[from..from + size]);
        for a in (0..shape.len()).rev() {
            at[a] += 1;
            from += strides[a];
            if at[a] < shape[a] {
                break;
            }
            from -= strides[a] * shape[a];
            at[a] = 0;
        }
    }
    sorted
}

/// The three entries of the header, a Python dictionary.
struct Fields {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Fields {
    fn parse(text: &str) -> Option<Self> {
        let mut descr = None;
        let mut fortran = None;
        let mut shape = None;
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" if value.starts_with('[') => {
                    descr = Some("[...] (a record)".to_string());
                    &value[value.rfind(']')? + 1..]
                }
                "descr" => {
                    let (word, after) = quoted(value)?;
                    descr = Some(word.to_string());
                    after
                }
                "fortran_order" => {
                    fortran = Some(value.starts_with("True"));
                    value.strip_prefix("True").or_else(|| value.strip_prefix("False"))?
                }
                "shape" => {
                    let (inside, after) = value.strip_prefix('(')?.split_once(')')?;
                    // Python 2 wrote long integers with a final L.
                    let numbers = inside
                        .split(',')
                        .map(|n| n.trim().trim_end_matches('L'))
                        .filter(|n| !n.is_empty());
                    shape = Some(numbers.map(|n| n.parse().ok()).collect::<Option<Vec<usize>>>()?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

/// A quoted string, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| "'\"".contains(*c))?;
    text[1..].split_once(quote)
}
