//! TIFF: pictures, and stacks of pages.

mod read;
mod write;

pub(crate) use read::decode;
pub(crate) use write::{Pages, encode};
