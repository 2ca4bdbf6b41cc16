//! The floating-point types of signals.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// `f32` or `f64`: the precision of signals, codes and residuals. Sums over a signal are always
/// `f64`.
pub trait Real:
    crate::simd::Dispatch
    + crate::engine::OpenOnCpu
    + bytemuck::Pod
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
    /// Machine epsilon.
    const EPSILON: Self;
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// Converts from `f64`, rounding to nearest.
    fn from_f64(x: f64) -> Self;
    /// Converts to `f64`, which is exact.
    fn to_f64(self) -> f64;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// Whether it is neither NaN nor infinite.
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
            forward!($t: abs() -> Self, sqrt() -> Self, is_finite() -> bool, max(other) -> Self, copysign(sign) -> Self);
        }
    };
}
/// Forwards to methods of the type itself.
macro_rules! forward {
    ($t:ident: $($name:ident($($other:ident)?) -> $output:ty),*) => {
        $(#[inline(always)]
        fn $name(self $(, $other: Self)?) -> $output {
            $t::$name(self $(, $other)?)
        })*
    };
}
real!(f32);
real!(f64);
