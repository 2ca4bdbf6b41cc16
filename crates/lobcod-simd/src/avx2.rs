//! Vectors of 32 bytes: AVX2 with fused multiply-add.

use super::avx512::{Avx512F32, Avx512F64};
use super::vector::{Vector, elementwise, largest, sum_by_halves};
use std::arch::x86_64::*;

macro_rules! avx2 {
    ($name:ident, $wide:ty, $registers:literal, $t:ident, $raw:ident, $lanes:literal, $sign:expr, $set1:ident, $load:ident, $store:ident, $add:ident, $mul:ident,
     $fma:ident, $andnot:ident, $max:ident, $cmp:ident, $movemask:ident, $half:ident, $low:ident, $high:ident, $half_add:ident,
     $half_max:ident) => {
        /// 32-byte vector of AVX2, alone or next to the 64-byte vectors of AVX-512.
        #[derive(Clone, Copy)]
        pub struct $name($raw);

        impl Vector for $name {
            type Elem = $t;
            type Wide = $wide;
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;
            elementwise!($t, $set1, $load, $store, add(b) $add, mul(b) $mul, max(b) $max);
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
                sum_by_halves(half)
            }
            #[inline(always)]
            fn largest(self) -> $t {
                // SAFETY: AVX2 was detected; a half holds LANES / 2 numbers.
                let half: [$t; $lanes / 2] = unsafe {
                    let folded = $half_max($low(self.0), $high::<1>(self.0));
                    std::mem::transmute::<$half, _>(folded)
                };
                largest(half)
            }
        }
    };
}

/// Passes the instructions of one number type to the macro above.
macro_rules! with_instructions {
    (f32, $name:ident, $wide:ty, $registers:literal) => {
        avx2!(
            $name,
            $wide,
            $registers,
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
    };
    (f64, $name:ident, $wide:ty, $registers:literal) => {
        avx2!(
            $name,
            $wide,
            $registers,
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
    };
}
with_instructions!(f32, Avx2F32, Self, 16);
with_instructions!(f64, Avx2F64, Self, 16);
with_instructions!(f32, Avx512VlF32, Avx512F32, 32);
with_instructions!(f64, Avx512VlF64, Avx512F64, 32);
