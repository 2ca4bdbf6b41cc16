//! TIFF: images, and stacks of pages.

mod grid;
mod read;
mod rows;
mod write;

pub(crate) use grid::Written;
pub(crate) use read::{decode, shape};
pub(crate) use rows::TiffRows;
pub(crate) use write::{Pages, encode};
