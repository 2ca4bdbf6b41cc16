//! Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.
//!
//! The problem, for a signal `Y`, weights `A`, base layer `B` and a dictionary `D` of unit atoms:
//!
//! ```text
//! min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  sum_ik penalty_ik |a_ik|
//! ```
//!
//! ```
//! use lobcod::engine::CpuEngine;
//! use lobcod::{Dictionary, Extent, Penalty, PursuitParams, Signal};
//!
//! let extent = Extent::new(&[20, 20])?;
//! let waves = (0..400).map(|i| ((i % 20) as f32 * 0.7).sin()).collect();
//! let image = Signal::from_planar(extent, 1, waves)?;
//! let dictionary = Dictionary::dct(Extent::new(&[5, 5])?, 1, 25)?;
//! let pursuit = PursuitParams::new(Penalty::Relative(0.1)).check()?;
//! let answer = pursuit.run(&CpuEngine::new(0)?, &[image.into()], &dictionary, &mut ())?;
//! assert!(answer.report.total.relative_gap() <= 1e-3);
//! # Ok::<(), lobcod::Error>(())
//! ```
//!
//! Five types do most of the work:
//!
//! - [`Signal`]: samples of a sequence, an image or a volume, with channels;
//! - [`Dictionary`]: the atoms;
//! - [`Pursuit`], made by [`PursuitParams`]: finds the sparse codes, [`Needles`];
//! - [`Learner`], made by [`LearnParams`]: finds the dictionary as well;
//! - [`engine::CpuEngine`]: where they run. Crates `lobcod-cuda` and `lobcod-mpi` have others.
//!
//! The modules go further:
//!
//! | module | contents |
//! |---|---|
//! | [`pursuit`], [`learn`] | parameters, methods, answers |
//! | [`bands`] | signals larger than memory |
//! | [`base`] | smooth layers to subtract before coding |
//! | [`checkpoint`], [`run`] | resuming, progress, limits |
//! | [`engine`], [`grid`], [`geometry`], [`parallel`] | for authors of engines |
//!
//! Inpainting, fusion, denoising and separation are in the crate `lobcod-tasks`.

pub mod base;
mod border;
pub mod checkpoint;
mod clock;
pub mod dictionary;
pub mod engine;
pub mod error;
#[doc(hidden)]
pub mod exact;
mod extent;
pub mod geometry;
pub mod grid;
#[doc(hidden)]
pub mod lasso;
pub mod learn;
mod mask;
pub mod memory;
mod needles;
mod observe;
pub mod parallel;
pub mod pursuit;
mod real;
mod report;
pub mod run;
mod signal;
mod simd;

pub use pursuit::bands;

pub use border::Border;
pub use dictionary::Dictionary;
pub use error::{Error, Result};
pub use extent::Extent;
pub use learn::{LearnParams, Learner, Learnt, Stream};
pub use mask::Mask;
pub use needles::{Code, Needles};
pub use observe::{Control, Observer, Progress};
pub use pursuit::{Answer, Observed, Penalty, Pursuit, PursuitParams};
pub use real::Real;
pub use report::{Certificate, Constrained, Report, Reweighted, Status};
pub use signal::Signal;

/// Runs the Rust code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
