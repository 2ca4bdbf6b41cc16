//! Averaging of several answers, weighted by what held-out samples say of them.

/// Weight of the mean error of all answers that is added to each one's own, so that few held-out samples do not decide alone.
const CAUTION: f64 = 0.05;
/// Steps of the weights, and how far each goes.
const STEPS: usize = 2000;
const RATE: f64 = 0.5;

/// Weights of at least 0 that sum to 1 and make the mean square of the weighted errors small; all alike without errors.
///
/// The mean square is a quadratic form of the weights. Each step multiplies a weight by `exp(-rate * slope)` and scales all back to
/// the sum 1, which never leaves the simplex and favours none at the start.
pub(super) fn weights(errors: &[&[f64]]) -> Vec<f64> {
    let count = errors.len();
    let mut weights = vec![1.0 / count as f64; count];
    let samples = errors[0].len();
    if samples == 0 || count == 1 {
        return weights;
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / samples as f64;
    let mut form: Vec<Vec<f64>> = errors.iter().map(|a| errors.iter().map(|b| product(a, b)).collect()).collect();
    let mean = (0..count).map(|i| form[i][i]).sum::<f64>() / count as f64;
    if mean == 0.0 {
        return weights;
    }
    (0..count).for_each(|i| form[i][i] += CAUTION * mean);
    for _ in 0..STEPS {
        let slope: Vec<f64> = form.iter().map(|row| row.iter().zip(&weights).map(|(f, w)| f * w).sum::<f64>() / mean).collect();
        let centre: f64 = slope.iter().zip(&weights).map(|(s, w)| s * w).sum();
        weights.iter_mut().zip(&slope).for_each(|(w, s)| *w *= (-RATE * (s - centre)).exp());
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_square(errors: &[&[f64]], weights: &[f64]) -> f64 {
        (0..errors[0].len()).map(|i| errors.iter().zip(weights).map(|(e, w)| e[i] * w).sum::<f64>().powi(2)).sum()
    }

    #[test]
    fn answers_that_err_apart_are_averaged_and_a_bad_one_is_left_out() {
        let (a, b) = ([1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]);
        let bad = [9.0, -9.0, 9.0, 9.0];
        let w = weights(&[&a, &b, &bad]);
        assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((w[0] - 0.5).abs() < 0.06 && (w[1] - 0.5).abs() < 0.06 && w[2] < 0.02, "{w:?}");
        assert!(mean_square(&[&a, &b, &bad], &w) < 0.6 * mean_square(&[&a, &b, &bad], &[1.0, 0.0, 0.0]));
    }

    #[test]
    fn without_errors_all_count_alike() {
        assert_eq!(weights(&[&[], &[]]), [0.5, 0.5]);
        assert_eq!(weights(&[&[0.0], &[0.0]]), [0.5, 0.5]);
        assert_eq!(weights(&[&[3.0]]), [1.0]);
    }
}
