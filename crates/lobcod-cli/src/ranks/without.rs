//! A program built without MPI.

use anyhow::{Result, bail};
use lobcod::Real;
use lobcod::engine::Engine;

/// Error: there are no ranks.
pub fn check() -> Result<()> {
    bail!(
        "this build has no MPI engine; use --engine cpu, or build one where MPI is installed with \
         cargo build --release -p lobcod-cli --features mpi"
    )
}

/// Error: there are no ranks.
pub fn join() -> Result<(usize, usize)> {
    check().map(|()| (0, 0))
}

/// Error: there are no ranks.
pub fn engine<T: Real>(_threads: usize) -> Result<Box<dyn Engine<T>>> {
    check().and_then(|()| bail!("no engine"))
}

/// Nothing is to be done for other ranks.
pub fn fail() {}

/// Nobody speaks first.
pub fn give_way() {}

/// There is nothing to leave.
pub fn leave() {}

/// What MPI offers here, or what to do about what is missing.
pub fn doctor() -> Result<String, String> {
    Err("not in this build; --engine cpu does the same work without other machines, and \
         cargo build --release -p lobcod-cli --features mpi builds it where MPI is installed"
        .into())
}
