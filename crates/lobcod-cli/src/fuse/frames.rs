//! Frames read from files, one by one.

use crate::args::FuseArgs;
use anyhow::{Result, bail, ensure};
use lobcod::tasks::fuse::Frames;
use lobcod::{Extent, Signal};
use lobcod_image::{Axes, Depth, Notes, ReadOptions, read_picture};
use std::path::PathBuf;

/// The files of the frames, and what the first one is like.
pub struct Files {
    paths: Vec<PathBuf>,
    /// How they are read.
    pub options: ReadOptions,
    /// Size of a frame.
    pub extent: Extent,
    /// Channels of a frame.
    pub channels: usize,
    /// Type of the samples in the first file.
    pub depth: Depth,
    /// Order of the axes in it.
    pub axes: Axes,
    /// What it says beside.
    pub notes: Notes,
}

impl Files {
    /// Reads the first frame to learn what frames are like.
    pub fn open(args: &FuseArgs) -> Result<Self> {
        let count = args.images.len();
        ensure!(count > 1, "there is one picture ({}), but fusion takes two or more", args.images[0].display());
        let options = ReadOptions { axes: None, scale: args.scale, max_bytes: args.run.max_memory.map(|bytes| bytes.0) };
        let first = read_picture::<f32>(&args.images[0], &options)?;
        let (extent, channels) = (first.signal.extent(), first.signal.channels());
        ensure!(
            extent.rank() == 2 && (channels == 1 || channels == 3),
            "{} is no grey or colour picture; fusion takes those only",
            args.images[0].display()
        );
        Ok(Self {
            paths: args.images.clone(),
            options,
            extent,
            channels,
            depth: first.depth,
            axes: first.axes,
            notes: first.notes,
        })
    }
}

impl Frames for Files {
    type Error = anyhow::Error;

    fn count(&self) -> usize {
        self.paths.len()
    }

    fn read(&mut self, i: usize) -> Result<Signal<f32>> {
        let (path, first) = (&self.paths[i], &self.paths[0]);
        let picture = read_picture::<f32>(path, &self.options)?;
        ensure!(picture.known.is_none(), "{} has missing pixels; fill them first (lobcod inpaint)", path.display());
        let (extent, channels) = (picture.signal.extent(), picture.signal.channels());
        if channels != self.channels {
            bail!(
                "{} and {} differ in channels ({} and {channels}); convert them to one kind",
                first.display(),
                path.display(),
                self.channels
            );
        }
        ensure!(
            extent == self.extent,
            "{} is {} but {} is {extent}; crop or scale them to one size first",
            first.display(),
            self.extent,
            path.display()
        );
        Ok(picture.signal)
    }
}
