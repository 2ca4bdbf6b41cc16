//! Frames read from files one at a time.

use crate::args::FuseArgs;
use crate::output::summary;
use crate::white::White;
use anyhow::{Result, ensure};
use lobcod::{Extent, Signal};
use lobcod_io::{Axes, Depth, Metadata, ReadOptions, read_image, read_shape};
use lobcod_tasks::fuse::Frames;
use std::path::{Path, PathBuf};

/// The files of the frames, and the properties of the first frame.
pub struct Files {
    paths: Vec<PathBuf>,
    /// Read options.
    pub options: ReadOptions,
    /// Size of a frame.
    pub extent: Extent,
    /// Number of channels of a frame.
    pub channels: usize,
    /// Type of the samples in the first file.
    pub depth: Depth,
    /// Order of the axes in the first file.
    pub axes: Axes,
    /// Metadata of the first file.
    pub metadata: Metadata,
    /// Its white level.
    pub white: White,
}

/// Options for reading frames.
pub fn options(args: &FuseArgs) -> ReadOptions {
    ReadOptions {
        axes: None,
        scale: args.scale.value(),
        max_bytes: args.run.max_memory.map(|bytes| bytes.0),
    }
}

/// Reads a map of the frames that pixels are taken from, NaN where it does not say.
pub fn painted(path: &Path, args: &FuseArgs) -> Result<Signal<f32>> {
    // Greys of images are spread over the frames; arrays hold the indices themselves.
    let scale = (args.images.len() - 1) as f64;
    let map = read_image::<f32>(path, &ReadOptions { scale, ..options(args) })?;
    ensure!(
        map.signal.extent().rank() == 2,
        "{} is not a flat image; the decision has one value for each pixel",
        path.display()
    );
    let volume = map.signal.extent().volume();
    let known = |i: usize| map.known.as_ref().is_none_or(|known| known.weights().data()[i] > 0.0);
    let frame = |(i, x): (usize, &f32)| if known(i) { x.round() } else { f32::NAN };
    let frames = map.signal.data()[..volume].iter().enumerate().map(frame).collect();
    Ok(Signal::from_planar(map.signal.extent(), 1, frames)?)
}

impl Files {
    /// Reads the first frame, which determines the properties of all.
    pub fn open(args: &FuseArgs) -> Result<Self> {
        let count = args.images.len();
        ensure!(
            count > 1,
            "got one image ({}), but fusion needs two or more",
            args.images[0].display()
        );
        let options = options(args);
        let first = read_image::<f32>(&args.images[0], &options)?;
        let (extent, channels) = (first.signal.extent(), first.signal.channels());
        ensure!(
            extent.rank() == 2 && (channels == 1 || channels == 3),
            "{} is not a greyscale or colour image; fusion supports only those",
            args.images[0].display()
        );
        Ok(Self {
            paths: args.images.clone(),
            options,
            extent,
            channels,
            white: White::of(&first.signal, None, first.depth, args.scale.given),
            depth: first.depth,
            axes: first.axes,
            metadata: first.metadata,
        })
    }
}

impl Frames for Files {
    type Error = anyhow::Error;

    fn count(&self) -> usize {
        self.paths.len()
    }

    fn read(&mut self, i: usize) -> Result<Signal<f32>> {
        let path = &self.paths[i];
        // A frame of another shape is refused before it is decoded.
        read_shape(path, &self.options)?.map_or(Ok(()), |shape| self.check(path, shape))?;
        let image = read_image::<f32>(path, &self.options)?;
        ensure!(
            image.known.is_none(),
            "{} has missing pixels; fill them first (lobcod inpaint)",
            path.display()
        );
        self.check(path, (image.signal.extent(), image.signal.channels()))?;
        Ok(image.signal)
    }
}

impl Files {
    /// Error unless a frame has the size and channels of the first.
    fn check(&self, path: &Path, (extent, channels): (Extent, usize)) -> Result<()> {
        let first = self.paths[0].display();
        let path = path.display();
        ensure!(
            channels == self.channels,
            "{first} and {path} have different numbers of channels ({} and {channels}); convert \
             them to the same format",
            self.channels
        );
        ensure!(
            extent == self.extent,
            "{first} is {} but {path} is {}; crop or resize them to the same size first",
            summary::size(self.extent),
            summary::size(extent)
        );
        Ok(())
    }
}
