//! TIFF: images, and stacks of pages.

mod grid;
mod read;
mod rows;
mod time;
mod write;

pub(crate) use grid::Written;
pub(crate) use read::{decode, shape};
pub(crate) use rows::TiffRows;
pub(crate) use time::{count_time_points, decode_time_point};
pub(crate) use write::{Pages, encode};
