//! The functions that are fuzzed.

pub mod archive;
pub mod arguments;
pub mod lasso;
pub mod mask;
pub mod picture;
pub mod pursuit;

use crate::repair::repaired;

/// Most bytes the samples of a fuzzed picture may take.
pub const LIMIT: u64 = 4 << 20;

/// The option byte of an input that is a file, and the file, its checksums mended where the highest bit asks for it.
pub(crate) fn split(input: &[u8]) -> Option<(u8, Vec<u8>)> {
    let (&options, file) = input.split_first()?;
    Some((options & 0x7f, if options & 0x80 == 0 { file.to_vec() } else { repaired(file) }))
}
