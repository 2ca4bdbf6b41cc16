//! Vectors of 64 bytes: AVX-512.

use super::vector::{Vector, elementwise};
use std::arch::x86_64::*;

macro_rules! avx512 {
    ($name:ident, $t:ident, $raw:ident, $lanes:literal, $set1:ident, $load:ident, $store:ident, $add:ident, $mul:ident, $fma:ident,
     $abs:ident, $max:ident, $above:ident, $sum:ident, $largest:ident) => {
        /// 64-byte vector of AVX-512.
        #[derive(Clone, Copy)]
        pub struct $name($raw);

        impl Vector for $name {
            type Elem = $t;
            type Wide = Self;
            const LANES: usize = $lanes;
            const REGISTERS: usize = 32;
            elementwise!($t, $set1, $load, $store, add(b) $add, mul(b) $mul, max(b) $max, abs() $abs);
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                // SAFETY: AVX-512 was detected.
                Self(unsafe { $fma(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn any_above(self, b: Self) -> bool {
                // SAFETY: AVX-512 was detected.
                unsafe { $above::<_CMP_GT_OQ>(self.0, b.0) != 0 }
            }
            #[inline(always)]
            fn sum(self) -> $t {
                // SAFETY: AVX-512 was detected.
                unsafe { $sum(self.0) }
            }
            #[inline(always)]
            fn largest(self) -> $t {
                // SAFETY: AVX-512 was detected.
                unsafe { $largest(self.0) }
            }
        }
    };
}

#[rustfmt::skip]
avx512!(
    Avx512F32, f32, __m512, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_mul_ps, _mm512_fmadd_ps,
    _mm512_abs_ps, _mm512_max_ps, _mm512_cmp_ps_mask, _mm512_reduce_add_ps, _mm512_reduce_max_ps
);
#[rustfmt::skip]
avx512!(
    Avx512F64, f64, __m512d, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_mul_pd, _mm512_fmadd_pd,
    _mm512_abs_pd, _mm512_max_pd, _mm512_cmp_pd_mask, _mm512_reduce_add_pd, _mm512_reduce_max_pd
);
