//! The `.npz` format of numpy: named arrays in a zip file.

mod read;
mod stream;
mod together;
mod write;

pub use read::Npz;
pub(crate) use stream::NpzStream;
pub(crate) use together::{SharedArray, write_together};
pub use write::encode;

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
const END_64: &[u8; 4] = b"PK\x06\x06";
const LOCATOR_64: &[u8; 4] = b"PK\x06\x07";
/// Tag of the extra field with 64-bit sizes.
const EXTRA_64: u16 = 1;
