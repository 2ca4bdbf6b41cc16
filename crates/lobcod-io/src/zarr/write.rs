//! Writing of OME-Zarr images.

use super::{is_zarr, layout};
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::write::{WriteOptions, to_integer};
use lobcod::{Real, Signal};
use std::path::Path;
use std::sync::Arc;
use zarrs::array::codec::ZstdCodec;
use zarrs::array::{ArrayBuilder, DataType};
use zarrs::array_subset::ArraySubset;
use zarrs::filesystem::FilesystemStore;
use zarrs::group::GroupBuilder;

/// Largest chunk along channels, depth, height and width: half a million samples.
const CHUNK: [usize; 4] = [1, 8, 256, 256];

/// Compression of the chunks, as zstd numbers it.
const COMPRESSION: i32 = 3;

/// Name of the only resolution.
const ARRAY: &str = "0";

/// Writes an image or a volume as a folder: first under another name next to it, then renamed.
pub(crate) fn write<T: Real>(
    path: &Path,
    signal: &Signal<T>,
    options: &WriteOptions,
) -> Result<()> {
    if signal.extent().rank() == 1 {
        return Err(Error::shape(path, "cannot store a sequence; use .npy, or .wav for sounds"));
    }
    if path.exists() && !is_zarr(path) {
        return Err(Error::format(path, "exists and is not a Zarr folder; use another name"));
    }
    let failed = |source| Error::write(path, source);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let temporary = tempfile::tempdir_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    let written = temporary.path().join("image.zarr");
    write_folder(&written, signal, options)
        .map_err(|e| failed(std::io::Error::other(e.to_string())))?;
    if !path.exists() {
        return std::fs::rename(&written, path).map_err(failed);
    }
    let replaced = temporary.path().join("replaced.zarr");
    std::fs::rename(path, &replaced).map_err(failed)?;
    std::fs::rename(&written, path).map_err(|source| {
        // The temporary folder is removed with what it holds.
        if std::fs::rename(&replaced, path).is_err() {
            let _ = temporary.keep();
        }
        failed(source)
    })
}

fn write_folder<T: Real>(
    folder: &Path,
    signal: &Signal<T>,
    options: &WriteOptions,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir(folder)?;
    let [depth, height, width] = signal.extent().padded();
    let shape = [signal.channels(), depth, height, width];
    let is_volume = signal.extent().rank() == 3;
    // Axes are in the order of the samples, which is that of the format.
    let kept = [shape[0] > 1, is_volume, true, true];
    let of = |all: [usize; 4]| -> Vec<u64> {
        all.iter().zip(kept).filter(|(_, kept)| *kept).map(|(&n, _)| n as u64).collect()
    };
    let names: Vec<char> =
        "czyx".chars().zip(kept).filter(|(_, kept)| *kept).map(|(name, _)| name).collect();

    let store = Arc::new(FilesystemStore::new(folder)?);
    let mut group = GroupBuilder::new().build(store.clone(), "/")?;
    *group.attributes_mut() = layout::attributes(&names, options.metadata.grid.as_ref(), ARRAY);
    group.store_metadata()?;
    let (dtype, zero) = match options.depth {
        Depth::U8 => (DataType::UInt8, vec![0; 1]),
        Depth::U16 => (DataType::UInt16, vec![0; 2]),
        Depth::F64 => (DataType::Float64, vec![0; 8]),
        _ => (DataType::Float32, vec![0; 4]),
    };
    let chunk = std::array::from_fn(|axis| shape[axis].min(CHUNK[axis]));
    let array = ArrayBuilder::new(of(shape), of(chunk), dtype, zarrs::array::FillValue::new(zero))
        .dimension_names(Some(names.iter().map(char::to_string)))
        .bytes_to_bytes_codecs(vec![Arc::new(ZstdCodec::new(COMPRESSION, false))])
        .build(store, &format!("/{ARRAY}"))?;
    array.store_metadata()?;
    // One layer of chunks after the other, so that none is written twice.
    let slice = height * width;
    for channel in 0..shape[0] {
        for (number, slices) in signal.channel(channel).chunks(chunk[1] * slice).enumerate() {
            let first = number * chunk[1];
            let subset = ArraySubset::new_with_start_shape(
                of([channel, first, 0, 0]),
                of([1, slices.len() / slice, height, width]),
            )?;
            array.store_array_subset(&subset, encoded(slices, options))?;
        }
    }
    Ok(())
}

/// Samples as stored, in the byte order of this machine.
fn encoded<T: Real>(samples: &[T], options: &WriteOptions) -> Vec<u8> {
    let integer = |x: &T, full| to_integer(*x, full, options.scale);
    match options.depth {
        Depth::U8 => samples.iter().map(|x| integer(x, 255.0) as u8).collect(),
        Depth::U16 => {
            samples.iter().flat_map(|x| (integer(x, 65535.0) as u16).to_ne_bytes()).collect()
        }
        Depth::F64 => samples.iter().flat_map(|x| x.to_f64().to_ne_bytes()).collect(),
        _ => samples.iter().flat_map(|x| (x.to_f64() as f32).to_ne_bytes()).collect(),
    }
}
