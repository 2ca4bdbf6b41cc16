//! Fusion: one image from many of the same scene, in focus or well exposed everywhere.

mod activity;
mod compose;
mod decision;
mod edges;
mod exposure;
mod frames;
mod fusion;
mod given;
mod guided;
mod inspect;
mod maps;
mod params;

pub use frames::Frames;
pub use inspect::StackReport;
pub use params::{Activity, Compose, FuseBase, FuseParams, Mode, Prefer};

use crate::Rectangle;
use crate::align::Motion;
use crate::separate::Separator;
use lobcod::engine::Engine;
use lobcod::{Dictionary, Extent, Observer, Report, Result, Signal, Status};

/// Planes in memory besides a separation and the frames.
const PLANES: usize = 16;

/// A fusion with validated parameters.
///
/// Every frame is separated into a smooth layer and texture ([`Separator`], eq. 16 to 21). The
/// activity of a pixel is the sum of `|code|` over the needle centred there (eq. 22), by default
/// weighted by the roughness of the atom and averaged over a box (eq. 23); the frame with
/// the largest activity is chosen. Frames are read one at a time.
///
/// - [`Compose::Pixels`]: the choice is made by voting; next to a strong edge, the frame in which
///   that edge is sharp is used, so that no halo remains. Further passes over the frames blend the
///   pixels, along the edges of the image (guided filter).
/// - [`Compose::Codes`]: as in the paper, the chosen codes on the chosen (or averaged) smooth
///   layers.
/// - [`Mode::Exposure`]: smooth layers weighted by exposure, texture by activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Fuser {
    params: FuseParams,
    separator: Separator,
}

/// A fused image.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fused {
    /// The image, cropped to the area covered by all frames, with the sample scale of the frames.
    pub image: Signal<f32>,
    /// Index of the source frame of every pixel; in exposure fusion, the one with the largest
    /// weight.
    pub decision: Signal<f32>,
    /// Smoothed decision: the depth of the scene, in frames.
    pub depth: Signal<f32>,
    /// The part of the frames covered by the image.
    pub crop: Rectangle,
    /// How the frames relate to each other.
    pub stack: StackReport,
    /// Motion of each frame relative to the first one that was undone; still if frames are not
    /// aligned.
    pub motions: Vec<Motion>,
    /// Motion of each frame relative to the first one, as measured.
    pub measured_motions: Vec<Motion>,
    /// Report of the separation of each frame.
    pub reports: Vec<Report>,
    /// How the run ended: the worst status of all frames.
    pub status: Status,
}

impl Fuser {
    /// The parameters.
    pub fn params(&self) -> &FuseParams {
        &self.params
    }

    /// Estimates the memory of fusing frames of this shape in bytes, independent of their number.
    pub fn estimate_memory(
        &self,
        engine: &dyn Engine<f32>,
        extent: Extent,
        channels: usize,
        dictionary: &Dictionary<f32>,
    ) -> Result<u64> {
        let size = extent.padded();
        // The fast preset separates frames at half the resolution.
        let coded =
            if self.params.fast { extent.with_padded(size.map(|n| n.div_ceil(2))) } else { extent };
        Ok(self.separator.estimate_memory(engine, coded, 1, dictionary)?
            + ((PLANES + 4 * channels) * size_of::<f32>() * extent.volume()) as u64)
    }

    /// Fuses the frames.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, Signal};
    /// use lobcod_tasks::fuse::FuseParams;
    /// let extent = Extent::new(&[40, 40])?;
    /// let stripes = |i: usize, sharp: bool| {
    ///     if sharp { 50.0 + 40.0 * ((i % 40) as f32 * 1.5).sin() } else { 50.0 }
    /// };
    /// let frame = |left: bool| {
    ///     Signal::from_planar(
    ///         extent,
    ///         1,
    ///         (0..1600).map(|i| stripes(i, (i % 40 < 20) == left)).collect(),
    ///     )
    /// };
    /// let mut frames = vec![frame(true)?, frame(false)?];
    /// let fused = FuseParams::default().with(|p| p.scale = 100.0).check()?.run(
    ///     &CpuEngine::new(0)?,
    ///     &mut frames,
    ///     &Dictionary::natural(),
    ///     &mut (),
    /// )?;
    /// assert_eq!((fused.decision.data()[5], fused.decision.data()[35]), (0.0, 1.0));
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<F: Frames>(
        &self,
        engine: &dyn Engine<f32>,
        frames: &mut F,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> std::result::Result<Fused, F::Error> {
        fusion::Fusion::new(self, engine, frames, dictionary, observer)?.run()
    }
}
