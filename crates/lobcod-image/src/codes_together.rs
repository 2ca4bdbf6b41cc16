//! Codes written by several ranks, each its own.

use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::codes::facts;
use crate::codes_stream::CodesFacts;
use crate::error::{Error, Result};
use crate::npz::{SharedArray, write_together};
use lobcod::engine::ranks::World;
use lobcod::{Code, Real, Signal};
use std::path::Path;

/// Writes the codes file that [`write_codes`](crate::write_codes) would make of those of all ranks. Ranks have codes in the order of the
/// file: all of one rank before those of the next. `base`: the rows of the base layer that are this rank's, also in order; `Some(None)`
/// where there is a layer but no rows of it are this rank's.
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
        column("atom", DataType::I32, &[count], &|code, out| out.extend((code.atom as i32).to_le_bytes())),
        column("value", real, &[count], &|code, out| T::append_bytes(&[code.value], out)),
    ];
    let from_first = |name, array: Array| {
        let own = if world.rank() == 0 { array.bytes().to_vec() } else { Vec::new() };
        SharedArray { name, dtype: array.dtype(), shape: array.shape().to_vec(), own: vec![own] }
    };
    arrays.extend(facts(of).into_iter().map(|(name, array)| from_first(name, array)));
    if of.channels > 1 && of.dictionary.channels() == 1 {
        arrays.push(column("channel", DataType::I32, &[count], &|code, out| out.extend((code.channel as i32).to_le_bytes())));
    }
    if let Some(rate) = of.sample_rate {
        arrays.push(from_first("sample_rate", Array::scalar(i64::from(rate))));
    }
    if let Some(own) = base {
        let axes = of.axes.fitting(rank, of.channels);
        // One channel after the other where the file wants it so, otherwise all at once.
        let planes = if axes == Axes::Chw { of.channels } else { 1 };
        let bytes = |plane: usize| {
            let Some(layer) = own else { return Vec::new() };
            let mut bytes = Vec::new();
            match axes {
                Axes::Chw => T::append_bytes(layer.channel(plane), &mut bytes),
                _ => T::append_bytes(&axes.samples(layer), &mut bytes),
            }
            bytes
        };
        let shape = axes.shape(of.extent, of.channels);
        arrays.push(SharedArray { name: "base", dtype: real, shape, own: (0..planes).map(bytes).collect() });
    }
    write_together(path, &arrays, world).map_err(|source| Error::write(path, source))
}
