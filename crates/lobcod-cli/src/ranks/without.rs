//! Ranks in a build without MPI.

use anyhow::{Result, bail};
use lobcod::Real;
use lobcod::engine::Engine;
use lobcod::engine::ranks::World;
use std::rc::Rc;

/// Error: there are no ranks.
pub fn check() -> Result<()> {
    bail!(
        "this build has no MPI engine; use --engine cpu, or install MPI and build with cargo \
         build --release -p lobcod-cli --features mpi"
    )
}

/// Error: there are no ranks.
pub fn join() -> Result<(usize, usize)> {
    check().map(|()| (0, 0))
}

/// Error: there are no ranks.
pub fn world() -> Result<Rc<dyn World>> {
    check().and_then(|()| bail!("no ranks"))
}

/// Error: there are no ranks.
pub fn engine<T: Real>(_threads: usize) -> Result<Box<dyn Engine<T>>> {
    check().and_then(|()| bail!("no engine"))
}

/// Does nothing: there are no other ranks.
pub fn fail() {}

/// Does nothing: there are no other ranks.
pub fn give_way() {}

/// Does nothing: there are no other ranks.
pub fn leave() {}

/// What MPI supports here, or how to enable it.
pub fn doctor() -> Result<String, String> {
    Err("not in this build; --engine cpu gives the same results on one machine. To enable MPI, \
         install it and run cargo build --release -p lobcod-cli --features mpi"
        .into())
}
