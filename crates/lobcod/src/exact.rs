//! Sums that do not depend on the order and grouping of what is added.
//!
//! A sum is a long fixed-point number that holds every `f64` exactly (Kulisch's accumulator). Two sums are joined by adding their
//! integers, so any number of threads or ranks, each with a part, arrive at the same bits.

/// Bits of the fraction an integer stands for.
const STEP: i32 = 32;
/// The first integer counts multiples of this power of two, below the smallest `f64`.
const LOWEST: i32 = -1088;
/// Integers of a number: up to 2^1024, and room above.
const DIGITS: usize = 67;
/// Sums may be joined this often before integers are brought back into their range.
const MOST: u32 = 1 << 30;

/// An exact sum of `f64` numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactSum {
    /// The sum is that of `digits[i] 2^(32 i - 1088)`.
    digits: [i64; DIGITS],
    /// Infinities of either sign, and what is no number.
    odd: [i64; 3],
    added: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { digits: [0; DIGITS], odd: [0; 3], added: 0 }
    }
}

impl ExactSum {
    /// Integers a sum consists of: those of two sums, added one by one, are those of both together.
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
        let (fraction, place) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
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

    /// Brings every integer but the last into its range.
    fn carry(&mut self) {
        let mut over = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + over;
            (*digit, over) = (sum & 0xffff_ffff, sum >> STEP);
        }
        self.digits[DIGITS - 1] += over;
        self.added = 1;
    }

    /// The integers, each small enough that those of 2^30 sums may be added.
    pub fn parts(mut self) -> [i64; Self::PARTS] {
        self.carry();
        let mut parts = [0; Self::PARTS];
        parts[..DIGITS].copy_from_slice(&self.digits);
        parts[DIGITS..].copy_from_slice(&self.odd);
        parts
    }

    /// The sum whose integers these are.
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
        // Whatever lies below decides only where it would be a tie without it.
        wide |= u128::from(self.digits[..first].iter().any(|&digit| digit != 0));
        let power = STEP * first as i32 + LOWEST;
        // In two steps: the power itself may be below the smallest number.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(groups: &[&[f64]]) -> f64 {
        let mut parts = [0; ExactSum::PARTS];
        for group in groups {
            let own = group.iter().copied().collect::<ExactSum>().parts();
            parts.iter_mut().zip(own).for_each(|(sum, part)| *sum += part);
        }
        ExactSum::from_parts(&parts).value()
    }

    proptest! {
        #[test]
        fn order_and_grouping_do_not_matter(
            mut numbers in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 1..40),
            cut in 0usize..40,
        ) {
            // The sum of the largest ones must be a number.
            numbers.iter_mut().for_each(|x| if x.abs() > 1e300 { *x *= 1e-10 });
            let sum = numbers.iter().copied().collect::<ExactSum>().value();
            let cut = cut.min(numbers.len());
            prop_assert_eq!(joined(&[&numbers[..cut], &numbers[cut..]]).to_bits(), sum.to_bits());
            numbers.reverse();
            prop_assert_eq!(joined(&[&numbers[..cut], &[], &numbers[cut..]]).to_bits(), sum.to_bits());
            // With its own negative the sum vanishes, whatever else was added between.
            numbers.extend(numbers.clone().iter().map(|x| -x));
            prop_assert_eq!(joined(&[&numbers]), 0.0);
        }

        #[test]
        fn the_value_is_the_nearest(numbers in prop::collection::vec((-(1i64 << 52)..1 << 52, 0u32..60), 1..30)) {
            // Whole numbers of up to 112 bits, which i128 adds exactly and `as` rounds to the nearest.
            let exact: i128 = numbers.iter().map(|&(x, shift)| i128::from(x) << shift).sum();
            let sum: ExactSum = numbers.iter().map(|&(x, shift)| x as f64 * 2f64.powi(shift as i32)).collect();
            prop_assert_eq!(sum.value(), exact as f64);
            let small: ExactSum = numbers.iter().map(|&(x, shift)| x as f64 * 2f64.powi(shift as i32 - 900)).collect();
            prop_assert_eq!(small.value(), exact as f64 * 2f64.powi(-900));
        }
    }

    #[test]
    fn what_is_no_number_is_not_lost() {
        let of = |numbers: &[f64]| joined(&[numbers, &[1.0]]);
        assert_eq!(of(&[f64::INFINITY, 2.0]), f64::INFINITY);
        assert_eq!(of(&[f64::NEG_INFINITY, 2.0]), f64::NEG_INFINITY);
        assert!(of(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan() && of(&[f64::NAN]).is_nan());
        assert_eq!(of(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(of(&[f64::MIN_POSITIVE, -1.0]), f64::MIN_POSITIVE);
    }
}
