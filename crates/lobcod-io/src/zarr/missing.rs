//! What remains of Zarr in a build without it: one sentence.

use super::not_supported;
use crate::axes::Axes;
use crate::error::Result;
use crate::header::Shape;
use crate::metadata::Metadata;
use crate::raster::Raster;
use crate::source::Allowance;
use crate::write::WriteOptions;
use lobcod::{Real, Signal};
use std::ops::Range;
use std::path::Path;

/// There is none.
pub(crate) enum ZarrImage {}

impl ZarrImage {
    pub fn open(path: &Path) -> Result<Self> {
        Err(not_supported(path))
    }

    pub fn shape(&self) -> Shape {
        match *self {}
    }

    pub fn rows(&self, _: Option<Axes>) -> usize {
        match *self {}
    }

    pub fn time_points(&self) -> usize {
        match *self {}
    }

    pub fn metadata(&self) -> &Metadata {
        match *self {}
    }

    pub fn read(&self, _: Option<usize>, _: Allowance) -> Result<Raster> {
        match *self {}
    }

    pub fn read_rows(&self, _: Range<usize>, _: Option<Axes>) -> Result<Raster> {
        match *self {}
    }
}

pub(crate) fn write<T: Real>(path: &Path, _: &Signal<T>, _: &WriteOptions) -> Result<()> {
    Err(not_supported(path))
}
