//! Averaging of several answers, weighted by what held-out samples say of them.

/// Weight of the mean error of all answers that is added to each one's own, so that few held-out samples do not decide alone.
const CAUTION: f64 = 0.05;
/// An answer whose own error exceeds the best one's by more than this share is left out: what it could add is less than the noise of
/// judging it.
const TOO_FAR: f64 = 0.08;
/// The thin plate errs in other places than atoms do, so it may be further behind.
const TOO_FAR_FOR_THE_PLATE: f64 = 0.5;
/// Steps of the weights, and how far each goes.
const STEPS: usize = 2000;
const RATE: f64 = 0.5;

/// What held-out samples say of an answer.
pub(super) struct Judged<'a> {
    pub(super) errors: &'a [f64],
    /// Is it the thin plate?
    pub(super) plate: bool,
}

/// Weights of at least 0 that sum to 1 and make the mean square of the weighted errors small; all alike without errors.
///
/// The mean square is a quadratic form of the weights. Each step multiplies a weight by `exp(-rate * slope)` and scales all back to
/// the sum 1, which never leaves the simplex and favours none at the start.
pub(super) fn weights(answers: &[Judged]) -> Vec<f64> {
    let errors: Vec<&[f64]> = answers.iter().map(|a| a.errors).collect();
    let samples = errors[0].len();
    if samples == 0 {
        return vec![1.0 / errors.len() as f64; errors.len()];
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / samples as f64;
    let own: Vec<f64> = errors.iter().map(|e| product(e, e)).collect();
    let least = own.iter().copied().fold(f64::INFINITY, f64::min);
    let too_far = |i: usize| if answers[i].plate { TOO_FAR_FOR_THE_PLATE } else { TOO_FAR };
    let good: Vec<usize> = (0..errors.len()).filter(|&i| own[i] <= least * (1.0 + too_far(i)).powi(2)).collect();
    let mean = good.iter().map(|&i| own[i]).sum::<f64>() / good.len() as f64;
    let caution = |i, j| if i == j { CAUTION * mean } else { 0.0 };
    let row = |&i: &usize| good.iter().map(|&j| product(errors[i], errors[j]) + caution(i, j)).collect();
    let form: Vec<Vec<f64>> = good.iter().map(row).collect();
    let mut shares = vec![1.0 / good.len() as f64; good.len()];
    for _ in 0..if mean > 0.0 { STEPS } else { 0 } {
        let slope: Vec<f64> = form.iter().map(|row| row.iter().zip(&shares).map(|(f, w)| f * w).sum::<f64>() / mean).collect();
        let centre: f64 = slope.iter().zip(&shares).map(|(s, w)| s * w).sum();
        shares.iter_mut().zip(&slope).for_each(|(w, s)| *w *= (-RATE * (s - centre)).exp());
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|w| *w /= sum);
    }
    let mut weights = vec![0.0; errors.len()];
    good.iter().zip(shares).for_each(|(&i, share)| weights[i] = share);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(errors: &[&[f64]]) -> Vec<f64> {
        weights(&errors.iter().map(|errors| Judged { errors, plate: false }).collect::<Vec<_>>())
    }

    fn mean_square(errors: &[&[f64]], weights: &[f64]) -> f64 {
        (0..errors[0].len()).map(|i| errors.iter().zip(weights).map(|(e, w)| e[i] * w).sum::<f64>().powi(2)).sum()
    }

    #[test]
    fn answers_that_err_apart_are_averaged_and_a_bad_one_is_left_out() {
        let (a, b) = ([1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]);
        let bad = [9.0, -9.0, 9.0, 9.0];
        let w = weigh(&[&a, &b, &bad]);
        assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((w[0] - 0.5).abs() < 0.06 && (w[1] - 0.5).abs() < 0.06 && w[2] == 0.0, "{w:?}");
        assert!(mean_square(&[&a, &b, &bad], &w) < 0.6 * mean_square(&[&a, &b, &bad], &[1.0, 0.0, 0.0]));
    }

    #[test]
    fn the_better_of_two_that_err_alike_weighs_more() {
        let (a, b) = ([1.0, -1.0, 1.0, -1.0], [1.05, -1.05, 1.05, -1.05]);
        let w = weigh(&[&b, &a]);
        assert!(w[1] > w[0] && w[0] > 0.0, "{w:?}");
    }

    #[test]
    fn the_plate_may_be_further_behind() {
        let (a, plate) = ([1.0, -1.0, 1.0, -1.0], [1.3, 1.3, -1.3, -1.3]);
        let judged =
            |plate_is_one| weights(&[Judged { errors: &a, plate: false }, Judged { errors: &plate, plate: plate_is_one }]);
        assert!(judged(true)[1] > 0.2);
        assert_eq!(judged(false)[1], 0.0);
    }

    #[test]
    fn without_errors_all_count_alike() {
        assert_eq!(weigh(&[&[], &[]]), [0.5, 0.5]);
        assert_eq!(weigh(&[&[0.0], &[0.0]]), [0.5, 0.5]);
        assert_eq!(weigh(&[&[3.0]]), [1.0]);
    }
}
