//! Vectors of 16 bytes: SIMD128 of WebAssembly.

use super::vector::{Vector, largest, sum_by_halves};
use std::arch::wasm32::*;

macro_rules! simd128 {
    ($name:ident, $t:ident, $lanes:literal, $splat:ident, $add:ident, $mul:ident, $abs:ident, $max:ident, $above:ident) => {
        /// 16-byte vector of SIMD128.
        #[derive(Clone, Copy)]
        pub struct $name(v128);

        impl $name {
            #[inline(always)]
            fn lanes(self) -> [$t; $lanes] {
                // SAFETY: both have 16 bytes, and every pattern is a number.
                unsafe { std::mem::transmute::<v128, [$t; $lanes]>(self.0) }
            }
        }

        impl Vector for $name {
            type Elem = $t;
            type Wide = Self;
            const LANES: usize = $lanes;
            // x86-64 has 16, of which engines keep some, and each multiply-add takes one more: with
            // 15, V8 spills, and the correlation takes 1.2 times as long.
            const REGISTERS: usize = 11;
            const SEPARATE_SUMS: bool = true;
            #[inline(always)]
            fn splat(x: $t) -> Self {
                Self($splat(x))
            }
            #[inline(always)]
            unsafe fn load(at: *const $t) -> Self {
                // SAFETY: the caller guarantees LANES readable numbers; any alignment will do.
                Self(unsafe { v128_load(at.cast()) })
            }
            #[inline(always)]
            unsafe fn store(self, at: *mut $t) {
                // SAFETY: the caller guarantees LANES writable numbers; any alignment will do.
                unsafe { v128_store(at.cast(), self.0) }
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                Self($add(self.0, b.0))
            }
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                Self($mul(self.0, b.0))
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                self.mul(b).add(c)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self($abs(self.0))
            }
            #[inline(always)]
            fn max(self, b: Self) -> Self {
                Self($max(b.0, self.0))
            }
            #[inline(always)]
            fn any_above(self, b: Self) -> bool {
                v128_any_true($above(self.0, b.0))
            }
            #[inline(always)]
            fn sum(self) -> $t {
                sum_by_halves(self.lanes())
            }
            #[inline(always)]
            fn largest(self) -> $t {
                largest(self.lanes())
            }
        }
    };
}
simd128!(Simd128F32, f32, 4, f32x4_splat, f32x4_add, f32x4_mul, f32x4_abs, f32x4_pmax, f32x4_gt);
simd128!(Simd128F64, f64, 2, f64x2_splat, f64x2_add, f64x2_mul, f64x2_abs, f64x2_pmax, f64x2_gt);
