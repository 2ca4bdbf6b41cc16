//! Kernels on patches and rows, written against the vectors of `lobcod-simd`.

mod aligned;
mod correlate;
mod patch;
mod project;

pub(crate) use aligned::Aligned;
pub(crate) use correlate::{BATCH, PackedAtoms, PatchSamples, ReachRule};
pub(crate) use lobcod_simd::{Dispatch, Kernel, Level, Vector};
pub(crate) use patch::{
    AtomRows, PatchRows, add_atom, add_shifted, dot_atom, gather_patch, patch_energy,
    weighted_energy,
};
pub(crate) use project::project;
