//! Vector instructions chosen at run time.
//!
//! A computation is written once, as a [`Kernel`] against any [`Vector`]; [`Dispatch`] runs it with
//! the vectors of a [`Level`], the instruction set of the machine:
//!
//! ```
//! use lobcod_simd::{Dispatch, Kernel, Level, Vector};
//!
//! /// The largest absolute value.
//! struct Peak<'a>(&'a [f32]);
//!
//! impl Kernel<f32> for Peak<'_> {
//!     type Output = f32;
//!     #[inline(always)]
//!     fn run<V: Vector<Elem = f32>>(self) -> f32 {
//!         let chunks = self.0.chunks_exact(V::LANES);
//!         let rest = chunks.remainder().iter().fold(0.0f32, |most, x| most.max(x.abs()));
//!         // SAFETY: every chunk has LANES numbers.
//!         let vectors = chunks.map(|chunk| unsafe { V::load(chunk.as_ptr()) }.abs());
//!         vectors.fold(V::splat(rest), V::max).largest()
//!     }
//! }
//!
//! let samples: Vec<f32> = (0..100).map(|i| (i as f32 - 70.0) / 2.0).collect();
//! assert_eq!(f32::dispatch(Level::detect(), Peak(&samples)), 35.0);
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod vector;

pub use level::Level;
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
    ($t:ident, $avx2:ident, $wide:ident, $neon:ident, $simd128:ident) => {
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
                    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                    Level::Simd128 => kernel.run::<simd128::$simd128>(),
                }
            }
        }
    };
}
dispatch!(f32, Avx2F32, Avx512VlF32, NeonF32, Simd128F32);
dispatch!(f64, Avx2F64, Avx512VlF64, NeonF64, Simd128F64);
