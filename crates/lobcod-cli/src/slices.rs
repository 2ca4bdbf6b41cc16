//! Folders of images that are the slices of a volume or the frames of a sequence.

use crate::folders::{file_name_of, images_of};
use crate::output::paths::{Folder, STDOUT, check_answer};
use crate::output::summary;
use anyhow::{Result, ensure};
use lobcod::{Extent, Real, Signal};
use lobcod_io::{Axes, FileKind, Image, ReadOptions, WriteOptions, is_zarr, write_image};
use std::path::{Path, PathBuf};

/// The files of a folder, one slice each, in the order of their names.
pub struct Slices {
    files: Vec<PathBuf>,
    options: ReadOptions,
    /// Axes of the stack.
    axes: Axes,
}

impl Slices {
    /// The slices in this folder. `None` if it is a file, if the axes are not those of a stack, or
    /// if its files are stacks themselves.
    pub fn of(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        let (axes, slice) = match options.axes {
            Some(Axes::Dhw) => (Axes::Dhw, Axes::Hw),
            Some(Axes::Dhwc) => (Axes::Dhwc, Axes::Hwc),
            _ => return Ok(None),
        };
        if !path.is_dir() || is_zarr(path) {
            return Ok(None);
        }
        let files = images_of(&[path.into()], None)?;
        let options = ReadOptions { axes: Some(slice), ..options.clone() };
        let first = lobcod_io::read_shape(&files[0], &options);
        let is_flat = matches!(first, Ok(Some((extent, _))) if extent.rank() == 2);
        Ok(is_flat.then_some(Self { files, options, axes }))
    }

    /// The files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Size and channels of the stack by the header of its first slice, if that states them.
    fn shape(&self) -> Result<Option<(Extent, usize)>> {
        let shape = lobcod_io::read_shape(&self.files[0], &self.options)?;
        shape.map(|(slice, channels)| Ok((self.extent(slice)?, channels))).transpose()
    }

    fn extent(&self, slice: Extent) -> Result<Extent> {
        Ok(Extent::new(&[&[self.files.len()], slice.axes()].concat())?)
    }

    /// Reads all slices.
    fn read<T: Real>(&self) -> Result<Image<T>> {
        let read = |file: &PathBuf| lobcod_io::read_image::<T>(file, &self.options);
        let first = read(&self.files[0])?;
        let (slice, channels) = (first.signal.extent(), first.signal.channels());
        let (area, count) = (slice.volume(), self.files.len());
        let mut data = vec![T::ZERO; area * count * channels];
        for (i, file) in self.files.iter().enumerate() {
            let other = if i > 0 { Some(read(file)?) } else { None };
            let image = other.as_ref().unwrap_or(&first);
            let shape = (image.signal.extent(), image.signal.channels());
            ensure!(
                shape == (slice, channels),
                "{} is {}, but {} is {}; the slices of a stack must have the same size",
                file.display(),
                summary::shape(shape.0, shape.1),
                self.files[0].display(),
                summary::shape(slice, channels)
            );
            let place = file.display();
            ensure!(image.known.is_none(), "{place} has missing pixels; fill them first");
            let stacks = data.chunks_exact_mut(area * count);
            for (stack, samples) in stacks.zip(image.signal.data().chunks_exact(area)) {
                stack[i * area..][..area].copy_from_slice(samples);
            }
        }
        let signal = Signal::from_planar(self.extent(slice)?, channels, data)?;
        Ok(Image { signal, axes: self.axes, ..first })
    }

    /// Error unless the slices can be written there: into a folder, or as one file.
    pub fn check_output(output: &Path) -> Result<()> {
        if is_file_name(output) { check_answer(output) } else { Folder::check(output).map(drop) }
    }

    /// Writes a stack of this many slices: files of the same names in a folder, or one file.
    pub fn write(&self, output: &Path, stack: &Signal<f32>, options: &WriteOptions) -> Result<()> {
        if is_file_name(output) {
            return Ok(write_image(output, stack, options)?);
        }
        let folder = Folder::check(output)?;
        let place = folder.make()?;
        let slice = Extent::new(&stack.extent().axes()[1..])?;
        let area = slice.volume();
        for (i, file) in self.files.iter().enumerate() {
            let channels = stack.data().chunks_exact(area * self.files.len());
            let data = channels.flat_map(|samples| &samples[i * area..][..area]).copied().collect();
            let output = place.join(file_name_of(file));
            let depth = FileKind::from_path(&output)?.nearest_depth(options.depth);
            let axes = self.options.axes.unwrap_or(Axes::Hw);
            let signal = Signal::from_planar(slice, stack.channels(), data)?;
            write_image(&output, &signal, &WriteOptions { axes, depth, ..options.clone() })?;
        }
        Ok(())
    }
}

/// Whether this names an image file or standard output, not a folder.
fn is_file_name(output: &Path) -> bool {
    !output.is_dir() && (output.as_os_str() == STDOUT || FileKind::from_path(output).is_ok())
}

/// [`lobcod_io::read_shape`], also of a folder of slices.
pub fn read_shape(path: &Path, options: &ReadOptions) -> Result<Option<(Extent, usize)>> {
    match Slices::of(path, options)? {
        Some(slices) => slices.shape(),
        None => Ok(lobcod_io::read_shape(path, options)?),
    }
}

/// [`lobcod_io::read_image`], also of a folder of slices.
pub fn read_image<T: Real>(path: &Path, options: &ReadOptions) -> Result<Image<T>> {
    match Slices::of(path, options)? {
        Some(slices) => slices.read(),
        None => Ok(lobcod_io::read_image(path, options)?),
    }
}
