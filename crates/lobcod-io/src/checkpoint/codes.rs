//! Codes of all planes as arrays.

use crate::array::{Array, DataType};
use crate::error::Result;
use crate::fields::Fields;
use crate::npz::SharedArray;
use lobcod::Code;

/// Converts the codes of all planes to arrays.
pub(super) fn to_arrays(planes: &[Vec<Code<f64>>]) -> [(&'static str, Array); 4] {
    let codes = || planes.iter().flatten();
    let count = codes().count();
    [
        ("code_counts", lengths(planes)),
        ("position", Array::new(&[count, 3], codes().flat_map(|c| c.position))),
        ("atom", Array::new(&[count], codes().map(|c| c.atom as i32))),
        ("value", Array::new(&[count], codes().map(|c| c.value))),
    ]
}

/// The same as shared arrays, if every rank has some of the codes; all ranks together have `count`.
pub(super) fn columns(planes: &[Vec<Code<f64>>], count: usize) -> [SharedArray<'static>; 3] {
    let column = |name, dtype, shape: &[usize], array: &dyn Fn(&[Code<f64>]) -> Array| {
        let own = planes.iter().map(|codes| array(codes).bytes().to_vec()).collect();
        SharedArray { name, dtype, shape: shape.to_vec(), own }
    };
    [
        column("position", DataType::I32, &[count, 3], &|codes| {
            Array::new(&[codes.len(), 3], codes.iter().flat_map(|c| c.position))
        }),
        column("atom", DataType::I32, &[count], &|codes| {
            Array::new(&[codes.len()], codes.iter().map(|c| c.atom as i32))
        }),
        column("value", DataType::F64, &[count], &|codes| {
            Array::new(&[codes.len()], codes.iter().map(|c| c.value))
        }),
    ]
}

/// Reads the codes of all planes.
pub(super) fn from_arrays(fields: &Fields<'_>) -> Result<Vec<Vec<Code<f64>>>> {
    let values = fields.numbers("value", None)?;
    let positions = fields.npz.get("position")?;
    if positions.shape() != [values.len(), 3] {
        return Err(fields.unsound("position"));
    }
    let positions = positions.to_integers().ok_or_else(|| fields.unsound("position"))?;
    let atoms = fields.integers("atom", Some(values.len()))?;
    let code = |i: usize| {
        let mut position = [0; 3];
        for (axis, &p) in position.iter_mut().zip(&positions[3 * i..]) {
            *axis = i32::try_from(p).map_err(|_| fields.unsound("position"))?;
        }
        let atom = u32::try_from(atoms[i]).map_err(|_| fields.unsound("atom"))?;
        Ok(Code { position, atom, channel: 0, value: values[i] })
    };
    let list = (0..values.len()).map(code).collect::<Result<Vec<_>>>()?;
    split(fields, "code_counts", "value", list)
}

/// Lengths of lists that are concatenated in an array.
pub(super) fn lengths<I>(lists: &[Vec<I>]) -> Array {
    Array::new(&[lists.len()], lists.iter().map(|list| list.len() as i64))
}

/// Splits a list into planes with the lengths in the array `counts`.
pub(super) fn split<I: Clone>(
    fields: &Fields<'_>,
    counts: &str,
    name: &str,
    list: Vec<I>,
) -> Result<Vec<Vec<I>>> {
    let mut rest = &list[..];
    let mut planes = Vec::new();
    for count in fields.integers(counts, None)? {
        let count = usize::try_from(count)
            .ok()
            .filter(|&n| n <= rest.len())
            .ok_or_else(|| fields.unsound(counts))?;
        planes.push(rest[..count].to_vec());
        rest = &rest[count..];
    }
    if rest.is_empty() { Ok(planes) } else { Err(fields.unsound(name)) }
}
