//! Fusion: one picture from many of the same scene, in focus or well exposed everywhere.

mod activity;
mod compose;
mod decision;
mod exposure;
mod frames;
mod guided;
mod maps;
mod params;
mod work;

pub use frames::Frames;
pub use params::{Activity, Compose, FuseBase, FuseParams, Mode, Prefer};

use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine};
use crate::error::Result;
use crate::extent::Extent;
use crate::memory;
use crate::observe::Observer;
use crate::report::{Report, Status};
use crate::signal::Signal;
use crate::tasks::align::{Crop, Motion};
use crate::tasks::separate::Separator;

/// Planes of the size of a frame that are held at once beside a separation and the frames themselves: activity, decision, weights.
const PLANES: usize = 12;

/// A fusion whose parameters were checked.
///
/// Every frame is separated into a smooth layer and texture ([`Separator`]: eq. 16 to 21 of the paper). The activity of a pixel is
/// the sum of `|code|` over the needle whose patch is centred there (eq. 22), by default each code weighted by how rough its atom
/// is, averaged over a box (eq. 23); the frame of largest activity is chosen. Frames are read one by one and never held together:
/// what is kept is the largest activity so far and whose it was.
///
/// - [`Compose::Pixels`]: the choice is settled (votes of the neighbours, more weight where the choice is clear), its edges follow
///   those of the picture (guided filter), and a second reading of the frames blends their pixels.
/// - [`Compose::Codes`]: the paper's way: the chosen codes are synthesised on the chosen (or averaged) smooth layers.
/// - [`Mode::Exposure`]: smooth layers weighted by how well exposed they are, texture by activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Fuser {
    params: FuseParams,
    separator: Separator,
}

/// One picture from many.
#[derive(Clone, Debug)]
pub struct Fused {
    /// The picture, cropped to what all frames show, in the samples' own scale.
    pub picture: Signal<f32>,
    /// Number of the frame every pixel was taken from; in exposure fusion, the one of largest weight.
    pub decision: Signal<f32>,
    /// The same, smooth: the depth of the scene, in frames.
    pub depth: Signal<f32>,
    /// The part of the frames that the picture shows.
    pub crop: Crop,
    /// How each frame lies to the first one.
    pub motions: Vec<Motion>,
    /// Separation of each frame.
    pub reports: Vec<Report>,
    /// How the work ended: the worst of the frames.
    pub status: Status,
}

impl Fuser {
    /// The parameters.
    pub fn params(&self) -> &FuseParams {
        &self.params
    }

    /// Bytes that fusing frames of this shape is expected to need, however many they are.
    pub fn estimate_memory(&self, extent: Extent, channels: usize, dictionary: &Dictionary<f32>) -> Result<u64> {
        let size = extent.padded();
        // In haste frames are separated at half of their resolution.
        let coded = if self.params.fast { extent.with_padded(size.map(|n| n.div_ceil(2))) } else { extent };
        Ok(self.separator.estimate_memory(coded, 1, dictionary)?
            + ((PLANES + 4 * channels) * size_of::<f32>() * extent.volume()) as u64)
    }

    fn check_memory(&self, extent: Extent, channels: usize, dictionary: &Dictionary<f32>) -> Result<()> {
        memory::check(self.estimate_memory(extent, channels, dictionary)?, self.params.max_memory)
    }

    /// Fuses the frames.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, Signal, tasks::fuse::FuseParams};
    /// let extent = Extent::new(&[40, 40])?;
    /// let stripes = |i: usize, sharp: bool| if sharp { 50.0 + 40.0 * ((i % 40) as f32 * 1.5).sin() } else { 50.0 };
    /// let frame = |left: bool| Signal::from_planar(extent, 1, (0..1600).map(|i| stripes(i, (i % 40 < 20) == left)).collect());
    /// let mut frames = vec![frame(true)?, frame(false)?];
    /// let fused = FuseParams { scale: 100.0, ..FuseParams::default() }.check()?.run(&mut frames, &Dictionary::natural(), &mut ())?;
    /// assert_eq!((fused.decision.data()[5], fused.decision.data()[35]), (0.0, 1.0));
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<F: Frames>(
        &self,
        frames: &mut F,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> std::result::Result<Fused, F::Error> {
        self.run_on(&CpuEngine::new(self.params.threads)?, frames, dictionary, observer)
    }

    /// Fuses the frames, coding them on a given engine.
    pub fn run_on<F: Frames>(
        &self,
        engine: &dyn Engine<f32>,
        frames: &mut F,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> std::result::Result<Fused, F::Error> {
        work::Work::new(self, engine, frames, dictionary)?.run(observer)
    }
}
