//! Writing `.npz`: stored entries, fixed time stamps, so that equal arrays make equal bytes.

use super::{CENTRAL, END, END_64, EXTRA_64, LOCAL, LOCATOR_64};
use crate::array::Array;
use crate::npy;

/// 64-bit sizes need version 4.5 of the format.
const VERSION: u16 = 45;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
const STORED: u16 = 0;
const TIME: u16 = 0;
/// 1 January 1980, the first day zip knows.
const DATE: u16 = (1 << 5) | 1;
/// Stands for a number that lies in a 64-bit field.
const ELSEWHERE: u32 = u32::MAX;

/// The bytes of a `.npz` file with these arrays, in this order.
///
/// All sizes are written as 64-bit numbers, small files too: one way, and no limit at 4 GiB.
///
/// # Panics
/// If two arrays have the same name.
pub fn encode(arrays: &[(&str, Array)]) -> Vec<u8> {
    let mut file = Vec::with_capacity(arrays.iter().map(|(_, a)| a.bytes().len() + 1024).sum());
    let mut directory = Vec::new();
    for (i, (name, array)) in arrays.iter().enumerate() {
        assert!(arrays[..i].iter().all(|(other, _)| other != name), "two arrays are called {name}");
        append(&mut file, &mut directory, &format!("{name}.npy"), &npy::encode(array));
    }
    let (count, start, size) = (arrays.len() as u64, file.len() as u64, directory.len() as u64);
    file.append(&mut directory);
    append_end(&mut file, count, start, size);
    file
}

/// Appends one entry to the file, and its line to the directory.
fn append(file: &mut Vec<u8>, directory: &mut Vec<u8>, name: &str, data: &[u8]) {
    let (offset, size) = (file.len() as u64, data.len() as u64);
    let checksum = crc32fast::hash(data);
    let common = |out: &mut Vec<u8>, extra: u16| {
        [VERSION, FLAGS, STORED, TIME, DATE].iter().for_each(|x| out.extend(x.to_le_bytes()));
        [checksum, ELSEWHERE, ELSEWHERE].iter().for_each(|x| out.extend(x.to_le_bytes()));
        [name.len() as u16, extra].iter().for_each(|x| out.extend(x.to_le_bytes()));
    };
    let extra = |out: &mut Vec<u8>, numbers: &[u64]| {
        [EXTRA_64, 8 * numbers.len() as u16].iter().for_each(|x| out.extend(x.to_le_bytes()));
        numbers.iter().for_each(|x| out.extend(x.to_le_bytes()));
    };

    file.extend(LOCAL);
    common(file, 20);
    file.extend(name.as_bytes());
    extra(file, &[size, size]);
    file.extend_from_slice(data);

    directory.extend(CENTRAL);
    directory.extend(VERSION.to_le_bytes());
    common(directory, 28);
    // No comment, first disk, binary data, no attributes.
    directory.extend([0; 10]);
    directory.extend(ELSEWHERE.to_le_bytes());
    directory.extend(name.as_bytes());
    extra(directory, &[size, size, offset]);
}

/// Appends the three records that close a zip file with 64-bit sizes.
fn append_end(file: &mut Vec<u8>, count: u64, start: u64, size: u64) {
    let at = file.len() as u64;
    file.extend(END_64);
    file.extend(44u64.to_le_bytes());
    file.extend(VERSION.to_le_bytes());
    file.extend(VERSION.to_le_bytes());
    file.extend([0; 8]);
    [count, count, size, start].iter().for_each(|x| file.extend(x.to_le_bytes()));

    file.extend(LOCATOR_64);
    file.extend(0u32.to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend(1u32.to_le_bytes());

    file.extend(END);
    file.extend([0; 4]);
    [u16::MAX; 2].iter().for_each(|x| file.extend(x.to_le_bytes()));
    [ELSEWHERE; 2].iter().for_each(|x| file.extend(x.to_le_bytes()));
    file.extend([0; 2]);
}
