//! The two floating-point types signals are made of.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// `f32` or `f64`: the precision of signals, codes and residuals. Sums over a signal are always `f64`.
pub trait Real:
    crate::simd::Dispatch
    + crate::engine::OpenOnCpu
    + Copy
    + Send
    + Sync
    + Default
    + PartialEq
    + PartialOrd
    + Debug
    + Display
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// +infinity.
    const INFINITY: Self;
    /// Distance from 1 to the next larger number.
    const EPSILON: Self;
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// Nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// The same number as `f64`.
    fn to_f64(self) -> f64;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Its size with the sign of another.
    fn copysign(self, sign: Self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($t:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = $t::INFINITY;
            const EPSILON: Self = $t::EPSILON;
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}
real!(f32);
real!(f64);
