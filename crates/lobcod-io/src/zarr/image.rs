//! Reading of OME-Zarr images and of plain Zarr arrays.

use super::layout::{Layout, axes_of};
use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::header::Shape;
use crate::metadata::Metadata;
use crate::raster::Raster;
use crate::source::Allowance;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarrs::array::DataType as ZarrType;
use zarrs::array_subset::ArraySubset;
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;

type StoredArray = zarrs::array::Array<FilesystemStore>;

/// An open Zarr array, from which pieces are read.
pub(crate) struct ZarrImage {
    path: PathBuf,
    array: StoredArray,
    dtype: DataType,
    /// Length of every stored axis.
    stored: Vec<usize>,
    /// Name of every stored axis; `None` if the axes are ambiguous, as in a plain array.
    names: Option<Vec<char>>,
    metadata: Metadata,
}

impl ZarrImage {
    /// Opens the largest resolution of an OME-Zarr image, or a plain array.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::format(path, format!("cannot be read as Zarr ({e}); copy or recreate it"))
        };
        let store = Arc::new(FilesystemStore::new(path).map_err(|e| failed(&e))?);
        let group = Group::open(store.clone(), "/").ok();
        let layout = group.as_ref().and_then(|group| Layout::from_attributes(group.attributes()));
        if group.is_some() && layout.is_none() {
            let cure = "name the folder of one of its arrays";
            return Err(Error::format(path, format!("is a Zarr group without an image; {cure}")));
        }
        let place = layout.as_ref().map_or("/", |layout| &layout.array);
        let array = StoredArray::open(store, place).map_err(|e| failed(&e))?;
        let stored: Vec<usize> = array.shape().iter().map(|&n| n as usize).collect();
        let grid = layout.as_ref().and_then(Layout::grid);
        let names = layout.map(|layout| layout.names);
        let is_usual = |names: &Vec<char>| {
            names.len() == stored.len()
                && names.iter().all(|name| "tczyx".contains(*name))
                && ['y', 'x'].iter().all(|name| names.contains(name))
        };
        if !names.as_ref().is_none_or(is_usual) {
            return Err(failed(&"its axes are not among t, c, z, y and x"));
        }
        let dtype = dtype_of(array.data_type()).ok_or_else(|| {
            let found = array.data_type();
            Error::format(path, format!("contains samples of type {found}; use 8 to 64 bits"))
        })?;
        let metadata = Metadata { grid, ..Metadata::default() };
        Ok(Self { path: path.into(), array, dtype, stored, names, metadata })
    }

    /// The shape in which the array is read.
    pub fn shape(&self) -> Shape {
        let said = self.names.as_ref().map(|names| axes_of(names, &self.stored));
        let axes = match &self.names {
            None => self.stored.clone(),
            Some(names) => {
                let mut axes = self.lengths(names, "zyx");
                axes.extend(self.lengths(names, "c"));
                axes
            }
        };
        Shape { axes, said, is_image: said.is_some(), is_sound: false }
    }

    /// Lengths of the named axes that are kept.
    fn lengths(&self, names: &[char], wanted: &str) -> Vec<usize> {
        let kept = |(&name, &length): (&char, &usize)| {
            (wanted.contains(name) && (length > 1 || "yx".contains(name))).then_some(length)
        };
        names.iter().zip(&self.stored).filter_map(kept).collect()
    }

    /// Length of the axis that is read piece by piece.
    pub fn rows(&self, axes: Option<Axes>) -> usize {
        self.stored[self.row_axis(axes)]
    }

    /// Number of time points.
    pub fn time_points(&self) -> usize {
        let at = |names: &Vec<char>| names.iter().position(|&name| name == 't');
        self.names.as_ref().and_then(at).map_or(1, |at| self.stored[at])
    }

    /// Pixel size and spacing.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The whole image, or one of its time points.
    pub fn read(&self, time_point: Option<usize>, allowance: Allowance) -> Result<Raster> {
        allowance.check(&self.path, &self.shape().axes)?;
        if time_point.is_none() {
            self.check_single()?;
        }
        self.read_box(&self.all(time_point.unwrap_or(0)))
    }

    /// A range of the first axis besides channels.
    pub fn read_rows(&self, rows: Range<usize>, axes: Option<Axes>) -> Result<Raster> {
        self.check_single()?;
        let mut ranges = self.all(0);
        ranges[self.row_axis(axes)] = rows.start as u64..rows.end as u64;
        self.read_box(&ranges)
    }

    fn check_single(&self) -> Result<()> {
        match self.time_points() {
            1 => Ok(()),
            count => {
                let cure = "set --axes to thw, thwc, tdhw or tdhwc";
                Err(Error::shape(&self.path, format!("has {count} time points; {cure}")))
            }
        }
    }

    /// The ranges of all stored axes at a time point.
    fn all(&self, time_point: usize) -> Vec<Range<u64>> {
        let range = |(at, &length): (usize, &usize)| {
            let is_time = self.names.as_ref().is_some_and(|names| names[at] == 't');
            if is_time { time_point as u64..time_point as u64 + 1 } else { 0..length as u64 }
        };
        self.stored.iter().enumerate().map(range).collect()
    }

    fn row_axis(&self, axes: Option<Axes>) -> usize {
        match &self.names {
            None => usize::from(axes == Some(Axes::Chw) && self.stored.len() == 3),
            Some(names) => {
                let slowest = |&at: &usize| match names[at] {
                    'z' => self.stored[at] > 1,
                    name => name == 'y',
                };
                (0..names.len()).find(slowest).unwrap_or(0)
            }
        }
    }

    fn read_box(&self, ranges: &[Range<u64>]) -> Result<Raster> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::format(&self.path, format!("is damaged ({e}); copy or recreate it"))
        };
        let subset = ArraySubset::new_with_ranges(ranges);
        let bytes = self.array.retrieve_array_subset(&subset).map_err(|e| failed(&e))?;
        let mut bytes = bytes.into_fixed().map_err(|e| failed(&e))?.into_owned();
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(self.dtype.size()).for_each(<[u8]>::reverse);
        }
        let lengths: Vec<usize> = ranges.iter().map(|r| (r.end - r.start) as usize).collect();
        let Some(names) = &self.names else {
            return Raster::from_array(&self.path, Array::from_bytes(self.dtype, lengths, bytes));
        };
        let channel = names.iter().position(|&name| name == 'c');
        if let Some(at) = channel {
            bytes = with_axis_last(&bytes, &lengths, at, self.dtype.size());
        }
        // Whether an axis is kept depends on the whole image, not on the piece.
        let kept = |at: &usize| self.stored[*at] > 1 || "yx".contains(names[*at]);
        let space = (0..names.len()).filter(|&at| "zyx".contains(names[at]));
        let shape = space.chain(channel).filter(kept).map(|at| lengths[at]).collect();
        let raster = Raster::from_array(&self.path, Array::from_bytes(self.dtype, shape, bytes))?;
        Ok(Raster {
            is_image: true,
            axes: Some(axes_of(names, &self.stored)),
            metadata: self.metadata.clone(),
            ..raster
        })
    }
}

/// The items of an array with one axis moved to the end.
fn with_axis_last(bytes: &[u8], shape: &[usize], axis: usize, item: usize) -> Vec<u8> {
    let count = shape[axis];
    let inner = shape[axis + 1..].iter().product::<usize>();
    if count == 1 || inner == 1 {
        return bytes.to_vec();
    }
    let mut moved = Vec::with_capacity(bytes.len());
    for outer in bytes.chunks_exact(count * inner * item) {
        for i in 0..inner {
            for c in 0..count {
                let at = (c * inner + i) * item;
                moved.extend_from_slice(&outer[at..at + item]);
            }
        }
    }
    moved
}

fn dtype_of(stored: &ZarrType) -> Option<DataType> {
    Some(match stored {
        ZarrType::Bool => DataType::Bool,
        ZarrType::Int8 => DataType::I8,
        ZarrType::UInt8 => DataType::U8,
        ZarrType::Int16 => DataType::I16,
        ZarrType::UInt16 => DataType::U16,
        ZarrType::Int32 => DataType::I32,
        ZarrType::UInt32 => DataType::U32,
        ZarrType::Int64 => DataType::I64,
        ZarrType::UInt64 => DataType::U64,
        ZarrType::Float32 => DataType::F32,
        ZarrType::Float64 => DataType::F64,
        _ => return None,
    })
}
