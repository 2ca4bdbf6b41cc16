//! Kernels on patches and rows, written against the vectors of `lobcod-simd`.
//!
//! In WebAssembly, the innermost kernels are functions of their own: in the large function that
//! they would be inlined into, engines keep their sums in memory, and they take 1.5 times as long.

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
