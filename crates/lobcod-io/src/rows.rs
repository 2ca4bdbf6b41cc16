//! Row-by-row reading of images that do not fit into memory.

use crate::array::Array;
use crate::axes::Axes;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::image_file::{ReadOptions, check_not_empty, check_scale, missing_weights};
use crate::kind::FileKind;
use crate::metadata::Metadata;
use crate::npy::{self, Header};
use crate::raster::Raster;
use crate::tiff::TiffRows;
use crate::zarr::{ZarrImage, is_zarr};
use lobcod::bands::{RowSource, Strip};
use lobcod::{Extent, Real};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A npy file, the first page of a TIFF, or a Zarr folder, whose samples are read on demand.
pub struct ImageRows {
    path: PathBuf,
    source: FileRows,
    extent: Extent,
    channels: usize,
    axes: Axes,
    depth: Depth,
    scale: f64,
}

enum FileRows {
    Npy { file: File, header: Header },
    Tiff(Box<TiffRows>),
    Zarr(Box<ZarrImage>),
}

impl ImageRows {
    /// Opens an image; `None` if its format can only be read as a whole. The memory limit is
    /// ignored.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        check_scale(options.scale)?;
        let Some(mut source) = open_rows(path, options)? else { return Ok(None) };
        // The first row determines everything but the number of rows.
        let (raster, rows) = match &mut source {
            FileRows::Npy { file, header } => {
                (raster_of(path, file, header, 0..1, options.axes)?, header.rows(options.axes))
            }
            FileRows::Tiff(tiff) => (tiff.read(path, 0..1)?, tiff.height()),
            FileRows::Zarr(zarr) => (zarr.read_rows(0..1, options.axes)?, zarr.rows(options.axes)),
        };
        let axes = match options.axes {
            Some(axes) => axes,
            None => raster.usual_axes(path)?,
        };
        let first = raster.to_signal::<f32>(path, axes, 1.0)?;
        let extent = Extent::new(&[&[rows], &first.extent().axes()[1..]].concat())
            .map_err(Error::content(path))?;
        let (channels, depth) = (first.channels(), raster.depth);
        Ok(Some(Self {
            path: path.into(),
            source,
            extent,
            channels,
            axes,
            depth,
            scale: options.scale,
        }))
    }

    /// Order of the axes in the file.
    pub fn axes(&self) -> Axes {
        self.axes
    }

    /// Type of the samples in the file.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Metadata of the file.
    pub fn metadata(&self) -> Metadata {
        match &self.source {
            FileRows::Npy { .. } => Metadata::default(),
            FileRows::Tiff(tiff) => tiff.metadata().clone(),
            FileRows::Zarr(zarr) => zarr.metadata().clone(),
        }
    }

    /// Whether pixels may be transparent, and hence missing.
    pub fn may_be_transparent(&self) -> bool {
        matches!(&self.source, FileRows::Tiff(tiff) if tiff.has_alpha())
    }

    /// Samples in a range of the first axis, and their weights if some are missing.
    pub fn rows<T: Real>(&mut self, rows: Range<usize>) -> Result<Strip<T>> {
        let path = &self.path;
        let raster = match &mut self.source {
            FileRows::Npy { file, header } => raster_of(path, file, header, rows, Some(self.axes))?,
            FileRows::Tiff(tiff) => tiff.read(path, rows)?,
            FileRows::Zarr(zarr) => zarr.read_rows(rows, Some(self.axes))?,
        };
        let factor = raster.full.map_or(1.0, |full| self.scale / full);
        let mut samples = raster.to_signal::<T>(path, self.axes, factor)?;
        let weights = missing_weights(path, &mut samples, raster.alpha.as_ref())?;
        Ok(Strip { samples, weights })
    }
}

impl<T: Real> RowSource<T> for ImageRows {
    fn extent(&self) -> Extent {
        self.extent
    }

    fn channels(&self) -> usize {
        self.channels
    }

    fn read(&mut self, rows: Range<usize>) -> lobcod::Result<Strip<T>> {
        self.rows(rows).map_err(|error| lobcod::Error::Data(error.to_string()))
    }
}

/// Opens a file to be read row by row; `None` if its format can only be read as a whole.
fn open_rows(path: &Path, options: &ReadOptions) -> Result<Option<FileRows>> {
    if is_zarr(path) {
        return ZarrImage::open(path).map(|zarr| Some(FileRows::Zarr(Box::new(zarr))));
    }
    let Some((file, head)) = open_file(path)? else { return Ok(None) };
    Ok(match FileKind::of_content(path, &head)? {
        FileKind::Npy => {
            npy_header(path, &head, &file)?.map(|header| FileRows::Npy { header, file })
        }
        FileKind::Tiff => {
            TiffRows::open(path, file, options.axes)?.map(|tiff| FileRows::Tiff(Box::new(tiff)))
        }
        _ => None,
    })
}

/// A file and its first bytes; `None` if it is a device or pipe.
fn open_file(path: &Path) -> Result<Option<(File, Vec<u8>)>> {
    let failed = |source| Error::read(path, source);
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    (&mut file).take(npy::LONGEST_HEADER).read_to_end(&mut head).map_err(failed)?;
    Ok(Some((file, head)))
}

/// A npy file in C order and its header; `None` for other files.
pub(crate) fn open_npy(path: &Path) -> Result<Option<(File, Header)>> {
    let Some((file, head)) = open_file(path)? else { return Ok(None) };
    if FileKind::of_content(path, &head)? != FileKind::Npy {
        return Ok(None);
    }
    Ok(npy_header(path, &head, &file)?.map(|header| (file, header)))
}

/// The header of a npy file; `None` if it is not in C order.
fn npy_header(path: &Path, head: &[u8], file: &File) -> Result<Option<Header>> {
    let header = Header::parse(path, head)?;
    if header.shape.is_empty() || (header.fortran && header.shape.len() > 1) {
        return Ok(None);
    }
    check_not_empty(path, &header.shape)?;
    let there = file.metadata().map_err(|source| Error::read(path, source))?.len();
    let needed = header
        .shape
        .iter()
        .try_fold(header.dtype.size() as u64, |n, &axis| n.checked_mul(axis as u64));
    if needed.and_then(|needed| needed.checked_add(header.offset as u64)) != Some(there) {
        return Err(Error::format(
            path,
            "is truncated or damaged: its samples do not fill its shape; recreate the file",
        ));
    }
    Ok(Some(header))
}

impl Header {
    /// Length of the axis that is read piece by piece.
    fn rows(&self, axes: Option<Axes>) -> usize {
        self.shape[self.row_axis(axes)]
    }

    fn row_axis(&self, axes: Option<Axes>) -> usize {
        usize::from(axes == Some(Axes::Chw) && self.shape.len() == 3)
    }
}

fn raster_of(
    path: &Path,
    file: &mut File,
    header: &Header,
    rows: Range<usize>,
    axes: Option<Axes>,
) -> Result<Raster> {
    Raster::from_array(path, npy_rows(path, file, header, rows, axes)?)
}

/// Some rows of a npy file.
pub(crate) fn npy_rows(
    path: &Path,
    file: &mut File,
    header: &Header,
    rows: Range<usize>,
    axes: Option<Axes>,
) -> Result<Array> {
    let axis = header.row_axis(axes);
    let row = header.shape.iter().skip(axis + 1).product::<usize>() * header.dtype.size();
    let planes = header.shape[..axis].iter().product::<usize>();
    let mut bytes = vec![0; planes * rows.len() * row];
    for (plane, part) in bytes.chunks_exact_mut((rows.len() * row).max(1)).enumerate() {
        let start =
            header.offset as u64 + (plane * header.rows(axes) + rows.start) as u64 * row as u64;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(part))
            .map_err(|source| Error::read(path, source))?;
    }
    header.to_little_endian(&mut bytes);
    let mut shape = header.shape.clone();
    shape[axis] = rows.len();
    Ok(Array::from_bytes(header.dtype, shape, bytes))
}
