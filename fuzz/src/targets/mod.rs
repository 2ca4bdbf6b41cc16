//! Fuzz targets.

pub mod archive;
pub mod arguments;
pub mod image;
pub mod lasso;
pub mod mask;
pub mod pursuit;

use crate::repair::repaired;

/// Maximum size of the samples of a fuzzed image, in bytes.
pub const LIMIT: u64 = 4 << 20;

/// The option byte of a file input, and the file, with corrected checksums if the highest bit is
/// set.
pub(crate) fn split(input: &[u8]) -> Option<(u8, Vec<u8>)> {
    let (&options, file) = input.split_first()?;
    Some((options & 0x7f, if options & 0x80 == 0 { file.to_vec() } else { repaired(file) }))
}
