//! A `.npz` file written by several ranks at once, each its part of the arrays.

use super::write::{directory_line, end_records, local_header};
use crate::array::{Array, DataType};
use crate::npy;
use lobcod::engine::ranks::{World, wire};
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
/// appears once it is complete. If one rank fails, all do: they continue with the same collective
/// calls.
pub(crate) fn write_together(
    path: &Path,
    arrays: &[SharedArray<'_>],
    world: &dyn World,
) -> io::Result<()> {
    let unfinished = unfinished(path)?;
    let at_first = |work: &dyn Fn() -> io::Result<()>| {
        agreed(if world.rank() == 0 { work() } else { Ok(()) }, world)
    };
    // No rank opens the file before it exists.
    at_first(&|| File::create(&unfinished).map(drop))?;
    let runs = gather_runs(arrays, world);
    let written = agreed(write_own(&unfinished, arrays, &runs, world.rank()), world)
        .and_then(|()| at_first(&|| fs::rename(&unfinished, path)));
    if written.is_err() && world.rank() == 0 {
        // The error is already known.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// The result of this rank, or an error if another rank failed.
fn agreed(own: io::Result<()>, world: &dyn World) -> io::Result<()> {
    let mut failed = [i64::from(own.is_err())];
    world.reduce(&mut failed, &mut []);
    if own.is_ok() && failed[0] > 0 {
        return Err(io::Error::other("another rank could not write its part"));
    }
    own
}

/// Length and checksum of a run of bytes.
type Run = [u64; 2];

/// The runs of every rank, array by array, plane by plane.
fn gather_runs(arrays: &[SharedArray<'_>], world: &dyn World) -> Vec<Vec<Run>> {
    let own = arrays.iter().flat_map(|array| &array.own);
    let own: Vec<Run> =
        own.map(|run| [run.len() as u64, u64::from(crc32fast::hash(run))]).collect();
    let mut message = Vec::new();
    wire::put_list(&mut message, &own);
    world.gather(message).iter().map(|message| wire::take_list(&mut &message[..])).collect()
}

/// Positions of the arrays in the file, and the end of the last.
fn byte_ranges(arrays: &[SharedArray<'_>]) -> (Vec<ByteRange>, u64) {
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
    (places, end)
}

/// Writes the bytes of a rank; the first one also writes headers and directory, with the checksum
/// of each array including its preamble.
fn write_own(
    path: &Path,
    arrays: &[SharedArray<'_>],
    runs: &[Vec<Run>],
    own: usize,
) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let (places, end) = byte_ranges(arrays);
    let mut checksums = Vec::new();
    let mut first = 0;
    for (array, place) in arrays.iter().zip(&places) {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&place.preamble);
        let mut at = place.start + place.preamble.len() as u64;
        for (plane, bytes) in array.own.iter().enumerate() {
            for (rank, runs) in runs.iter().enumerate() {
                let [length, checksum] = runs[first + plane];
                if rank == own {
                    file.seek(SeekFrom::Start(at))?;
                    file.write_all(bytes)?;
                }
                hasher.combine(&crc32fast::Hasher::new_with_initial_len(checksum as u32, length));
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
    if own == 0 {
        finish(&mut file, arrays, &places, &checksums, end)?;
    }
    file.sync_all()
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
