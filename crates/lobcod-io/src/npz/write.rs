//! Writing `.npz`: stored entries and fixed time stamps, so that equal arrays give equal bytes.

use super::{CENTRAL, END, END_64, EXTRA_64, LOCAL, LOCATOR_64};
use crate::array::Array;
use crate::npy;

/// 64-bit sizes need version 4.5 of the format.
const VERSION: u16 = 45;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
const STORED: u16 = 0;
const TIME: u16 = 0;
/// 1 January 1980, the earliest date in zip files.
const DATE: u16 = (1 << 5) | 1;
/// Marks a number that is stored in a 64-bit field.
const ELSEWHERE: u32 = u32::MAX;

/// The bytes of a `.npz` file with these arrays, in this order.
///
/// All sizes are written as 64-bit numbers, also in small files, so there is no limit at 4 GiB.
///
/// # Panics
/// If two arrays have the same name.
pub fn encode(arrays: &[(&str, Array)]) -> Vec<u8> {
    let mut file = Vec::with_capacity(arrays.iter().map(|(_, a)| a.bytes().len() + 1024).sum());
    let mut directory = Vec::new();
    for (i, (name, array)) in arrays.iter().enumerate() {
        assert!(arrays[..i].iter().all(|(other, _)| other != name), "two arrays are named {name}");
        append(&mut file, &mut directory, &format!("{name}.npy"), &npy::encode(array));
    }
    let count = arrays.len() as u64;
    let start = file.len() as u64;
    let size = directory.len() as u64;
    file.append(&mut directory);
    file.extend(end_records(count, start, size));
    file
}

/// Appends an entry to the file and to the directory.
fn append(file: &mut Vec<u8>, directory: &mut Vec<u8>, name: &str, data: &[u8]) {
    let offset = file.len() as u64;
    let size = data.len() as u64;
    let checksum = crc32fast::hash(data);
    file.extend(local_header(name, checksum, size));
    file.extend_from_slice(data);
    directory.extend(directory_line(name, checksum, size, offset));
}

/// Offset of the checksum in the header of an entry.
pub(super) const CHECKSUM_AT: u64 = 14;

/// The local header of an entry.
pub(super) fn local_header(name: &str, checksum: u32, size: u64) -> Vec<u8> {
    let mut out = LOCAL.to_vec();
    append_common(&mut out, name, checksum, 20);
    out.extend(name.as_bytes());
    append_extra(&mut out, &[size, size]);
    out
}

/// The directory entry.
pub(super) fn directory_line(name: &str, checksum: u32, size: u64, offset: u64) -> Vec<u8> {
    let mut out = CENTRAL.to_vec();
    out.extend(VERSION.to_le_bytes());
    append_common(&mut out, name, checksum, 28);
    // No comment, first disk, binary data, no attributes.
    out.extend([0; 10]);
    out.extend(ELSEWHERE.to_le_bytes());
    out.extend(name.as_bytes());
    append_extra(&mut out, &[size, size, offset]);
    out
}

fn append_common(out: &mut Vec<u8>, name: &str, checksum: u32, extra: u16) {
    [VERSION, FLAGS, STORED, TIME, DATE].iter().for_each(|x| out.extend(x.to_le_bytes()));
    [checksum, ELSEWHERE, ELSEWHERE].iter().for_each(|x| out.extend(x.to_le_bytes()));
    [name.len() as u16, extra].iter().for_each(|x| out.extend(x.to_le_bytes()));
}

fn append_extra(out: &mut Vec<u8>, numbers: &[u64]) {
    [EXTRA_64, 8 * numbers.len() as u16].iter().for_each(|x| out.extend(x.to_le_bytes()));
    numbers.iter().for_each(|x| out.extend(x.to_le_bytes()));
}

/// The three end records of a zip file with 64-bit sizes, whose directory has this size and begins
/// at `start`.
pub(super) fn end_records(count: u64, start: u64, size: u64) -> Vec<u8> {
    let mut out = END_64.to_vec();
    out.extend(44u64.to_le_bytes());
    out.extend(VERSION.to_le_bytes());
    out.extend(VERSION.to_le_bytes());
    out.extend([0; 8]);
    [count, count, size, start].iter().for_each(|x| out.extend(x.to_le_bytes()));

    out.extend(LOCATOR_64);
    out.extend(0u32.to_le_bytes());
    out.extend((start + size).to_le_bytes());
    out.extend(1u32.to_le_bytes());

    out.extend(END);
    out.extend([0; 4]);
    [u16::MAX; 2].iter().for_each(|x| out.extend(x.to_le_bytes()));
    [ELSEWHERE; 2].iter().for_each(|x| out.extend(x.to_le_bytes()));
    out.extend([0; 2]);
    out
}
