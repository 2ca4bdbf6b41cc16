//! The vector trait and its portable implementation.

/// A vector of `LANES` numbers, created only inside [`super::Dispatch::dispatch`], which checks the
/// machine.
pub trait Vector: Copy {
    /// Number type.
    type Elem: Copy;
    /// The widest vector that accompanies this one, for the correlation; rows of patches are too
    /// short for it.
    type Wide: Vector<Elem = Self::Elem>;
    /// Numbers in the vector.
    const LANES: usize;
    /// Number of vector registers of the machine.
    const REGISTERS: usize;
    /// Whether the dot product of rows of two vectors has several partial sums, to hide the latency
    /// of its multiply-adds. Every level keeps the order in which it adds.
    const SEPARATE_SUMS: bool = false;
    /// All lanes equal to `x`.
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
    /// Lanewise maximum.
    fn max(self, b: Self) -> Self;
    /// Whether any lane of `self` is above that of `b`.
    fn any_above(self, b: Self) -> bool;
    /// Sum of the lanes, always in the same order.
    fn sum(self) -> Self::Elem;
    /// Largest lane.
    fn largest(self) -> Self::Elem;
    /// Index of the first lane that holds the largest value.
    #[inline(always)]
    fn lane_of_largest(self) -> usize
    where
        Self::Elem: PartialOrd,
    {
        let largest = self.largest();
        // No machine has longer vectors.
        let mut lanes = [largest; 16];
        // SAFETY: there is room for LANES numbers.
        unsafe { self.store(lanes.as_mut_ptr()) };
        lanes.iter().position(|&x| x >= largest).unwrap_or(0)
    }
}

/// `N` numbers in plain Rust, vectorised by the compiler.
#[derive(Clone, Copy)]
pub struct Portable<T, const N: usize>([T; N]);

/// Sum of a power-of-two number of lanes: repeatedly adds the second half to the first.
#[inline(always)]
pub(super) fn sum_by_halves<T: Copy + std::ops::AddAssign, const N: usize>(
    mut numbers: [T; N],
) -> T {
    let mut width = N / 2;
    while width > 0 {
        for i in 0..width {
            let other = numbers[i + width];
            numbers[i] += other;
        }
        width /= 2;
    }
    numbers[0]
}

#[inline(always)]
pub(super) fn largest<T: Copy + PartialOrd, const N: usize>(numbers: [T; N]) -> T {
    numbers.iter().fold(numbers[0], |a, &b| if b > a { b } else { a })
}

macro_rules! portable {
    ($t:ident, $n:literal) => {
        impl Vector for Portable<$t, $n> {
            type Elem = $t;
            type Wide = Self;
            const LANES: usize = $n;
            const REGISTERS: usize = 16;
            #[inline(always)]
            fn splat(x: $t) -> Self {
                Self([x; $n])
            }
            #[inline(always)]
            unsafe fn load(at: *const $t) -> Self {
                // SAFETY: the caller guarantees LANES readable numbers.
                Self(unsafe { at.cast::<[$t; $n]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, at: *mut $t) {
                // SAFETY: the caller guarantees LANES writable numbers.
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
                sum_by_halves(self.0)
            }
            #[inline(always)]
            fn largest(self) -> $t {
                largest(self.0)
            }
        }
    };
}
portable!(f32, 4);
portable!(f64, 2);

/// Single-instruction methods of a vector type that wraps a register, for any processor.
#[allow(unused_macros, reason = "unused on processors without vector types")]
macro_rules! elementwise {
    ($t:ident, $set1:ident, $load:ident, $store:ident, $($name:ident($($b:ident)?) $instruction:ident),*) => {
        #[inline(always)]
        fn splat(x: $t) -> Self {
            // SAFETY: the type is used only if its instructions are available; same below.
            Self(unsafe { $set1(x) })
        }
        #[inline(always)]
        unsafe fn load(at: *const $t) -> Self {
            // SAFETY: the caller guarantees LANES readable numbers.
            Self(unsafe { $load(at) })
        }
        #[inline(always)]
        unsafe fn store(self, at: *mut $t) {
            // SAFETY: the caller guarantees LANES writable numbers.
            unsafe { $store(at, self.0) }
        }
        $(#[inline(always)]
        fn $name(self $(, $b: Self)?) -> Self {
            // SAFETY: the processor has the instruction.
            Self(unsafe { $instruction(self.0 $(, $b.0)?) })
        })*
    };
}
#[allow(unused_imports, reason = "unused on processors without vector types")]
pub(super) use elementwise;
