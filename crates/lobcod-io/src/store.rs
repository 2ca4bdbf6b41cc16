//! Temporary storage of codes on disk.

use crate::codes_stream::CodesList;
use lobcod::bands::CodeStore;
use lobcod::{Code, Real};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Size of a code in bytes.
const RECORD: usize = 28;
/// Number of codes read or written at once.
const BLOCK: usize = 4096;

/// Codes in an unnamed temporary file, which disappears however the program ends.
pub struct CodesOnDisk {
    file: File,
    /// Position, capacity and number of codes of each piece.
    pieces: Vec<(u64, usize, usize)>,
}

impl CodesOnDisk {
    /// A store in this folder.
    pub fn new(folder: &Path) -> lobcod::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder).map_err(unusable)?, pieces: Vec::new() })
    }

    fn write<T: Real>(&mut self, at: u64, codes: &[Code<T>]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::with_capacity(BLOCK * RECORD);
        for block in codes.chunks(BLOCK) {
            bytes.clear();
            for code in block {
                let words =
                    code.position.map(|p| p as u32).into_iter().chain([code.atom, code.channel]);
                words.for_each(|word| bytes.extend(word.to_le_bytes()));
                bytes.extend(code.value.to_f64().to_le_bytes());
            }
            self.file.write_all(&bytes)?;
        }
        Ok(())
    }

    fn read<T: Real>(
        &mut self,
        at: u64,
        count: usize,
        each: &mut dyn FnMut(Code<T>),
    ) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; count.min(BLOCK) * RECORD];
        for first in (0..count).step_by(BLOCK) {
            let block = &mut bytes[..(count - first).min(BLOCK) * RECORD];
            self.file.read_exact(block)?;
            for record in block.as_chunks::<RECORD>().0 {
                let word = |i: usize| {
                    u32::from_le_bytes([
                        record[4 * i],
                        record[4 * i + 1],
                        record[4 * i + 2],
                        record[4 * i + 3],
                    ])
                };
                each(Code {
                    position: [0, 1, 2].map(|i| word(i) as i32),
                    atom: word(3),
                    channel: word(4),
                    value: T::from_f64(f64::from_bits(
                        u64::from(word(5)) | u64::from(word(6)) << 32,
                    )),
                });
            }
        }
        Ok(())
    }
}

impl<T: Real> CodesList<T> for CodesOnDisk {
    fn count(&self) -> usize {
        self.pieces.iter().map(|&(_, _, count)| count).sum()
    }

    fn show_all(&mut self, each: &mut dyn FnMut(Code<T>)) -> lobcod::Result<()> {
        (0..self.pieces.len()).try_for_each(|piece| self.show(piece, each))
    }
}

impl<T: Real> CodeStore<T> for CodesOnDisk {
    fn keep(&mut self, piece: usize, codes: &[Code<T>]) -> lobcod::Result<()> {
        self.pieces.resize(self.pieces.len().max(piece + 1), (0, 0, 0));
        let (at, room, _) = self.pieces[piece];
        let (at, room) = if codes.len() <= room {
            (at, room)
        } else {
            // Some spare capacity: the next pass may find a few more codes.
            (self.file.seek(SeekFrom::End(0)).map_err(unusable)?, codes.len() + codes.len() / 16)
        };
        self.write(at, codes).map_err(unusable)?;
        self.pieces[piece] = (at, room, codes.len());
        let end =
            self.pieces.iter().map(|&(at, room, _)| at + (room * RECORD) as u64).max().unwrap_or(0);
        if self.file.metadata().map_err(unusable)?.len() < end {
            self.file.set_len(end).map_err(unusable)?;
        }
        Ok(())
    }

    fn kept(&self, piece: usize) -> usize {
        self.pieces.get(piece).map_or(0, |&(_, _, count)| count)
    }

    fn show(&mut self, piece: usize, each: &mut dyn FnMut(Code<T>)) -> lobcod::Result<()> {
        let (at, _, count) = self.pieces.get(piece).copied().unwrap_or_default();
        self.read(at, count, each).map_err(unusable)
    }
}

fn unusable(error: io::Error) -> lobcod::Error {
    let cure = "free some space, or write to another disk";
    lobcod::Error::Data(format!("the codes cannot be stored in a temporary file ({error}); {cure}"))
}
