//! 16-byte vectors of 64-bit ARM, available on all such processors.

use super::vector::{Vector, elementwise};
use std::arch::aarch64::*;

macro_rules! neon {
    ($name:ident, $t:ident, $raw:ident, $lanes:literal, $set1:ident, $load:ident, $store:ident, $add:ident, $mul:ident, $fma:ident,
     $abs:ident, $max:ident, $above:ident, $any:expr, $sum:ident, $largest:ident) => {
        /// 16-byte vector of NEON.
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
                // SAFETY: NEON is always available.
                Self(unsafe { $fma(c.0, self.0, b.0) })
            }
            #[inline(always)]
            fn any_above(self, b: Self) -> bool {
                // SAFETY: NEON is always available.
                unsafe { $any($above(self.0, b.0)) }
            }
            #[inline(always)]
            fn sum(self) -> $t {
                // SAFETY: NEON is always available.
                unsafe { $sum(self.0) }
            }
            #[inline(always)]
            fn largest(self) -> $t {
                // SAFETY: NEON is always available.
                unsafe { $largest(self.0) }
            }
        }
    };
}

#[rustfmt::skip]
neon!(
    NeonF32, f32, float32x4_t, 4, vdupq_n_f32, vld1q_f32, vst1q_f32, vaddq_f32, vmulq_f32, vfmaq_f32, vabsq_f32, vmaxq_f32,
    vcgtq_f32, |lanes| vmaxvq_u32(lanes) != 0, vaddvq_f32, vmaxvq_f32
);
#[rustfmt::skip]
neon!(
    NeonF64, f64, float64x2_t, 2, vdupq_n_f64, vld1q_f64, vst1q_f64, vaddq_f64, vmulq_f64, vfmaq_f64, vabsq_f64, vmaxq_f64,
    vcgtq_f64, |lanes| vmaxvq_u32(vreinterpretq_u32_u64(lanes)) != 0, vaddvq_f64, vmaxvq_f64
);
