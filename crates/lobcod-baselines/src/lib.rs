//! Methods that the paper compares with, implemented from their descriptions: for benchmarks, and
//! as independent checks of the optimum.
//!
//! - [`Sbdl`]: slice-based dictionary learning (Papyan, Romano, Sulam, Elad 2017): ADMM on slices,
//!   LARS for the needles, K-SVD or MOD for the dictionary; with masks.
//! - [`SpatialSgd`]: online learning by projected stochastic gradients in the spatial domain (Liu,
//!   Garcia-Cardona, Wohlberg, Yin 2018).
//!
//! Signals and atoms have one channel and 1 to 3 axes, in `f64`. The code is not optimised and not
//! part of the program.

mod geometry;
mod lars;
mod sbdl;
mod sgd;
mod slices;
mod update;

pub use lars::lasso;
pub use sbdl::{Sbdl, SbdlAnswer, SbdlPoint};
pub use sgd::SpatialSgd;
pub use update::Update;
