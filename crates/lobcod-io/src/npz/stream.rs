//! Writing `.npz` entry by entry, for arrays that do not fit into memory.

use super::write::{CHECKSUM_AT, directory_line, end_records, local_header};
use crate::array::DataType;
use crate::npy;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// A `.npz` file that is being written; the result is identical to [`encode`](super::encode).
pub(crate) struct NpzStream<W: Write + Seek> {
    file: BufWriter<W>,
    directory: Vec<u8>,
    count: u64,
}

impl<W: Write + Seek> NpzStream<W> {
    pub(crate) fn new(file: W) -> Self {
        Self { file: BufWriter::with_capacity(1 << 18, file), directory: Vec::new(), count: 0 }
    }

    /// Writes an array whose items `fill` passes to the sink, piece by piece.
    pub(crate) fn array<E: From<io::Error>>(
        &mut self,
        name: &str,
        dtype: DataType,
        shape: &[usize],
        fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = format!("{name}.npy");
        let preamble = npy::preamble(dtype, shape);
        let size =
            preamble.len() as u64 + shape.iter().product::<usize>() as u64 * dtype.size() as u64;
        let offset = self.file.stream_position()?;
        self.file.write_all(&local_header(&name, 0, size))?;
        let (mut hasher, mut written) = (crc32fast::Hasher::new(), 0);
        let file = &mut self.file;
        let mut sink = |bytes: &[u8]| {
            hasher.update(bytes);
            written += bytes.len() as u64;
            file.write_all(bytes)
        };
        sink(&preamble)?;
        fill(&mut sink)?;
        if written != size {
            return Err(io::Error::other(format!(
                "{name} is {written} bytes long instead of {size}"
            ))
            .into());
        }
        let checksum = hasher.finalize();
        self.file.seek(SeekFrom::Start(offset + CHECKSUM_AT))?;
        self.file.write_all(&checksum.to_le_bytes())?;
        self.file.seek(SeekFrom::End(0))?;
        self.directory.extend(directory_line(&name, checksum, size, offset));
        self.count += 1;
        Ok(())
    }

    /// Completes the file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let start = self.file.stream_position()?;
        self.file.write_all(&self.directory)?;
        self.file.write_all(&end_records(self.count, start, self.directory.len() as u64))?;
        self.file.flush()
    }
}
