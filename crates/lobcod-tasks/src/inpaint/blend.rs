//! Averaging of several answers, weighted by their errors at held-out samples.

/// Fraction of the mean error added to each, to regularise with few held-out samples.
const CAUTION: f64 = 0.05;
/// An answer whose error exceeds the best by more than this fraction is excluded.
const TOO_FAR: f64 = 0.08;
/// The errors of the thin plate differ from those of atoms, so its limit is larger.
const TOO_FAR_FOR_THE_PLATE: f64 = 0.5;
/// Number of steps of the weights, and the step size.
const STEPS: usize = 2000;
const RATE: f64 = 0.5;

/// Errors of an answer at held-out samples.
pub struct Judged<'a> {
    pub errors: &'a [f64],
    /// Whether it is the thin plate.
    pub plate: bool,
}

/// Non-negative weights of sum 1 that minimise the mean square of the weighted errors; equal
/// without errors.
///
/// Each step multiplies a weight by `exp(-rate * slope)` and normalises, which stays on the
/// simplex.
pub fn weights(answers: &[Judged]) -> Vec<f64> {
    let errors: Vec<&[f64]> = answers.iter().map(|a| a.errors).collect();
    let samples = errors[0].len();
    if samples == 0 {
        return vec![1.0 / errors.len() as f64; errors.len()];
    }
    let product =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / samples as f64;
    let own: Vec<f64> = errors.iter().map(|e| product(e, e)).collect();
    let least = own.iter().copied().fold(f64::INFINITY, f64::min);
    let too_far = |i: usize| if answers[i].plate { TOO_FAR_FOR_THE_PLATE } else { TOO_FAR };
    let good: Vec<usize> =
        (0..errors.len()).filter(|&i| own[i] <= least * (1.0 + too_far(i)).powi(2)).collect();
    let mean = good.iter().map(|&i| own[i]).sum::<f64>() / good.len() as f64;
    let caution = |i, j| if i == j { CAUTION * mean } else { 0.0 };
    let row =
        |&i: &usize| good.iter().map(|&j| product(errors[i], errors[j]) + caution(i, j)).collect();
    let form: Vec<Vec<f64>> = good.iter().map(row).collect();
    let mut mixture = vec![1.0 / good.len() as f64; good.len()];
    for _ in 0..if mean > 0.0 { STEPS } else { 0 } {
        let slope: Vec<f64> = form
            .iter()
            .map(|row| row.iter().zip(&mixture).map(|(f, w)| f * w).sum::<f64>() / mean)
            .collect();
        let centre: f64 = slope.iter().zip(&mixture).map(|(s, w)| s * w).sum();
        mixture.iter_mut().zip(&slope).for_each(|(w, s)| *w *= (-RATE * (s - centre)).exp());
        let sum: f64 = mixture.iter().sum();
        mixture.iter_mut().for_each(|w| *w /= sum);
    }
    let mut weights = vec![0.0; errors.len()];
    good.iter().zip(mixture).for_each(|(&i, weight)| weights[i] = weight);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(errors: &[&[f64]]) -> Vec<f64> {
        weights(&errors.iter().map(|errors| Judged { errors, plate: false }).collect::<Vec<_>>())
    }

    fn mean_square(errors: &[&[f64]], weights: &[f64]) -> f64 {
        (0..errors[0].len())
            .map(|i| errors.iter().zip(weights).map(|(e, w)| e[i] * w).sum::<f64>().powi(2))
            .sum()
    }

    #[test]
    fn answers_with_different_errors_are_averaged_and_a_bad_one_is_excluded() {
        let (a, b) = ([1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]);
        let bad = [9.0, -9.0, 9.0, 9.0];
        let w = weigh(&[&a, &b, &bad]);
        assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((w[0] - 0.5).abs() < 0.06 && (w[1] - 0.5).abs() < 0.06 && w[2] == 0.0, "{w:?}");
        assert!(
            mean_square(&[&a, &b, &bad], &w) < 0.6 * mean_square(&[&a, &b, &bad], &[1.0, 0.0, 0.0])
        );
    }

    #[test]
    fn the_better_of_two_similar_answers_weighs_more() {
        let (a, b) = ([1.0, -1.0, 1.0, -1.0], [1.05, -1.05, 1.05, -1.05]);
        let w = weigh(&[&b, &a]);
        assert!(w[1] > w[0] && w[0] > 0.0, "{w:?}");
    }

    #[test]
    fn the_plate_may_have_a_larger_error() {
        let (a, plate) = ([1.0, -1.0, 1.0, -1.0], [1.3, 1.3, -1.3, -1.3]);
        let judged = |plate_is_one| {
            weights(&[
                Judged { errors: &a, plate: false },
                Judged { errors: &plate, plate: plate_is_one },
            ])
        };
        assert!(judged(true)[1] > 0.2);
        assert_eq!(judged(false)[1], 0.0);
    }

    #[test]
    fn without_errors_all_weights_are_equal() {
        assert_eq!(weigh(&[&[], &[]]), [0.5, 0.5]);
        assert_eq!(weigh(&[&[0.0], &[0.0]]), [0.5, 0.5]);
        assert_eq!(weigh(&[&[3.0]]), [1.0]);
    }
}
