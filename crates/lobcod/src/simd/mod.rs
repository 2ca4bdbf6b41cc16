//! Vector instructions chosen at run time.
//!
//! A kernel is written once against [`Vector`]; [`Dispatch`] runs it with the vectors of a
//! [`Level`].

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod correlate;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod patch;
mod project;
mod vector;

pub(crate) use aligned::Aligned;
pub(crate) use correlate::{BATCH, PackedAtoms, PatchSamples, ReachRule};
pub use level::Level;
pub(crate) use patch::{
    AtomRows, PatchRows, add_atom, add_shifted, dot_atom, gather_patch, patch_energy,
    weighted_energy,
};
pub(crate) use project::project;
pub use vector::Vector;

/// A computation written against any vector type.
pub trait Kernel<T> {
    /// Result of the computation.
    type Output;
    /// Runs it; mark it `#[inline(always)]` so that it is compiled for the vectors it runs with.
    fn run<V: Vector<Elem = T>>(self) -> Self::Output;
}

/// Runs kernels at a level; implemented for `f32` and `f64`.
pub trait Dispatch: Sized {
    /// Runs `kernel` with the vectors of `level`.
    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;
}

macro_rules! dispatch {
    ($t:ident, $avx2:ident, $wide:ident, $neon:ident) => {
        impl Dispatch for $t {
            #[inline]
            fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2<K: Kernel<$t>>(kernel: K) -> K::Output {
                    kernel.run::<avx2::$avx2>()
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
                fn with_avx512<K: Kernel<$t>>(kernel: K) -> K::Output {
                    kernel.run::<avx2::$wide>()
                }
                assert!(level.is_available(), "this machine does not support {level}");
                match level {
                    Level::Portable => {
                        kernel.run::<vector::Portable<$t, { 16 / size_of::<$t>() }>>()
                    }
                    // SAFETY: the assertion above checked the features.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { with_avx2(kernel) },
                    // SAFETY: the assertion above checked the features.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { with_avx512(kernel) },
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => kernel.run::<neon::$neon>(),
                }
            }
        }
    };
}
dispatch!(f32, Avx2F32, Avx512VlF32, NeonF32);
dispatch!(f64, Avx2F64, Avx512VlF64, NeonF64);
