//! Boxes of samples and their location in memory.
//!
//! Positions are counted in one of three frames. [`InSignal`] begins at the first sample of the
//! signal of a session and [`InDomain`] at the first sample that the session stores;
//! [`Grid`](crate::grid::Grid) converts between the two. [`InWhole`] begins at the first sample of
//! a signal that is processed in windows, each the signal of a session; [`Origin`] converts. A
//! [`Raster`] is a box of samples in memory: it reads and writes boxes, including beyond its edge
//! and around a periodic axis.

mod raster;
mod region;

pub use raster::Raster;
pub use region::{InDomain, InSignal, InWhole, Origin, Point, Region};

/// Index of a cell of a table with these counts along each axis, last axis fastest.
#[inline(always)]
pub fn index([z, y, x]: [usize; 3], counts: [usize; 3]) -> usize {
    (z * counts[1] + y) * counts[2] + x
}

/// The cell with this index of a table with these counts.
#[inline(always)]
pub fn cell(index: usize, counts: [usize; 3]) -> [usize; 3] {
    [index / (counts[1] * counts[2]), index / counts[2] % counts[1], index % counts[2]]
}

/// All cells of a table with these counts, by increasing index.
pub fn cells(counts: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..volume(counts)).map(move |i| cell(i, counts))
}

/// Number of samples in a box.
#[inline(always)]
pub fn volume(size: [usize; 3]) -> usize {
    size[0] * size[1] * size[2]
}
