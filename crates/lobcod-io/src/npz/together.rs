//! A `.npz` file written by several ranks at once, each its part of the arrays.

use super::write::{directory_line, end_records, local_header};
use crate::array::{Array, DataType};
use crate::npy;
use lobcod::engine::ranks::World;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An array of the file.
pub(crate) struct SharedArray<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: DataType,
    /// Shape of the whole array.
    pub(crate) shape: Vec<usize>,
    /// The bytes of this rank: one contiguous run in each plane of the array. The runs of all
    /// ranks, in order, make up a plane.
    pub(crate) own: Vec<Vec<u8>>,
}

impl<'a> SharedArray<'a> {
    /// An array that all ranks have and the first rank writes.
    pub(crate) fn of_first(name: &'a str, array: &Array, world: &dyn World) -> Self {
        let own = if world.rank() == 0 { array.bytes().to_vec() } else { Vec::new() };
        Self { name, dtype: array.dtype(), shape: array.shape().to_vec(), own: vec![own] }
    }
}

/// Position of an array in the file, including its preamble, and the header before it.
struct ByteRange {
    start: u64,
    preamble: Vec<u8>,
    size: u64,
}

/// Writes the arrays; the file is identical to [`encode`](super::encode) of the whole arrays and
/// appears once it is complete.
pub(crate) fn write_together(
    path: &Path,
    arrays: &[SharedArray<'_>],
    world: &dyn World,
) -> io::Result<()> {
    let unfinished = unfinished(path)?;
    if world.rank() == 0 {
        File::create(&unfinished)?;
    }
    // No rank opens the file before it exists.
    world.reduce(&mut [0], &mut []);
    let mut end = 0;
    let mut places = Vec::new();
    for array in arrays {
        let preamble = npy::preamble(array.dtype, &array.shape);
        let size = preamble.len() as u64
            + array.shape.iter().product::<usize>() as u64 * array.dtype.size() as u64;
        let start = end + local_header(&file_name(array), 0, size).len() as u64;
        end = start + size;
        places.push(ByteRange { start, preamble, size });
    }
    let mut file = OpenOptions::new().write(true).open(&unfinished)?;
    let checksums = write_own(&mut file, arrays, &places, world)?;
    if world.rank() == 0 {
        finish(&mut file, arrays, &places, &checksums, end)?;
    }
    file.sync_all()?;
    world.reduce(&mut [0], &mut []);
    if world.rank() == 0 {
        fs::rename(&unfinished, path)?;
    }
    world.reduce(&mut [0], &mut []);
    Ok(())
}

/// Writes this rank's bytes; returns the checksum of each array, including its preamble.
fn write_own(
    file: &mut File,
    arrays: &[SharedArray<'_>],
    places: &[ByteRange],
    world: &dyn World,
) -> io::Result<Vec<u32>> {
    // Lengths and checksums of all runs, array by array, plane by plane.
    let mut own = Vec::new();
    for run in arrays.iter().flat_map(|array| &array.own) {
        own.extend((run.len() as u64).to_le_bytes());
        own.extend(u64::from(crc32fast::hash(run)).to_le_bytes());
    }
    let runs: Vec<Vec<(u64, u32)>> = world.gather(own).iter().map(|bytes| pairs(bytes)).collect();
    let mut checksums = Vec::new();
    let mut first = 0;
    for (array, place) in arrays.iter().zip(places) {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&place.preamble);
        let mut at = place.start + place.preamble.len() as u64;
        for (plane, bytes) in array.own.iter().enumerate() {
            for (rank, runs) in runs.iter().enumerate() {
                let (length, checksum) = runs[first + plane];
                if rank == world.rank() {
                    file.seek(SeekFrom::Start(at))?;
                    file.write_all(bytes)?;
                }
                hasher.combine(&crc32fast::Hasher::new_with_initial_len(checksum, length));
                at += length;
            }
        }
        if at != place.start + place.size {
            return Err(io::Error::other(format!(
                "{} is {} bytes long instead of {}",
                array.name,
                at - place.start,
                place.size
            )));
        }
        first += array.own.len();
        checksums.push(hasher.finalize());
    }
    Ok(checksums)
}

fn pairs(bytes: &[u8]) -> Vec<(u64, u32)> {
    let number = |x: &[u8]| u64::from_le_bytes(x.try_into().expect("eight bytes"));
    bytes.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]) as u32)).collect()
}

/// Writes the headers and the directory.
fn finish(
    file: &mut File,
    arrays: &[SharedArray<'_>],
    places: &[ByteRange],
    checksums: &[u32],
    end: u64,
) -> io::Result<()> {
    let mut directory = Vec::new();
    for ((array, place), &checksum) in arrays.iter().zip(places).zip(checksums) {
        let name = file_name(array);
        let header = local_header(&name, checksum, place.size);
        let offset = place.start - header.len() as u64;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(&header)?;
        file.write_all(&place.preamble)?;
        directory.extend(directory_line(&name, checksum, place.size, offset));
    }
    file.seek(SeekFrom::Start(end))?;
    file.write_all(&directory)?;
    file.write_all(&end_records(arrays.len() as u64, end, directory.len() as u64))
}

fn file_name(array: &SharedArray<'_>) -> String {
    format!("{}.npy", array.name)
}

/// Temporary name of the incomplete file, the same on all ranks.
fn unfinished(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    Ok(path.with_file_name(format!(".{}.unfinished", name.to_string_lossy())))
}
