//! All tests of the crate, in one program: what they share is compiled once.

mod arrays;
mod atomic;
mod checkpoints;
mod codes;
mod common;
mod dictionaries;
mod foreign;
mod hostile;
mod images;
mod masks;
mod metadata;
mod numpy;
mod orientation;
mod rows;
mod soft_masks;
mod stacks;
mod tifffile;
mod together;
mod zarr;
