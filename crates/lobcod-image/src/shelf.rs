//! Codes that wait on disk.

use crate::codes_stream::CodesList;
use lobcod::{Code, Real, Shelf};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a code.
const RECORD: usize = 28;

/// Codes of bands in a temporary file without a name: whatever ends the program, nothing is left behind.
pub struct CodesShelf {
    file: File,
    /// Where the codes of every band lie, how many there is room for, and how many there are.
    bands: Vec<(u64, usize, usize)>,
}

impl CodesShelf {
    /// A shelf in this folder.
    pub fn new(folder: &Path) -> lobcod::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder).map_err(unusable)?, bands: Vec::new() })
    }

    fn write<T: Real>(&mut self, at: u64, codes: &[Code<T>]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut file = BufWriter::with_capacity(1 << 16, &self.file);
        for code in codes {
            let mut record = [0; RECORD];
            let words = code.position.map(|p| p as u32).into_iter().chain([code.atom, code.channel]);
            record.as_chunks_mut::<4>().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
            record[20..].copy_from_slice(&code.value.to_f64().to_le_bytes());
            file.write_all(&record)?;
        }
        file.flush()
    }

    fn read<T: Real>(&mut self, at: u64, count: usize, each: &mut dyn FnMut(Code<T>)) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut file = BufReader::with_capacity(1 << 16, &self.file);
        let mut record = [0; RECORD];
        for _ in 0..count {
            file.read_exact(&mut record)?;
            let word = |i: usize| u32::from_le_bytes([record[4 * i], record[4 * i + 1], record[4 * i + 2], record[4 * i + 3]]);
            let mut value = [0; 8];
            value.copy_from_slice(&record[20..]);
            each(Code {
                position: [0, 1, 2].map(|i| word(i) as i32),
                atom: word(3),
                channel: word(4),
                value: T::from_f64(f64::from_le_bytes(value)),
            });
        }
        Ok(())
    }
}

impl<T: Real> CodesList<T> for CodesShelf {
    fn count(&self) -> usize {
        self.bands.iter().map(|&(_, _, count)| count).sum()
    }

    fn show_all(&mut self, each: &mut dyn FnMut(Code<T>)) -> lobcod::Result<()> {
        (0..self.bands.len()).try_for_each(|band| self.show(band, each))
    }
}

impl<T: Real> Shelf<T> for CodesShelf {
    fn keep(&mut self, band: usize, codes: Vec<Code<T>>) -> lobcod::Result<()> {
        self.bands.resize(self.bands.len().max(band + 1), (0, 0, 0));
        let (at, room, _) = self.bands[band];
        let (at, room) = if codes.len() <= room {
            (at, room)
        } else {
            // Some more room than needed: the next pass may find a few codes more.
            (self.file.seek(SeekFrom::End(0)).map_err(unusable)?, codes.len() + codes.len() / 16)
        };
        self.write(at, &codes).map_err(unusable)?;
        self.bands[band] = (at, room, codes.len());
        let end = self.bands.iter().map(|&(at, room, _)| at + (room * RECORD) as u64).max().unwrap_or(0);
        if self.file.metadata().map_err(unusable)?.len() < end {
            self.file.set_len(end).map_err(unusable)?;
        }
        Ok(())
    }

    fn show(&mut self, band: usize, each: &mut dyn FnMut(Code<T>)) -> lobcod::Result<()> {
        let (at, _, count) = self.bands.get(band).copied().unwrap_or_default();
        self.read(at, count, each).map_err(unusable)
    }
}

fn unusable(error: io::Error) -> lobcod::Error {
    let cure = "free some space, or write to a place that has some";
    lobcod::Error::Data(format!("the codes cannot wait in a temporary file ({error}); {cure}"))
}
