//! lobcod over the ranks of MPI.
//!
//! The engine is [`lobcod::engine::ranks::RankEngine`]; this crate transports its messages.
//! Requires the feature `mpi`, which needs an MPI library: Open MPI (Debian: `libopenmpi-dev
//! openmpi-bin libclang-dev`) or MPICH (`libmpich-dev mpich libclang-dev`); without it the crate is
//! empty.
//!
//! ```no_run
//! # #[cfg(feature = "mpi")]
//! # fn main() -> Result<(), lobcod::Error> {
//! use lobcod::engine::ranks::RankEngine;
//! use lobcod::{Dictionary, Extent, Penalty, PursuitParams, Signal};
//!
//! let world = lobcod_mpi::MpiWorld::join()?;
//! let engine = RankEngine::new(world, 1)?;
//! let image = Signal::from_planar(Extent::new(&[512, 512])?, 1, vec![0.5f32; 512 * 512])?;
//! let dictionary = Dictionary::dct(Extent::new(&[8, 8])?, 1, 64)?;
//! let pursuit = PursuitParams::new(Penalty::Relative(0.1)).check()?;
//! let answer = pursuit.run(&engine, &[image.into()], &dictionary, &mut ())?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mpi"))]
//! # fn main() {}
//! ```

#[cfg(feature = "mpi")]
mod calls;
#[cfg(feature = "mpi")]
mod launch;
#[cfg(feature = "mpi")]
mod ping;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use launch::launcher;
#[cfg(feature = "mpi")]
pub use ping::{Ping, ping};
#[cfg(feature = "mpi")]
pub use world::MpiWorld;
