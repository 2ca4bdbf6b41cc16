//! Codes written by several ranks at once.

use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::codes::facts;
use crate::codes_stream::CodesFacts;
use crate::error::{Error, Result};
use crate::npz::{SharedArray, write_together};
use lobcod::engine::ranks::World;
use lobcod::{Code, Real, Signal};
use std::path::Path;

/// Writes the same codes file as [`write_codes`](crate::write_codes) for the codes of all ranks.
/// Ranks hold codes in file order: all codes of one rank precede those of the next. `base` contains
/// this rank's rows of the base layer, also in order; `Some(None)` if there is a layer but this
/// rank has no rows.
pub fn write_codes_together<T: Real>(
    path: &Path,
    of: &CodesFacts<T>,
    codes: &[Code<T>],
    base: Option<Option<&Signal<T>>>,
    world: &dyn World,
) -> Result<()> {
    let mut count = [codes.len() as i64];
    world.reduce(&mut count, &mut []);
    let (rank, count) = (of.extent.rank(), count[0] as usize);
    let real = if size_of::<T>() == 4 { DataType::F32 } else { DataType::F64 };
    let column = |name, dtype, shape: &[usize], bytes: &dyn Fn(&Code<T>, &mut Vec<u8>)| {
        let mut own = Vec::new();
        codes.iter().for_each(|code| bytes(code, &mut own));
        SharedArray { name, dtype, shape: shape.to_vec(), own: vec![own] }
    };
    let mut arrays = vec![
        column("position", DataType::I32, &[count, rank], &|code, out| {
            code.position[3 - rank..].iter().for_each(|p| out.extend(p.to_le_bytes()));
        }),
        column("atom", DataType::I32, &[count], &|code, out| {
            out.extend((code.atom as i32).to_le_bytes())
        }),
        column("value", real, &[count], &|code, out| append_reals(&[code.value], out)),
    ];
    arrays.extend(
        facts(of).into_iter().map(|(name, array)| SharedArray::of_first(name, &array, world)),
    );
    if of.channels > 1 && of.dictionary.channels() == 1 {
        arrays.push(column("channel", DataType::I32, &[count], &|code, out| {
            out.extend((code.channel as i32).to_le_bytes())
        }));
    }
    if let Some(rate) = of.sample_rate {
        arrays.push(SharedArray::of_first("sample_rate", &Array::scalar(i64::from(rate)), world));
    }
    if let Some(own) = base {
        let axes = of.axes.fitting(rank, of.channels);
        // Channel by channel if the file format requires it, otherwise all at once.
        let planes = if axes == Axes::Chw { of.channels } else { 1 };
        let bytes = |plane: usize| {
            let Some(layer) = own else { return Vec::new() };
            let mut bytes = Vec::new();
            match axes {
                Axes::Chw => append_reals(layer.channel(plane), &mut bytes),
                _ => append_reals(&axes.samples(layer), &mut bytes),
            }
            bytes
        };
        let shape = axes.shape(of.extent, of.channels);
        arrays.push(SharedArray {
            name: "base",
            dtype: real,
            shape,
            own: (0..planes).map(bytes).collect(),
        });
    }
    write_together(path, &arrays, world).map_err(|source| Error::write(path, source))
}

/// Appends numbers in the precision of the signal.
fn append_reals<T: Real>(numbers: &[T], into: &mut Vec<u8>) {
    let wide = size_of::<T>() == 8;
    for x in numbers.iter().map(|x| x.to_f64()) {
        if wide { into.extend(x.to_le_bytes()) } else { into.extend((x as f32).to_le_bytes()) }
    }
}
