//! Reports of `decode`, `show`, `find-damage`, `compare`, `demo` and `doctor`.

use super::{Pursuit, Score};
use serde::Serialize;

/// Report of `decode`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decode {
    /// Number of samples along each axis.
    pub shape: Vec<usize>,
    /// Number of channels.
    pub channels: usize,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// Number of pixels.
    pub pixels: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Penalty with which the image was encoded.
    pub penalty: f64,
    /// Sample type of the output.
    pub depth: String,
    /// The image.
    pub output: String,
}

/// Report of `show`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Show {
    /// Name or file of the dictionary.
    pub dictionary: String,
    /// Number of atoms.
    pub atoms: usize,
    /// Size of an atom, as in other reports.
    pub atom_shape: Vec<usize>,
    /// Size of an atom.
    pub shape: Vec<usize>,
    /// Number of channels of an atom.
    pub channels: usize,
    /// Number of atoms that did not have unit norm.
    pub normalised_atoms: usize,
    /// Largest absolute inner product of two atoms.
    pub coherence: f64,
    /// How often the codes use each atom, most used first; null for a dictionary.
    pub uses: Option<Vec<Use>>,
    /// The image of the atoms.
    pub output: String,
}

/// Usage of an atom.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Use {
    /// Number of the atom, from 0.
    pub atom: usize,
    /// Number of its non-zero codes.
    pub times: usize,
    /// Fraction of all non-zero codes.
    pub share: f64,
    /// Mean absolute value of its codes.
    pub mean_size: f64,
}

/// Report of `find-damage`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FindDamage {
    /// The image.
    pub image: String,
    /// Number of pixels of the image.
    pub pixels: usize,
    /// Number of suspected scratches and creases.
    pub scratches: usize,
    /// Number of suspected spots, such as dust.
    pub spots: usize,
    /// Number of suspected printed dates.
    pub dates: usize,
    /// Number of marked pixels.
    pub marked_pixels: usize,
    /// Fraction of the pixels that are marked.
    pub fraction: f64,
    /// The mask.
    pub output: String,
    /// The HTML report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// Report of `compare`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compare {
    #[serde(flatten)]
    pub score: Score,
    /// Peak value of the scores.
    pub peak: f64,
    /// Largest absolute difference.
    pub largest_difference: f64,
    /// Mean absolute difference.
    pub mean_difference: f64,
    /// Whether the images are equal.
    pub equal: bool,
    /// The difference image.
    pub output: Option<String>,
    /// The HTML report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// Report of `demo`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Demo {
    #[serde(flatten)]
    pub pursuit: Pursuit,
    #[serde(flatten)]
    pub score: Score,
    /// Learning.
    pub learn: DemoLearn,
    /// Encoding.
    pub encode: DemoEncode,
    /// Inpainting.
    pub inpaint: DemoInpaint,
    /// Fusion.
    pub fuse: DemoFuse,
    /// The folder.
    pub output: String,
    /// The HTML report.
    pub report: String,
}

/// Learning in the demo.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DemoLearn {
    /// Its time.
    pub seconds: f64,
    /// Number of passes.
    pub passes: usize,
    /// The objective at the end.
    pub objective: f64,
}

/// Encoding in the demo.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DemoEncode {
    /// Its time.
    pub seconds: f64,
    #[serde(flatten)]
    pub score: Score,
}

/// Inpainting in the demo.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DemoInpaint {
    /// Its time.
    pub seconds: f64,
    /// PSNR of the filled image.
    pub psnr_output_db: Option<f64>,
    /// Its structural similarity.
    pub ssim: Option<f64>,
}

/// Fusion in the demo.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DemoFuse {
    /// Its time.
    pub seconds: f64,
    /// PSNR of the near image.
    pub near_psnr_db: Option<f64>,
    /// PSNR of the far image.
    pub far_psnr_db: Option<f64>,
    #[serde(flatten)]
    pub score: Score,
}

/// Report of `doctor`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Doctor {
    /// Version of the program.
    pub version: &'static str,
    /// Operating system.
    pub system: &'static str,
    /// Processor architecture.
    pub architecture: &'static str,
    /// Name of the processor.
    pub processor: Option<String>,
    /// Vector instructions in use.
    pub simd: String,
    /// Number of hardware threads.
    pub threads: usize,
    /// Total memory.
    pub memory_bytes: Option<u64>,
    /// Free memory.
    pub free_memory_bytes: Option<u64>,
    /// The engines, and whether each can be used.
    pub engines: Engines,
    /// The GPU.
    pub device: Option<String>,
    /// How to enable what is missing.
    pub advice: Advice,
}

/// Whether each engine can be used.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Engines {
    /// The CPU.
    pub cpu: bool,
    /// NVIDIA GPUs.
    pub cuda: bool,
    /// MPI.
    pub mpi: bool,
}

/// How to enable engines that cannot be used; null for those that can.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Advice {
    /// NVIDIA GPUs.
    pub cuda: Option<String>,
    /// MPI.
    pub mpi: Option<String>,
}
