//! Parameters of fusion, and their check.

use super::Fuser;
use crate::base::Base;
use crate::error::{Error, Result};
use crate::pursuit::Penalty;
use crate::tasks::align::Align;
use crate::tasks::separate::SeparateParams;
use std::time::Duration;

/// What differs between the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The distance that is in focus.
    #[default]
    Focus,
    /// The exposure.
    Exposure,
}

/// How the smooth layers of the frames become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FuseBase {
    /// That of the chosen frame.
    #[default]
    Select,
    /// The mean of all.
    Average,
}

/// What the picture is put together from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compose {
    /// Pixels of the chosen frames: smooth layer, texture and what the codes leave.
    #[default]
    Pixels,
    /// Codes and smooth layers of the chosen frames, as in the paper; what the codes leave is dropped.
    Codes,
}

/// How much a code counts when the activity of a pixel is summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// By how rough its atom is: blur takes the rough ones away first. Codes at half the resolution count a little too.
    #[default]
    Rough,
    /// All alike, as in the paper.
    Plain,
}

/// The frame that is taken where nothing tells frames apart.
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
/// | `mode` | focus | | what differs between the frames |
/// | `scale` | 255 | > 0 | sample that stands for white |
/// | `penalty` | 1 | > 0 | weight of the l1 norm, for lightness in 0..100 |
/// | `mu` | 5 | > 0 | weight of the squared gradient of the smooth layers |
/// | `window` | 9 | >= 1 | side of the box that activity is averaged over |
/// | `activity` | rough | | how much a code counts |
/// | `compose` | pixels | | what the picture is put together from |
/// | `base` | select | | how smooth layers become one (codes only) |
/// | `prefer` | front | | frame taken where nothing tells frames apart |
/// | `align` | none | | how frames are brought to cover each other |
/// | `fast` | false | | activity is measured at half the resolution |
/// | `tolerance` | 0.5 | >= 0 | relative gap of the separation of each frame; a smaller one decides no better |
/// | `alternations` | 0 | >= 0 | times pursuit and smooth layer take turns; 0: the smooth layer of a frame itself is kept |
/// | `time_limit` | none | | wall time allowed |
/// | `threads` | 0 = all cores | | worker threads |
/// | `max_memory` | none | | bytes the work may take beside what it is given |
#[derive(Clone, Debug, PartialEq)]
pub struct FuseParams {
    /// What differs between the frames.
    pub mode: Mode,
    /// Sample that stands for white.
    pub scale: f64,
    /// Weight of the l1 norm.
    pub penalty: f64,
    /// Weight of the squared gradient.
    pub mu: f64,
    /// Side of the box that activity is averaged over.
    pub window: usize,
    /// How much a code counts.
    pub activity: Activity,
    /// What the picture is put together from.
    pub compose: Compose,
    /// How smooth layers become one.
    pub base: FuseBase,
    /// Frame taken where nothing tells frames apart.
    pub prefer: Prefer,
    /// How frames are brought to cover each other.
    pub align: Align,
    /// Activity at half the resolution.
    pub fast: bool,
    /// Relative gap of each separation.
    pub tolerance: f64,
    /// Times pursuit and smooth layer take turns; 0: the smooth layer of a frame itself is kept.
    pub alternations: usize,
    /// Wall time allowed.
    pub time_limit: Option<Duration>,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// Bytes the work may take beside what it is given.
    pub max_memory: Option<u64>,
}

impl Default for FuseParams {
    fn default() -> Self {
        Self {
            mode: Mode::Focus,
            scale: 255.0,
            penalty: 1.0,
            mu: Base::DEFAULT_MU,
            window: 9,
            activity: Activity::Rough,
            compose: Compose::Pixels,
            base: FuseBase::Select,
            prefer: Prefer::Front,
            align: Align::None,
            fast: false,
            tolerance: 0.5,
            alternations: 0,
            time_limit: None,
            threads: 0,
            max_memory: None,
        }
    }
}

impl FuseParams {
    /// The parameters, if each lies in its range and they go together.
    pub fn check(self) -> Result<Fuser> {
        if self.window == 0 {
            return Err(Error::parameter("the window", 0, "at least 1"));
        }
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(Error::parameter("the scale", self.scale, "a number above 0"));
        }
        let codes = self.compose == Compose::Codes;
        if self.fast && (codes || self.mode == Mode::Exposure) {
            let what = if codes { "fused codes" } else { "exposure fusion" };
            return Err(Error::Data(format!("the fast preset codes half of the resolution, but {what} needs all; leave it out")));
        }
        if self.base == FuseBase::Average && !codes {
            return Err(Error::Data("an average base needs a picture composed of codes; ask for that too".into()));
        }
        if codes && self.mode == Mode::Exposure {
            return Err(Error::Data(
                "exposure fusion weighs layers and cannot be composed of chosen codes; leave that out".into(),
            ));
        }
        let separator = SeparateParams {
            mu: self.mu,
            tolerance: self.tolerance,
            alternations: self.alternations,
            time_limit: self.time_limit,
            threads: self.threads,
            ..SeparateParams::new(Penalty::Absolute(self.penalty))
        };
        Ok(Fuser { separator: separator.check()?, params: self })
    }
}
