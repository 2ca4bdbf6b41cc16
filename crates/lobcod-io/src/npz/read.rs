//! Reading `.npz`: stored and deflated entries, 32-bit and 64-bit sizes.

use super::{CENTRAL, END, END_64, EXTRA_64, LOCAL, LOCATOR_64};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::npy;
use flate2::read::DeflateDecoder;
use std::io::Read;
use std::path::{Path, PathBuf};

const STORED: u64 = 0;
const DEFLATED: u64 = 8;
/// Length of the end record and the longest comment that may follow it.
const LONGEST_END: usize = 22 + 65535;

/// The arrays of a `.npz` file; each is unpacked on demand.
pub struct Npz {
    path: PathBuf,
    file: Vec<u8>,
    limit: u64,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    encrypted: bool,
    method: u64,
    checksum: u64,
    packed: u64,
    unpacked: u64,
    offset: u64,
}

impl Npz {
    /// Parses the bytes of a `.npz` file. `path` is used in error messages; `limit` is the largest
    /// size of an array in bytes.
    pub fn new(path: &Path, file: Vec<u8>, limit: u64) -> Result<Self> {
        let entries = directory(&file).ok_or_else(|| {
            Error::format(
                path,
                "is not a valid npz file: its directory is damaged or truncated; recreate the file",
            )
        })?;
        Ok(Self { path: path.into(), file, limit, entries })
    }

    /// Names of the arrays, in file order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_str())
    }

    /// The array of this name, if there is one.
    pub fn find(&self, name: &str) -> Result<Option<Array>> {
        let Some(entry) = self.entries.iter().find(|e| e.name == name) else { return Ok(None) };
        npy::decode(&self.path, &self.unpack(entry)?).map(Some)
    }

    /// The array of this name, or an error if it is missing.
    pub fn get(&self, name: &str) -> Result<Array> {
        self.find(name)?.ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            Error::format(
                &self.path,
                format!("has no array {name} (it has: {}); recreate the file", names.join(", ")),
            )
        })
    }

    /// The shape of the array of this name, from its header.
    pub(crate) fn shape(&self, name: &str) -> Result<Vec<usize>> {
        let damaged = || {
            Error::format(&self.path, format!("is damaged in the array {name}; recreate the file"))
        };
        let entry = self.entries.iter().find(|e| e.name == name).ok_or_else(damaged)?;
        let packed = packed(&self.file, entry).ok_or_else(damaged)?;
        let mut head = Vec::new();
        let read = match entry.method {
            STORED => packed.take(npy::LONGEST_HEADER).read_to_end(&mut head),
            _ => DeflateDecoder::new(packed).take(npy::LONGEST_HEADER).read_to_end(&mut head),
        };
        read.map_err(|_| damaged())?;
        Ok(npy::Header::parse(&self.path, &head)?.shape)
    }

    fn unpack(&self, entry: &Entry) -> Result<Vec<u8>> {
        let damaged = || {
            Error::format(
                &self.path,
                format!("is damaged in the array {}; recreate the file", entry.name),
            )
        };
        if entry.encrypted || ![STORED, DEFLATED].contains(&entry.method) {
            let cure = "save it with numpy.savez or numpy.savez_compressed";
            return Err(Error::format(
                &self.path,
                format!("uses an unsupported compression or encryption; {cure}"),
            ));
        }
        if entry.unpacked > self.limit {
            return Err(Error::Limits {
                path: self.path.clone(),
                needed: entry.unpacked,
                limit: self.limit,
            });
        }
        let packed = packed(&self.file, entry).ok_or_else(damaged)?;
        let data = if entry.method == STORED {
            packed.to_vec()
        } else {
            // The declared size only bounds the reading; memory grows with the actual data.
            let mut data = Vec::new();
            DeflateDecoder::new(packed)
                .take(entry.unpacked.saturating_add(1))
                .read_to_end(&mut data)
                .map_err(|_| damaged())?;
            data
        };
        if data.len() as u64 != entry.unpacked
            || u64::from(crc32fast::hash(&data)) != entry.checksum
        {
            return Err(damaged());
        }
        Ok(data)
    }
}

/// The stored bytes of an entry.
fn packed<'a>(file: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let local = Record::at(file, entry.offset, LOCAL)?;
    let start = entry
        .offset
        .checked_add(30)?
        .checked_add(local.number(26, 2)?)?
        .checked_add(local.number(28, 2)?)?;
    let end = start.checked_add(entry.packed)?;
    file.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// The directory at the end of the file; `None` if it is invalid.
fn directory(file: &[u8]) -> Option<Vec<Entry>> {
    let earliest = file.len().saturating_sub(LONGEST_END);
    let end = (earliest..=file.len().checked_sub(22)?).rev().find(|&at| {
        Record::at(file, at as u64, END)
            .and_then(|r| r.number(20, 2))
            .is_some_and(|comment| at + 22 + comment as usize == file.len())
    })?;
    let record = Record::at(file, end as u64, END)?;
    let (mut count, mut at) = (record.number(10, 2)?, record.number(16, 4)?);
    if count == u64::from(u16::MAX) || at == u64::from(u32::MAX) {
        let locator = Record::at(file, (end as u64).checked_sub(20)?, LOCATOR_64)?;
        let record = Record::at(file, locator.number(8, 8)?, END_64)?;
        (count, at) = (record.number(32, 8)?, record.number(48, 8)?);
    }
    let mut entries = Vec::new();
    for _ in 0..count {
        let (entry, length) = Record::at(file, at, CENTRAL)?.entry()?;
        entries.push(entry);
        at = at.checked_add(length)?;
    }
    Some(entries)
}

/// A record of the zip format, from its signature on.
struct Record<'a>(&'a [u8]);

impl<'a> Record<'a> {
    fn at(file: &'a [u8], offset: u64, signature: &[u8; 4]) -> Option<Self> {
        let bytes = file.get(usize::try_from(offset).ok()?..)?;
        bytes.starts_with(signature).then_some(Self(bytes))
    }

    /// The number of `size` bytes at `offset`.
    fn number(&self, offset: usize, size: usize) -> Option<u64> {
        Some(self.0.get(offset..offset + size)?.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    /// A directory entry, and its length in bytes.
    fn entry(&self) -> Option<(Entry, u64)> {
        let name = self.number(28, 2)? as usize;
        let extra = self.number(30, 2)? as usize;
        let comment = self.number(32, 2)? as usize;
        let file_name = std::str::from_utf8(self.0.get(46..46 + name)?).ok()?;
        let mut entry = Entry {
            name: file_name.strip_suffix(".npy").unwrap_or(file_name).into(),
            encrypted: self.number(8, 2)? & 1 != 0,
            method: self.number(10, 2)?,
            checksum: self.number(16, 4)?,
            packed: self.number(20, 4)?,
            unpacked: self.number(24, 4)?,
            offset: self.number(42, 4)?,
        };
        entry.take_wide_sizes(Record(self.0.get(46 + name..46 + name + extra)?))?;
        Some((entry, (46 + name + extra + comment) as u64))
    }
}

impl Entry {
    /// Replaces sizes that do not fit in 32 bits by those of the extra field.
    fn take_wide_sizes(&mut self, extra: Record) -> Option<()> {
        let mut at = 0;
        while at + 4 <= extra.0.len() {
            let (tag, length) = (extra.number(at, 2)?, extra.number(at + 2, 2)? as usize);
            let mut next = at + 4;
            if tag == u64::from(EXTRA_64) {
                for number in [&mut self.unpacked, &mut self.packed, &mut self.offset] {
                    if *number == u64::from(u32::MAX) {
                        *number = extra.number(next, 8)?;
                        next += 8;
                    }
                }
            }
            at += 4 + length;
        }
        Some(())
    }
}
