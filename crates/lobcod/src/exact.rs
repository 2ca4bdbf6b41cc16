//! Sums that do not depend on order and grouping.
//!
//! A sum is a long fixed-point number that represents every `f64` exactly (Kulisch accumulator).
//! Sums are combined by adding their integers, so threads and ranks arrive at the same bits.

/// Bits represented by each integer.
const STEP: i32 = 32;
/// The first integer counts multiples of this power of two, below the smallest `f64`.
const LOWEST: i32 = -1088;
/// Number of integers: up to 2^1024, and headroom.
const DIGITS: usize = 67;
/// Additions before carries are propagated.
const MOST: u32 = 1 << 30;

/// An exact sum of `f64` numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactSum {
    /// The value is the sum of `digits[i] 2^(32 i - 1088)`.
    digits: [i64; DIGITS],
    /// Counts of positive infinities, negative infinities and NaN.
    odd: [i64; 3],
    added: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { digits: [0; DIGITS], odd: [0; 3], added: 0 }
    }
}

impl ExactSum {
    /// Number of integers of a sum; sums are added elementwise.
    pub const PARTS: usize = DIGITS + 3;

    /// Adds a number.
    pub fn add(&mut self, x: f64) {
        if x == 0.0 {
            return;
        }
        if !x.is_finite() {
            self.odd[if x == f64::INFINITY { 0 } else { 1 + usize::from(x.is_nan()) }] += 1;
            return;
        }
        let bits = x.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        // Subnormal numbers have the exponent of the smallest normal ones and no hidden bit.
        let (fraction, place) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let place = (place - LOWEST) as usize;
        let wide = u128::from(fraction) << (place % STEP as usize);
        let at = place / STEP as usize;
        for (i, digit) in self.digits[at..at + 3].iter_mut().enumerate() {
            let part = (wide >> (STEP as usize * i)) as u32 as i64;
            *digit += if x < 0.0 { -part } else { part };
        }
        self.added += 1;
        if self.added == MOST {
            self.carry();
        }
    }

    /// Normalises every integer but the last.
    fn carry(&mut self) {
        let mut over = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + over;
            (*digit, over) = (sum & 0xffff_ffff, sum >> STEP);
        }
        self.digits[DIGITS - 1] += over;
        self.added = 1;
    }

    /// The integers, small enough that those of 2^30 sums can be added.
    pub fn parts(mut self) -> [i64; Self::PARTS] {
        self.carry();
        let mut parts = [0; Self::PARTS];
        parts[..DIGITS].copy_from_slice(&self.digits);
        parts[DIGITS..].copy_from_slice(&self.odd);
        parts
    }

    /// Rebuilds a sum from its integers.
    pub fn from_parts(parts: &[i64]) -> Self {
        let mut sum = Self::default();
        sum.digits.copy_from_slice(&parts[..DIGITS]);
        sum.odd.copy_from_slice(&parts[DIGITS..Self::PARTS]);
        sum.carry();
        sum
    }

    /// The sum as the nearest `f64`.
    pub fn value(mut self) -> f64 {
        match self.odd {
            [0, 0, 0] => {}
            [_, 0, 0] => return f64::INFINITY,
            [0, _, 0] => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        self.carry();
        let negative = self.digits[DIGITS - 1] < 0;
        if negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            self.carry();
        }
        let Some(top) = self.digits.iter().rposition(|&digit| digit != 0) else { return 0.0 };
        let first = top.saturating_sub(2);
        let mut wide: u128 = 0;
        for &digit in self.digits[first..=top].iter().rev() {
            wide = wide << STEP | digit as u128;
        }
        // Lower bits only matter to break ties.
        wide |= u128::from(self.digits[..first].iter().any(|&digit| digit != 0));
        let power = STEP * first as i32 + LOWEST;
        // In two steps: the power alone may underflow.
        let size = wide as f64 * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
        if negative { -size } else { size }
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        let mut sum = Self::default();
        numbers.into_iter().for_each(|x| sum.add(x));
        sum
    }
}
