//! Scores: similarity to a reference, quality of a fusion, sharpness.

mod focus;
mod fusion;
mod similarity;

pub use focus::{average_gradient, entropy, laplacian_energy, spatial_frequency};
pub use fusion::{EdgeScore, mutual_information, q_abf};
pub use similarity::{psnr, ssim};
