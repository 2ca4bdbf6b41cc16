//! Measurements: sums over the residual, correlations and dual points.

pub mod correlations;
pub mod scaled;
pub mod special;
pub mod sums;
