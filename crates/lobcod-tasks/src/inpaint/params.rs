//! Parameters of inpainting.

use super::Inpainter;
use lobcod::error::check_positive;
use lobcod::{Error, Result};
use std::time::Duration;

/// What large holes are filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Only what the sparse model predicts: smooth where nothing is known nearby.
    #[default]
    Model,
    /// Content copied from elsewhere in the image, in holes with detailed surroundings that are
    /// wider than about 12 samples; the model elsewhere and at the rims.
    Auto,
    /// The same in all holes wider than 2 samples.
    Copy,
}

/// Parameters of inpainting.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | none: chosen | > 0 | final penalty of the codes, in units of the signal |
/// | `learn` | false | | also learn the atoms on the damaged signal |
/// | `variants` | 2 | 0 to 8 | mirrored and rotated copies of every dictionary whose answers are averaged; 0: none where groups suffice |
/// | `windows` | `[1]` | each > 0 | windows of the base layer, in lengths of an atom; the answers of all are averaged |
/// | `density` | 1.5 | > 0 | penalty of the dense initial codes, in standard deviations of the details: smaller is denser and slower |
/// | `groups` | 2 | | rounds that improve the average of the answers by groups of similar patches (2-D images) |
/// | `held_out` | 0.02 | 0 to 0.5 | fraction of the known samples held out to compare penalties and answers; next to few holes up to 0.06 if that gives fewer than 600 |
/// | `fill` | model | | what large holes of images are filled with |
/// | `everywhere` | false | | fit all samples, not only windows around the holes |
/// | `seed` | 0 | | choice of the held-out samples |
/// | `time_limit` | none | | maximum wall time |
/// | `max_memory` | none | | maximum working memory in bytes, not counting inputs |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InpaintParams {
    /// Final penalty of the codes; `None`: chosen by held-out samples.
    pub penalty: Option<f64>,
    /// Whether to also learn the atoms on the damaged signal.
    pub learn: bool,
    /// Number of mirrored and rotated copies of every dictionary. With 0, smooth interpolation
    /// improved by smaller groups of similar patches is the answer. Where there are no groups, or
    /// other parameters ask for codes (a penalty, learnt atoms, a fit everywhere), 0 is 1.
    pub variants: usize,
    /// Windows of the base layer, in lengths of an atom; the answers of all are averaged.
    pub windows: Vec<f64>,
    /// Penalty of the dense initial codes, in standard deviations of the details.
    pub density: f64,
    /// Rounds over groups of similar patches.
    pub groups: usize,
    /// Fraction of the known samples to hold out.
    pub held_out: f64,
    /// What large holes of images are filled with.
    pub fill: Fill,
    /// Fit all samples, not only windows around the holes; see
    /// [`Inpainted::fit`](super::Inpainted).
    pub everywhere: bool,
    /// Seed of the choice of the held-out samples.
    pub seed: u64,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// Maximum working memory in bytes, not counting inputs.
    pub max_memory: Option<u64>,
}

impl Default for InpaintParams {
    fn default() -> Self {
        Self {
            penalty: None,
            learn: false,
            variants: 2,
            windows: vec![1.0],
            density: 1.5,
            groups: 2,
            held_out: 0.02,
            fill: Fill::Model,
            everywhere: false,
            seed: 0,
            time_limit: None,
            max_memory: None,
        }
    }
}

impl InpaintParams {
    /// The parameters of a preset.
    pub fn preset(preset: Preset) -> Self {
        let mut params = Self::default();
        (params.learn, params.windows, params.variants, params.density, params.groups) =
            match preset {
                Preset::Fast => (false, vec![1.0], 0, 2.0, 1),
                Preset::Standard => (false, vec![1.0], 2, 1.5, 2),
                Preset::Best => (true, vec![1.0, 0.5], 2, 1.0, 6),
            };
        params
    }

    /// These parameters with some of them changed.
    ///
    /// ```
    /// use lobcod_tasks::inpaint::InpaintParams;
    /// let inpaint = InpaintParams::default().with(|p| p.learn = true).check()?;
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Validates the parameters.
    pub fn check(self) -> Result<Inpainter> {
        self.penalty.map_or(Ok(()), |x| check_positive("the penalty", x))?;
        check_positive("the density of the initial codes", self.density)?;
        if self.variants > 8 {
            return Err(Error::parameter(
                "the number of variants of a dictionary",
                self.variants,
                "from 0 to 8",
            ));
        }
        if self.windows.is_empty() {
            return Err(Error::parameter("the number of base windows", 0, "at least 1"));
        }
        self.windows.iter().try_for_each(|&x| check_positive("a window of the base layer", x))?;
        if !(0.0..=0.5).contains(&self.held_out) {
            return Err(Error::parameter(
                "the fraction of samples held out",
                self.held_out,
                "between 0 and 0.5",
            ));
        }
        Ok(Inpainter { params: self })
    }
}

/// Trade-off between speed and quality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// The least time.
    Fast,
    /// Good quality in moderate time.
    #[default]
    Standard,
    /// The best quality: atoms are learnt from the image, and similar patches help each other.
    Best,
}
