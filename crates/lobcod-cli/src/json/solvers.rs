//! Reports of `encode` and `learn`.

use super::{Certificate, Image, Missing, Pursuit, Run, Sweeps};
use serde::Serialize;

/// Report of `encode`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Encode {
    #[serde(flatten)]
    pub pursuit: Pursuit,
    /// Name or file of the dictionary.
    pub dictionary: String,
    /// Number of atoms that did not have unit norm.
    pub normalised_atoms: usize,
    /// The base layer.
    pub base: String,
    /// The boundary condition.
    pub border: String,
    /// The options that change the model of the codes.
    pub model: Vec<String>,
    /// Signal value of the full range of integer images.
    pub scale: f64,
    /// The codes, or the folder of codes of several images; null if they were not saved.
    pub output: Option<String>,
    /// The HTML report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Whether the run resumed from a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
    /// Number of MPI ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<usize>,
    /// Number of bands in which the image was encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<usize>,
    /// Penalty with which the dictionary was learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictionary_penalty: Option<f64>,
    /// PSNR of the reconstructions: against the references, otherwise against the known samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_db: Option<f64>,
    /// Mean structural similarity to the references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssim: Option<f64>,
    /// Largest correlation of an unpenalised code; above rounding errors the gap is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpenalised_correlation: Option<f64>,
    /// Data term of the debiased codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debiased_data_term: Option<f64>,
    /// Constrained form: norm of the residual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Constrained form: weighted l1 norm of the codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_norm: Option<f64>,
    /// Constrained form: upper bound on the distance of the l1 norm to the smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_gap: Option<f64>,
    /// Reweighting: number of weighted problems that were solved; gap and objective are those of the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    /// Reweighting: objective with the loss itself, which is not convex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reweighted_objective: Option<f64>,
    /// The images.
    pub images: Vec<EncodedImage>,
}

/// An encoded image.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EncodedImage {
    #[serde(flatten)]
    pub image: Image,
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Its codes; null if they were not saved.
    pub output: Option<String>,
    #[serde(flatten)]
    pub missing: Missing,
    /// PSNR of the reconstruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_db: Option<f64>,
    /// Structural similarity to the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssim: Option<f64>,
}

/// What all learning methods report.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LearnCommon {
    /// How learning ended.
    pub status: String,
    /// The learning method.
    pub method: &'static str,
    /// Number of completed passes.
    pub passes: usize,
    /// The dictionary that was written.
    pub dictionary: String,
    /// The same file: the output of the command.
    pub output: String,
    /// Number of atoms.
    pub atoms: usize,
    /// Size of an atom.
    pub atom_shape: Vec<usize>,
    /// Number of channels of an atom.
    pub channels: usize,
    /// The initial atoms.
    pub init: String,
    /// Number of initial atoms that did not have unit norm.
    pub normalised_atoms: usize,
    /// Number of unused atoms that were replaced.
    pub replaced_atoms: usize,
    /// The base layer.
    pub base: String,
    /// The boundary condition.
    pub border: String,
    /// The constraints on codes and atoms.
    pub model: Vec<String>,
    /// Signal value of the full range of integer images.
    pub scale: f64,
    /// Seed of the random number generator.
    pub seed: u64,
    /// The HTML report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Whether the run resumed from a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
}

/// Report of `learn`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Learn {
    #[serde(flatten)]
    pub common: LearnCommon,
    /// How the final pursuit ended.
    pub pursuit_status: String,
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Number of pixels of all images.
    pub pixels: usize,
    /// The penalty, in signal units.
    pub penalty: f64,
    #[serde(flatten)]
    pub sweeps: Sweeps,
    #[serde(flatten)]
    pub run: Run,
    /// Number of near-duplicate atoms that were merged.
    pub merged_atoms: usize,
    /// PSNR of the reconstructions.
    pub psnr_db: Option<f64>,
    /// One point a pass.
    pub history: Vec<LearnPoint>,
    /// The images.
    pub images: Vec<EncodedImage>,
}

/// A pass of `learn`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LearnPoint {
    /// Seconds since the start.
    pub seconds: f64,
    /// Number of the pass, from 1.
    pub pass: usize,
    /// The objective.
    pub objective: f64,
    /// Half of the squared error.
    pub data_term: f64,
    /// PSNR of the reconstructions.
    pub psnr_db: Option<f64>,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// Number of unused atoms that were replaced.
    pub replaced_atoms: usize,
    /// Number of near-duplicate atoms that were merged.
    pub merged_atoms: usize,
}

/// Report of `learn --stream`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stream {
    #[serde(flatten)]
    pub common: LearnCommon,
    /// Sum of the objectives of the images, each when it was last used.
    pub objective: f64,
    /// Half of the squared error, likewise.
    pub data_term: f64,
    /// Number of non-zero codes, likewise.
    pub nonzeros: usize,
    /// Null: there is no pursuit over all images.
    pub gap: Option<f64>,
    /// Null: there is no pursuit over all images.
    pub relative_gap: Option<f64>,
    /// The penalty; null if no image was used.
    pub penalty: Option<f64>,
    #[serde(flatten)]
    pub run: Run,
    /// One point an image.
    pub history: Vec<StreamPoint>,
    /// The images.
    pub images: Vec<StreamImage>,
}

/// An image of a stream.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StreamImage {
    /// The file.
    pub file: String,
}

/// An image that was learnt from.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StreamPoint {
    /// Seconds since the start.
    pub seconds: f64,
    /// Number of the pass, from 1.
    pub pass: usize,
    /// The image.
    pub file: String,
    /// Its objective.
    pub objective: f64,
    /// Half of its squared error.
    pub data_term: f64,
    /// Its number of non-zero codes.
    pub nonzeros: usize,
    /// Number of unused atoms that were replaced.
    pub replaced_atoms: usize,
}
