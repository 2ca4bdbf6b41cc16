//! Available vector instructions.

use std::fmt;

/// The set of vector instructions in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// 16-byte vectors in plain Rust, for every machine.
    Portable,
    /// AVX2 with fused multiply-add: 32-byte vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512: 64-byte vectors for the correlation, 32-byte ones for everything else.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// NEON: 16-byte vectors of 64-bit ARM.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// SIMD128 of WebAssembly: 16-byte vectors, chosen when a module is built.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

impl Level {
    /// All levels of this architecture, the best last.
    pub const ALL: &'static [Level] = &[
        Level::Portable,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
        #[cfg(target_arch = "aarch64")]
        Level::Neon,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Level::Simd128,
    ];

    /// The best level of this machine.
    pub fn detect() -> Self {
        Self::ALL.iter().copied().rfind(|level| level.is_available()).unwrap_or(Level::Portable)
    }

    /// Whether this machine supports it.
    #[inline]
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon => true,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128 => true,
        }
    }

    /// Size in bytes of the vectors used for rows of patches.
    pub fn bytes(self) -> usize {
        match self {
            Level::Portable => 16,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => 32,
            #[cfg(target_arch = "aarch64")]
            Level::Neon => 16,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128 => 16,
        }
    }

    /// Number of values of type `T` in such a vector.
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
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Level::Neon => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128 => "simd128",
        })
    }
}
