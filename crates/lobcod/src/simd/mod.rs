//! Vector instructions chosen at run time.
//!
//! A kernel is written once against [`Vector`]; [`Dispatch`] runs it with the widest vectors the machine has. `docs/architecture.md`
//! lists all places with unsafe code.

mod correlate;
mod patch;
mod rates;
mod vector;

pub(crate) use correlate::{PackedAtoms, correlate};
pub(crate) use patch::{AtomRows, PatchRows, add_atom, dot_atom, gather_patch, weighted_energy};
pub use rates::{Rates, measure_rates};
pub use vector::Vector;

use std::fmt;

/// The set of vector instructions in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// 16-byte vectors of plain Rust; every machine has them.
    Portable,
    /// AVX2 with fused multiply-add: 32-byte vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Level {
    /// The best level of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Level::Avx2;
        }
        Level::Portable
    }

    /// Bytes of a vector.
    pub fn bytes(self) -> usize {
        match self {
            Level::Portable => 16,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => 32,
        }
    }

    /// Numbers of type `T` in a vector.
    pub fn lanes<T>(self) -> usize {
        self.bytes() / size_of::<T>()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2+fma",
        })
    }
}

/// Work written against any vector type.
pub trait Kernel<T> {
    /// What the work gives.
    type Output;
    /// The work; mark it `#[inline(always)]` so that it is compiled for the vectors it runs with.
    fn run<V: Vector<Elem = T>>(self) -> Self::Output;
}

/// Runs kernels at a level; implemented for `f32` and `f64`.
pub trait Dispatch: Sized {
    /// Runs `kernel` with the vectors of `level`.
    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;
}

macro_rules! dispatch {
    ($t:ident, $avx2:ident) => {
        impl Dispatch for $t {
            #[inline]
            fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2<K: Kernel<$t>>(kernel: K) -> K::Output {
                    kernel.run::<vector::$avx2>()
                }
                match level {
                    Level::Portable => kernel.run::<vector::Portable<$t, { 16 / size_of::<$t>() }>>(),
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => {
                        assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"), "this machine has no AVX2");
                        // SAFETY: the assertion above saw both features.
                        unsafe { with_avx2(kernel) }
                    }
                }
            }
        }
    };
}
dispatch!(f32, Avx2F32);
dispatch!(f64, Avx2F64);
