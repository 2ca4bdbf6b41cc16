//! Parameters of fusion.

use super::Fuser;
use crate::align::Align;
use crate::separate::SeparateParams;
use lobcod::Penalty;
use lobcod::base::Base;
use lobcod::error::check_positive;
use lobcod::{Error, Result};
use std::time::Duration;

/// What differs between the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What the frames themselves show; frames of different scenes are refused.
    #[default]
    Auto,
    /// The distance that is in focus.
    Focus,
    /// The exposure.
    Exposure,
}

/// How the smooth layers of the frames are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FuseBase {
    /// Uses that of the chosen frame.
    #[default]
    Select,
    /// Uses the mean of all.
    Average,
}

/// How the image is composed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compose {
    /// From pixels of the chosen frames: smooth layer, texture and residual.
    #[default]
    Pixels,
    /// From codes and smooth layers of the chosen frames, as in the paper; the residual is dropped.
    Codes,
}

/// Weight of a code in the activity of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// By the roughness of its atom: blur removes rough ones first. Half the resolution also
    /// contributes a little.
    #[default]
    Rough,
    /// All equal, as in the paper.
    Plain,
}

/// The frame used where no frame has more detail than the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefer {
    /// The first.
    #[default]
    Front,
    /// The last.
    Back,
}

/// Parameters of a fusion.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `mode` | auto | | what differs between the frames |
/// | `scale` | 255 | > 0 | sample value of white |
/// | `penalty` | 1 | > 0 | weight of the l1 norm, for lightness in 0..100 |
/// | `mu` | 5 | > 0 | weight of the squared gradient of the smooth layers |
/// | `window` | 9 | >= 1 | side of the box over which activity is averaged |
/// | `activity` | rough | | weight of a code |
/// | `compose` | pixels | | how the image is composed |
/// | `base` | select | | how smooth layers are merged (codes only) |
/// | `prefer` | front | | frame used where no frame has more detail |
/// | `align` | auto | | how frames are aligned |
/// | `fast` | false | | activity is measured at half the resolution |
/// | `tolerance` | 0.5 | >= 0 | relative gap of the separation of each frame; smaller gaps do not improve the decision |
/// | `alternations` | 0 | >= 0 | alternations of pursuit and smooth layer; 0: the smooth layer of the frame itself is kept |
/// | `time_limit` | none | | maximum wall time |
/// | `max_memory` | none | | maximum working memory in bytes, not counting inputs |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FuseParams {
    /// What differs between the frames.
    pub mode: Mode,
    /// Sample value of white.
    pub scale: f64,
    /// Weight of the l1 norm.
    pub penalty: f64,
    /// Weight of the squared gradient.
    pub mu: f64,
    /// Side of the box over which activity is averaged.
    pub window: usize,
    /// Weight of a code.
    pub activity: Activity,
    /// How the image is composed.
    pub compose: Compose,
    /// How smooth layers are merged.
    pub base: FuseBase,
    /// Frame used where no frame has more detail than the others.
    pub prefer: Prefer,
    /// How frames are aligned.
    pub align: Align,
    /// Whether to measure activity at half the resolution.
    pub fast: bool,
    /// Relative gap of each separation.
    pub tolerance: f64,
    /// Alternations of pursuit and smooth layer; 0: the smooth layer of the frame itself is kept.
    pub alternations: usize,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// Maximum working memory in bytes, not counting inputs.
    pub max_memory: Option<u64>,
}

impl Default for FuseParams {
    fn default() -> Self {
        Self {
            mode: Mode::Auto,
            scale: 255.0,
            penalty: 1.0,
            mu: Base::DEFAULT_MU,
            window: 9,
            activity: Activity::Rough,
            compose: Compose::Pixels,
            base: FuseBase::Select,
            prefer: Prefer::Front,
            align: Align::Auto,
            fast: false,
            tolerance: 0.5,
            alternations: 0,
            time_limit: None,
            max_memory: None,
        }
    }
}

impl FuseParams {
    /// These parameters with some of them changed.
    ///
    /// ```
    /// use lobcod_tasks::fuse::FuseParams;
    /// let fuser = FuseParams::default().with(|p| p.fast = true).check()?;
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Validates the parameters and their combination.
    pub fn check(self) -> Result<Fuser> {
        if self.window == 0 {
            return Err(Error::parameter("the window", 0, "at least 1"));
        }
        check_positive("the scale", self.scale)?;
        self.check_mode(self.mode)?;
        let separator = SeparateParams {
            mu: self.mu,
            tolerance: self.tolerance,
            alternations: self.alternations,
            time_limit: self.time_limit,
            ..SeparateParams::new(Penalty::Absolute(self.penalty))
        };
        Ok(Fuser { separator: separator.check()?, params: self })
    }

    /// Error where other parameters do not fit the mode.
    pub(super) fn check_mode(&self, mode: Mode) -> Result<()> {
        let codes = self.compose == Compose::Codes;
        if self.fast && (codes || mode == Mode::Exposure) {
            let what = if codes { "fused codes" } else { "exposure fusion" };
            return Err(Error::Data(format!(
                "the fast preset works at half the resolution, but {what} needs full resolution; \
                 disable it"
            )));
        }
        if self.base == FuseBase::Average && !codes {
            return Err(Error::Data(
                "an average base requires an image composed of codes; set that too".into(),
            ));
        }
        if codes && mode == Mode::Exposure {
            return Err(Error::Data(
                "exposure fusion cannot be composed of codes; compose it of pixels".into(),
            ));
        }
        Ok(())
    }
}
