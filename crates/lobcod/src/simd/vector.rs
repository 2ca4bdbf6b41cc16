//! The trait of vector types, and their portable form.

/// A vector of `LANES` numbers. Only made inside [`super::Dispatch::dispatch`], which has checked that the machine has it.
pub trait Vector: Copy {
    /// Number type.
    type Elem: Copy;
    /// The widest vector that goes with this one, once or twice as long: the correlation is made with it. Rows of patches are too
    /// short for it.
    type Wide: Vector<Elem = Self::Elem>;
    /// Numbers in the vector.
    const LANES: usize;
    /// Vectors the machine holds in registers.
    const REGISTERS: usize;
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
    /// Number of the first lane that holds the largest.
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

/// `N` numbers in plain Rust, left to the compiler to vectorise.
#[derive(Clone, Copy)]
pub struct Portable<T, const N: usize>([T; N]);

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

/// The methods of a vector type around a register that are one instruction each, whatever the processor.
#[allow(unused_macros, reason = "a processor without vectors of its own has no use for it")]
macro_rules! elementwise {
    ($t:ident, $set1:ident, $load:ident, $store:ident, $add:ident, $mul:ident, $max:ident) => {
        #[inline(always)]
        fn splat(x: $t) -> Self {
            // SAFETY: the type is used only where the processor has its instructions; so below.
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
            // SAFETY: the processor has the instruction.
            Self(unsafe { $add(self.0, b.0) })
        }
        #[inline(always)]
        fn mul(self, b: Self) -> Self {
            // SAFETY: the processor has the instruction.
            Self(unsafe { $mul(self.0, b.0) })
        }
        #[inline(always)]
        fn max(self, b: Self) -> Self {
            // SAFETY: the processor has the instruction.
            Self(unsafe { $max(self.0, b.0) })
        }
    };
}
#[allow(unused_imports, reason = "a processor without vectors of its own has no use for it")]
pub(super) use elementwise;
