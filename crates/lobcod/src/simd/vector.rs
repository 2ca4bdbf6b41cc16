//! Vector types: one trait, a portable form and AVX2.

/// A vector of `LANES` numbers. Only made inside [`super::Dispatch::dispatch`], which has checked that the machine has it.
pub trait Vector: Copy {
    /// Number type.
    type Elem: Copy;
    /// Numbers in the vector.
    const LANES: usize;
    /// All lanes the same.
    fn splat(x: Self::Elem) -> Self;
    /// Reads `LANES` numbers.
    ///
    /// # Safety
    /// `at` points to `LANES` readable numbers.
    unsafe fn load(at: *const Self::Elem) -> Self;
    /// Writes `LANES` numbers.
    ///
    /// # Safety
    /// `at` points to `LANES` writable numbers.
    unsafe fn store(self, at: *mut Self::Elem);
    /// `self + b`.
    fn add(self, b: Self) -> Self;
    /// `self * b`.
    fn mul(self, b: Self) -> Self;
    /// `self * b + c`.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Lane by lane the larger.
    fn max(self, b: Self) -> Self;
    /// Is any lane of `self` above that of `b`?
    fn any_above(self, b: Self) -> bool;
    /// Sum of the lanes, always in the same order.
    fn sum(self) -> Self::Elem;
    /// Largest lane.
    fn largest(self) -> Self::Elem;
}

/// `N` numbers in plain Rust, left to the compiler to vectorise.
#[derive(Clone, Copy)]
pub struct Portable<T, const N: usize>([T; N]);

macro_rules! portable {
    ($t:ident, $n:literal) => {
        impl Vector for Portable<$t, $n> {
            type Elem = $t;
            const LANES: usize = $n;
            #[inline(always)]
            fn splat(x: $t) -> Self {
                Self([x; $n])
            }
            #[inline(always)]
            unsafe fn load(at: *const $t) -> Self {
                // SAFETY: the caller vouches for LANES readable numbers.
                Self(unsafe { at.cast::<[$t; $n]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, at: *mut $t) {
                // SAFETY: the caller vouches for LANES writable numbers.
                unsafe { at.cast::<[$t; $n]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] + b.0[i]))
            }
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] * b.0[i]))
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] * b.0[i] + c.0[i]))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self(self.0.map(|x| x.abs()))
            }
            #[inline(always)]
            fn max(self, b: Self) -> Self {
                Self(std::array::from_fn(|i| if self.0[i] > b.0[i] { self.0[i] } else { b.0[i] }))
            }
            #[inline(always)]
            fn any_above(self, b: Self) -> bool {
                (0..$n).fold(false, |any, i| any | (self.0[i] > b.0[i]))
            }
            #[inline(always)]
            fn sum(self) -> $t {
                let mut half = self.0;
                let mut width = $n / 2;
                while width > 0 {
                    for i in 0..width {
                        half[i] += half[i + width];
                    }
                    width /= 2;
                }
                half[0]
            }
            #[inline(always)]
            fn largest(self) -> $t {
                self.0.iter().fold(self.0[0], |a, &b| if b > a { b } else { a })
            }
        }
    };
}
portable!(f32, 4);
portable!(f64, 2);

#[cfg(target_arch = "x86_64")]
pub use avx2::{Avx2F32, Avx2F64};

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Vector;
    use std::arch::x86_64::*;

    macro_rules! avx2 {
        ($name:ident, $t:ident, $raw:ident, $lanes:literal, $sign:expr, $set1:ident, $load:ident, $store:ident, $add:ident, $mul:ident,
         $fma:ident, $andnot:ident, $max:ident, $cmp:ident, $movemask:ident, $half:ident, $low:ident, $high:ident, $half_add:ident,
         $half_max:ident) => {
            /// 32-byte vector of AVX2.
            #[derive(Clone, Copy)]
            pub struct $name($raw);

            impl Vector for $name {
                type Elem = $t;
                const LANES: usize = $lanes;
                #[inline(always)]
                fn splat(x: $t) -> Self {
                    // SAFETY: vectors of this type are made only where AVX2 was detected; so for all blocks below.
                    Self(unsafe { $set1(x) })
                }
                #[inline(always)]
                unsafe fn load(at: *const $t) -> Self {
                    // SAFETY: the caller vouches for LANES readable numbers.
                    Self(unsafe { $load(at) })
                }
                #[inline(always)]
                unsafe fn store(self, at: *mut $t) {
                    // SAFETY: the caller vouches for LANES writable numbers.
                    unsafe { $store(at, self.0) }
                }
                #[inline(always)]
                fn add(self, b: Self) -> Self {
                    // SAFETY: AVX2 was detected.
                    Self(unsafe { $add(self.0, b.0) })
                }
                #[inline(always)]
                fn mul(self, b: Self) -> Self {
                    // SAFETY: AVX2 was detected.
                    Self(unsafe { $mul(self.0, b.0) })
                }
                #[inline(always)]
                fn mul_add(self, b: Self, c: Self) -> Self {
                    // SAFETY: FMA was detected.
                    Self(unsafe { $fma(self.0, b.0, c.0) })
                }
                #[inline(always)]
                fn abs(self) -> Self {
                    // SAFETY: AVX2 was detected.
                    Self(unsafe { $andnot($set1($sign), self.0) })
                }
                #[inline(always)]
                fn max(self, b: Self) -> Self {
                    // SAFETY: AVX2 was detected.
                    Self(unsafe { $max(self.0, b.0) })
                }
                #[inline(always)]
                fn any_above(self, b: Self) -> bool {
                    // SAFETY: AVX2 was detected.
                    unsafe { $movemask($cmp::<_CMP_GT_OQ>(self.0, b.0)) != 0 }
                }
                #[inline(always)]
                fn sum(self) -> $t {
                    // SAFETY: AVX2 was detected; a half holds LANES / 2 numbers.
                    let half: [$t; $lanes / 2] = unsafe {
                        let folded = $half_add($low(self.0), $high::<1>(self.0));
                        std::mem::transmute::<$half, _>(folded)
                    };
                    let mut sums = half;
                    let mut width = $lanes / 4;
                    while width > 0 {
                        for i in 0..width {
                            sums[i] += sums[i + width];
                        }
                        width /= 2;
                    }
                    sums[0]
                }
                #[inline(always)]
                fn largest(self) -> $t {
                    // SAFETY: AVX2 was detected; a half holds LANES / 2 numbers.
                    let half: [$t; $lanes / 2] = unsafe {
                        let folded = $half_max($low(self.0), $high::<1>(self.0));
                        std::mem::transmute::<$half, _>(folded)
                    };
                    half.iter().fold(half[0], |a, &b| if b > a { b } else { a })
                }
            }
        };
    }

    avx2!(
        Avx2F32,
        f32,
        __m256,
        8,
        -0.0f32,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_andnot_ps,
        _mm256_max_ps,
        _mm256_cmp_ps,
        _mm256_movemask_ps,
        __m128,
        _mm256_castps256_ps128,
        _mm256_extractf128_ps,
        _mm_add_ps,
        _mm_max_ps
    );
    avx2!(
        Avx2F64,
        f64,
        __m256d,
        4,
        -0.0f64,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd,
        _mm256_andnot_pd,
        _mm256_max_pd,
        _mm256_cmp_pd,
        _mm256_movemask_pd,
        __m128d,
        _mm256_castpd256_pd128,
        _mm256_extractf128_pd,
        _mm_add_pd,
        _mm_max_pd
    );
}
