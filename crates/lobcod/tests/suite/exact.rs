//! Exact sums: the value is the nearest `f64`, independent of order and grouping.

use lobcod::exact::ExactSum;
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
        mut numbers in prop::collection::vec(
            prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
            1..40
        ),
        cut in 0usize..40,
    ) {
        // The sum of the largest ones must be finite.
        numbers.iter_mut().for_each(|x| {
            if x.abs() > 1e300 {
                *x *= 1e-10
            }
        });
        let sum = numbers.iter().copied().collect::<ExactSum>().value();
        let cut = cut.min(numbers.len());
        prop_assert_eq!(joined(&[&numbers[..cut], &numbers[cut..]]).to_bits(), sum.to_bits());
        numbers.reverse();
        prop_assert_eq!(joined(&[&numbers[..cut], &[], &numbers[cut..]]).to_bits(), sum.to_bits());
        // Adding all negatives gives exactly zero.
        numbers.extend(numbers.clone().iter().map(|x| -x));
        prop_assert_eq!(joined(&[&numbers]), 0.0);
    }

    #[test]
    fn the_value_is_the_nearest(
        numbers in prop::collection::vec((-(1i64 << 52)..1 << 52, 0u32..60), 1..30),
    ) {
        // Integers of up to 112 bits, which i128 adds exactly and `as` rounds to nearest.
        let exact: i128 = numbers.iter().map(|&(x, shift)| i128::from(x) << shift).sum();
        let sum: ExactSum =
            numbers.iter().map(|&(x, shift)| x as f64 * 2f64.powi(shift as i32)).collect();
        prop_assert_eq!(sum.value(), exact as f64);
        let small: ExactSum =
            numbers.iter().map(|&(x, shift)| x as f64 * 2f64.powi(shift as i32 - 900)).collect();
        prop_assert_eq!(small.value(), exact as f64 * 2f64.powi(-900));
    }
}

#[test]
fn nan_and_infinity_are_preserved() {
    let of = |numbers: &[f64]| joined(&[numbers, &[1.0]]);
    assert_eq!(of(&[f64::INFINITY, 2.0]), f64::INFINITY);
    assert_eq!(of(&[f64::NEG_INFINITY, 2.0]), f64::NEG_INFINITY);
    assert!(of(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan() && of(&[f64::NAN]).is_nan());
    assert_eq!(of(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
    assert_eq!(of(&[f64::MIN_POSITIVE, -1.0]), f64::MIN_POSITIVE);
}
