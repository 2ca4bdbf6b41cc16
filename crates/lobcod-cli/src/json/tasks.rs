//! Reports of `inpaint`, `fuse`, `denoise` and `separate`.

use super::{Certificate, HistoryPoint, Image, Missing, Pursuit, Run, Sweeps, finite};
use serde::Serialize;

/// Report of `inpaint`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Inpaint {
    /// How the run ended.
    pub status: String,
    /// Number of pixels of the image.
    pub pixels: usize,
    /// Number of missing samples, of all channels.
    pub missing_samples: usize,
    #[serde(flatten)]
    pub missing: Missing,
    /// Number of pixels copied from elsewhere in the image, in wide holes.
    pub copied_pixels: usize,
    /// Number of known samples held out to choose penalties and weights.
    pub held_out_samples: usize,
    /// The final penalty.
    pub penalty: f64,
    /// The penalties that were tried.
    pub penalty_path: Vec<PathPoint>,
    /// The results that were averaged.
    pub answers: Vec<AveragedAnswer>,
    /// Number of non-zero codes of all results.
    pub nonzeros: usize,
    #[serde(flatten)]
    pub sweeps: Sweeps,
    #[serde(flatten)]
    pub run: Run,
    /// Name or file of the first dictionary.
    pub dictionary: String,
    /// Names or files of all dictionaries.
    pub dictionaries: Vec<String>,
    /// Whether atoms were learnt from the image: `image` or `none`.
    pub learn: &'static str,
    /// Whether known pixels were replaced by the fit.
    pub refit_known: bool,
    /// Signal value of the full range of integer images.
    pub scale: f64,
    /// Sample type of the output.
    pub depth: String,
    /// The filled image.
    pub output: String,
    /// The HTML report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    #[serde(flatten)]
    pub scores: Option<TaskScores>,
    /// The image.
    pub images: Vec<Image>,
}

/// A penalty that was tried.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathPoint {
    /// The penalty.
    pub penalty: f64,
    /// Error of the held-out samples; null without any.
    pub held_out_error: Option<f64>,
}

/// One of the results that were averaged.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AveragedAnswer {
    /// Name or file of the dictionary.
    pub dictionary: String,
    /// Whether atoms were learnt from the image.
    pub learnt: bool,
    /// Number of the mirrored or rotated copy.
    pub variant: usize,
    /// Window of the base layer, in atom lengths.
    pub window: f64,
    /// Weight before normalisation.
    pub trust: f64,
    /// Weight in the average.
    pub weight: f64,
    /// Its penalty.
    pub penalty: f64,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// The penalties that were tried.
    pub penalty_path: Vec<PathPoint>,
}

/// Scores of a task against the reference.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskScores {
    /// Peak value of the scores.
    pub peak: f64,
    /// PSNR of the result before clipping and rounding; null for equal images.
    pub psnr_db: Option<f64>,
    /// PSNR of the written file.
    pub psnr_output_db: Option<f64>,
    /// Structural similarity; null if an axis is too short for the window.
    pub ssim: Option<f64>,
    /// PSNR of the filled pixels (inpaint).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_holes_db: Option<f64>,
    /// PSNR of the noisy image (denoise).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_noisy_db: Option<f64>,
    /// PSNR of the lightness, peak 100 (fuse).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_l_db: Option<f64>,
    /// PSNR of the lightness as the paper's authors measure it, peak 255 (fuse).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_authors_db: Option<f64>,
}

impl TaskScores {
    /// Scores of a result, without those that depend on the task.
    pub fn new(peak: f64, score: &crate::score::Score) -> Self {
        Self {
            peak,
            psnr_db: finite(score.psnr_db),
            psnr_output_db: None,
            ssim: score.ssim,
            psnr_holes_db: None,
            psnr_noisy_db: None,
            psnr_l_db: None,
            psnr_authors_db: None,
        }
    }
}

/// Report of `fuse`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fuse {
    #[serde(flatten)]
    pub pursuit: Pursuit,
    /// Name or file of the dictionary.
    pub dictionary: String,
    /// What differs between the images: `focus` or `exposure`.
    pub mode: &'static str,
    /// Similarity of the images, from 0 to 1.
    pub similarity: f64,
    /// Difference in brightness, from 0 to 100.
    pub brightness_difference: f64,
    /// Whether an image was moved.
    pub aligned: bool,
    /// Signal value of the full range of integer images.
    pub scale: f64,
    /// The fused image.
    pub output: String,
    /// The decision map.
    pub decision_map: Option<String>,
    /// The depth map.
    pub depth_map: Option<String>,
    /// The HTML report.
    pub report: Option<String>,
    /// The part of the first image that all images show.
    pub crop: Crop,
    /// Fraction of the source edges that is preserved.
    pub q_abf: f64,
    /// Bits shared with the images.
    pub mutual_information: f64,
    #[serde(flatten)]
    pub scores: Option<TaskScores>,
    /// The images.
    pub images: Vec<FusedImage>,
}

/// A part of an image.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Crop {
    /// First row.
    pub top: usize,
    /// First column.
    pub left: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
}

/// One of the fused images.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FusedImage {
    #[serde(flatten)]
    pub image: Image,
    #[serde(flatten)]
    pub certificate: Certificate,
    /// How its pursuit ended.
    pub status: String,
    /// Fraction of the pixels taken from it.
    pub share: f64,
    /// Its shift relative to the first image that was undone, in pixels: rows, columns.
    pub shift: [f64; 2],
    /// Its magnification relative to the first image that was undone.
    pub scale: f64,
    /// Its rotation relative to the first image that was undone.
    pub angle_degrees: f64,
}

/// Report of `denoise`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Denoise {
    /// How the run ended.
    pub status: String,
    /// The noise model.
    pub noise: &'static str,
    /// The noise that was found; null if its kind was given.
    pub detected: Option<String>,
    /// Factor applied to the noise level.
    pub strength: f64,
    /// The noise level.
    pub noise_level: f64,
    #[serde(flatten)]
    pub certificate: Option<Certificate>,
    /// The penalty, in signal units; null unless the whole image was coded.
    pub penalty: Option<f64>,
    #[serde(flatten)]
    pub sweeps: Option<Sweeps>,
    #[serde(flatten)]
    pub run: Run,
    /// The history of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<HistoryPoint>>,
    /// Number of pixels.
    pub pixels: usize,
    /// Name or file of the dictionary.
    pub dictionary: String,
    /// Signal value of the full range of integer images.
    pub scale: f64,
    /// The clean image.
    pub output: String,
    /// The HTML report.
    pub report: Option<String>,
    #[serde(flatten)]
    pub scores: Option<TaskScores>,
    /// The image.
    pub images: Vec<Image>,
}

/// Report of `separate`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Separate {
    #[serde(flatten)]
    pub pursuit: Pursuit,
    /// Name or file of the dictionary.
    pub dictionary: String,
    /// Weight of the squared gradient of the smooth layer.
    pub smooth: f64,
    /// Number of alternations of pursuit and smooth layer.
    pub alternations: usize,
    /// Signal value of the full range of integer images.
    pub scale: f64,
    /// The smooth layer and the texture.
    pub output: [String; 2],
    /// The HTML report.
    pub report: Option<String>,
    /// The image.
    pub images: Vec<Image>,
}
