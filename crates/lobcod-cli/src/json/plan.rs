//! Report of `--dry-run`.

use super::Image;
use serde::Serialize;

/// What would run, and what it needs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// Always true.
    pub dry_run: bool,
    /// The images.
    pub images: Vec<Image>,
    /// Name or file of the first dictionary.
    pub dictionary: String,
    /// Names or files of all dictionaries.
    pub dictionaries: Vec<String>,
    /// Number of atoms of the first dictionary.
    pub atoms: usize,
    /// Size of its atoms.
    pub atom_shape: Vec<usize>,
    /// Floating-point precision.
    pub precision: &'static str,
    #[serde(flatten)]
    pub settings: Settings,
    /// Memory of the solver.
    pub working_memory_bytes: u64,
    /// Memory of the process.
    pub memory_bytes: u64,
    /// Estimated time.
    pub estimated_seconds: f64,
    /// The memory limit; null if there is none.
    pub max_memory_bytes: Option<u64>,
    /// Whether the memory is within the limit.
    pub fits: bool,
    /// Number of bands in which the image would be encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<usize>,
    /// The output file; null if the result would not be saved.
    pub output: Option<String>,
}

/// Settings that depend on the command.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Settings {
    /// A pursuit of whole images.
    Pursuit {
        /// The base layer.
        base: String,
        /// The boundary condition.
        border: String,
        /// Target for the relative gap.
        tolerance: f64,
    },
    /// Inpainting.
    Inpaint {
        /// The file of the image, as in `images`.
        image: String,
        /// Its shape, as in `images`.
        shape: Vec<usize>,
        /// Its channels, as in `images`.
        channels: usize,
        /// Number of missing samples.
        missing_samples: usize,
        /// Whether atoms would be learnt from the image: `image` or `none`.
        learn: &'static str,
        /// Number of mirrored and rotated copies of each dictionary.
        variants: usize,
        /// Windows of the base layer, in atom lengths.
        windows: Vec<f64>,
        /// Penalty of the dense initial codes.
        density: f64,
        /// Fraction of known samples that would be held out.
        held_out: f64,
    },
    /// Denoising.
    Denoise {
        /// The noise model.
        noise: &'static str,
        /// The noise that was found; null if its kind was given.
        detected: Option<String>,
    },
}
