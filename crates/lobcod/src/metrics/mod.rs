//! Scores: how close a signal is to the true one, how much of its sources a fused picture keeps, how sharp a picture is.

mod focus;
mod fusion;
mod similarity;

pub use focus::{average_gradient, entropy, laplacian_energy, spatial_frequency};
pub use fusion::{EdgeScore, mutual_information, q_abf};
pub use similarity::{psnr, ssim};
