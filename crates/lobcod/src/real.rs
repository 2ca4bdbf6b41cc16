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
    /// Appends the bytes of numbers.
    fn append_bytes(numbers: &[Self], into: &mut Vec<u8>);
    /// Takes the bytes of numbers from the front.
    fn take_bytes(from: &mut &[u8], numbers: &mut [Self]);
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
            fn append_bytes(numbers: &[Self], into: &mut Vec<u8>) {
                let first = into.len();
                into.resize(first + size_of_val(numbers), 0);
                let places = into[first..].chunks_exact_mut(size_of::<Self>());
                places.zip(numbers).for_each(|(place, number)| place.copy_from_slice(&number.to_le_bytes()));
            }
            fn take_bytes(from: &mut &[u8], numbers: &mut [Self]) {
                let (own, rest) = from.split_at(size_of_val(numbers));
                let (places, _) = own.as_chunks::<{ size_of::<Self>() }>();
                numbers.iter_mut().zip(places).for_each(|(number, place)| *number = Self::from_le_bytes(*place));
                *from = rest;
            }
        }
    };
}
real!(f32);
real!(f64);
