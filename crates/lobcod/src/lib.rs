//! Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.
//!
//! The problem, for a signal `Y`, weights `A`, base layer `B` and a dictionary `D` of unit atoms:
//!
//! ```text
//! min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  sum_ik penalty_ik |a_ik|
//! ```
//!
//! ```
//! use lobcod::{Dictionary, Extent, Penalty, PursuitParams, Signal};
//!
//! let extent = Extent::new(&[20, 20])?;
//! let image = Signal::from_planar(extent, 1, (0..400).map(|i| ((i % 20) as f32 * 0.7).sin()).collect())?;
//! let dictionary = Dictionary::dct(Extent::new(&[5, 5])?, 1, 25)?;
//! let pursuit = PursuitParams::new(Penalty::Relative(0.1)).check()?;
//! let answer = pursuit.run(&[image.into()], &dictionary, &mut ())?;
//! assert!(answer.report.total.relative_gap() <= 1e-3);
//! # Ok::<(), lobcod::Error>(())
//! ```

pub mod base;
mod border;
mod checkpoint;
mod dictionary;
pub mod engine;
mod error;
pub mod exact;
mod extent;
pub mod grid;
pub mod lasso;
mod learn;
mod mask;
pub mod memory;
pub mod metrics;
mod needles;
mod observe;
mod parallel;
pub mod procedural;
mod pursuit;
mod real;
mod report;
mod signal;
pub mod simd;
pub mod tasks;

pub use border::Border;
pub use checkpoint::{Checkpoint, LearnCheckpoint, Memory, ScheduleState};
pub use dictionary::{Dictionary, Embedded};
pub use error::{Error, Result};
pub use extent::Extent;
pub use learn::{Decay, LearnParams, LearnPoint, LearnReport, Learner, Learnt, Method, Step, Stream};
pub use mask::Mask;
pub use needles::{Code, Needles};
pub use observe::{Control, Observer, Progress, Stop};
pub use pursuit::{
    Answer, BandedShape, Local, Observed, PartOf, Penalty, Piece, Pursuit, PursuitParams, Rows, Schedule, Shelf, Start,
};
pub use real::Real;
pub use report::{Certificate, HistoryPoint, Report, Status};
pub use signal::Signal;

/// The README's Rust code runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
