//! Prediction of the missing samples of a group of similar patches.

use super::eigen::dot;
use super::group::{Group, multiply};

/// Least noise in known samples, relative to the sum of all variances: less is lost in
/// the rounding of `f32`.
const LEAST_NOISE: f32 = 3e-7;

/// Scratch memory for a patch of `n` samples.
pub(super) struct Prediction {
    /// Indices of the known samples of a patch.
    known: Vec<usize>,
    /// The lower triangle of a Cholesky factor, row by row, with the inverse of its diagonal.
    factor: Vec<f32>,
    solution: Vec<f32>,
    /// The solution at the known samples, 0 at the others.
    scattered: Vec<f32>,
}

impl Prediction {
    pub(super) fn new(n: usize) -> Self {
        Self {
            known: Vec::with_capacity(n),
            factor: vec![0.0; n * n],
            solution: vec![0.0; n],
            scattered: vec![0.0; n],
        }
    }
}

impl Group {
    /// Replaces the samples of the first `predicted` patches by what is expected of a normal
    /// distribution with the mean and the covariance `C` of the group, given the known samples `y`
    /// of the patch with noise of this variance `v`:
    ///
    /// ```text
    /// mean + C A^T (A C A^T + v I)^-1 (y - A mean)
    /// ```
    ///
    /// where `A` selects the known samples. The samples that are not known hold an estimate.
    #[inline(always)]
    pub(super) fn predict(
        &mut self,
        samples: &[f32],
        known: &[bool],
        corners: &[usize],
        offsets: &[usize],
        (predicted, variance): (usize, f32),
    ) {
        self.gather(samples, corners, offsets);
        let Self { n, stride, .. } = *self;
        for (row, (mean, centred)) in self
            .shrunk
            .chunks_exact_mut(stride)
            .zip(self.means.iter().zip(self.samples.chunks_exact(stride)))
        {
            row.iter_mut().zip(centred).for_each(|(x, sample)| *x = sample + mean);
        }
        let energy = multiply(&self.samples, stride, n, &mut self.products);
        if !energy.is_finite() {
            return;
        }
        let noise = (corners.len() as f32 * variance).max(LEAST_NOISE * energy);
        let Prediction { known: places, factor, solution, scattered } = &mut self.prediction;
        for (patch, corner) in corners.iter().enumerate().take(predicted) {
            places.clear();
            places.extend((0..n).filter(|&i| known[corner + offsets[i]]));
            if places.len() == n || noise == 0.0 {
                continue;
            }
            for (i, &place) in places.iter().enumerate() {
                let (above, row) = factor.split_at_mut(i * n);
                let (products, row) = (&self.products[place * n..][..n], &mut row[..=i]);
                for (j, (other, upper)) in places[..i].iter().zip(above.chunks(n)).enumerate() {
                    row[j] = (products[*other] - dot(&row[..j], &upper[..j])) * upper[j];
                }
                let rest = products[place] + noise - dot(&row[..i], &row[..i]);
                row[i] = 1.0 / rest.max(noise).sqrt();
                let sample = self.samples[place * stride + patch];
                solution[i] = (sample - dot(&row[..i], &solution[..i])) * row[i];
            }
            for i in (0..places.len()).rev() {
                let row = &factor[i * n..][..=i];
                let (before, own) = solution.split_at_mut(i);
                own[0] *= row[i];
                before.iter_mut().zip(row).for_each(|(x, factor)| *x -= own[0] * factor);
            }
            scattered.fill(0.0);
            places.iter().zip(&*solution).for_each(|(&place, x)| scattered[place] = *x);
            for (i, products) in self.products.chunks_exact(n).enumerate() {
                self.shrunk[i * stride + patch] = self.means[i] + dot(products, scattered);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves a linear system by elimination with pivots.
    fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
        let n = rows.len();
        for k in 0..n {
            let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()));
            rows.swap(k, pivot.unwrap());
            for i in (0..n).filter(|&i| i != k) {
                let factor = rows[i][k] / rows[k][k];
                (k..=n).for_each(|j| rows[i][j] -= factor * rows[k][j]);
            }
        }
        (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
    }

    const PATCH: [usize; 3] = [1, 3, 4];
    const N: usize = 12;
    const COUNT: usize = 17;

    /// An image of smooth patches one after the other, the known samples, corners and offsets.
    fn group(seed: u32) -> (Vec<f32>, Vec<bool>, Vec<usize>, Vec<usize>) {
        let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8e6 - 1.0;
        let sample = |i: usize| {
            let (patch, at) = ((i / N) as u32, (i % N) as f32);
            let wave = |k: u32| random(seed + 3 * patch + k) * (0.3 * (k + 1) as f32 * at).cos();
            80.0 + 20.0 * (wave(0) + wave(1) + wave(2)) + 0.1 * random(seed + i as u32)
        };
        let known = |i: usize| random(seed ^ (7919 * i as u32)) > 0.0;
        (
            (0..N * COUNT).map(sample).collect(),
            (0..N * COUNT).map(known).collect(),
            (0..COUNT).map(|k| N * k).collect(),
            (0..N).collect(),
        )
    }

    #[test]
    fn missing_samples_have_their_conditional_expectation() {
        for (seed, variance) in [(1, 1.0f32), (500, 30.0), (9000, 0.05)] {
            let (image, known, corners, offsets) = group(seed);
            let mut found = Group::new(PATCH, COUNT);
            found.predict(&image, &known, &corners, &offsets, (COUNT - 2, variance));
            let sample = |i: usize, k: usize| f64::from(image[corners[k] + i]);
            let mean = |i: usize| (0..COUNT).map(|k| sample(i, k)).sum::<f64>() / COUNT as f64;
            let covariance = |i: usize, j: usize| {
                let product = |k: usize| (sample(i, k) - mean(i)) * (sample(j, k) - mean(j));
                (0..COUNT).map(product).sum::<f64>() / COUNT as f64
            };
            let mut missing = 0;
            for k in 0..COUNT - 2 {
                let places: Vec<usize> = (0..N).filter(|i| known[corners[k] + i]).collect();
                let row = |&i: &usize| {
                    let noise = |j: usize| if i == j { f64::from(variance) } else { 0.0 };
                    let row = places.iter().map(|&j| covariance(i, j) + noise(j));
                    row.chain([sample(i, k) - mean(i)]).collect()
                };
                let solution = solve(places.iter().map(row).collect());
                for i in 0..N {
                    let terms = places.iter().zip(&solution).map(|(&j, x)| covariance(i, j) * x);
                    let expected = mean(i) + terms.sum::<f64>();
                    let own = f64::from(found.row(i)[k]);
                    assert!((own - expected).abs() < 0.02, "{seed}: {own} {expected}");
                    missing += usize::from(!known[corners[k] + i]);
                }
            }
            assert!(missing > 40, "{missing}");
            for i in 0..N {
                for k in COUNT - 2..COUNT {
                    assert!((f64::from(found.row(i)[k]) - sample(i, k)).abs() < 1e-4);
                }
            }
        }
    }

    #[test]
    fn flat_huge_and_noiseless_groups_stay_finite() {
        let (image, known, corners, offsets) = group(1);
        for (factor, offset) in [(0.0, 5.0), (0.0, 0.0), (1e30, 0.0), (1.0, 0.0), (1e-30, 0.0)] {
            let image: Vec<f32> = image.iter().map(|x| factor * x + offset).collect();
            let mut found = Group::new(PATCH, COUNT);
            found.predict(&image, &known, &corners, &offsets, (COUNT, 0.0));
            let most = image.iter().fold(0.0f32, |most, x| most.max(x.abs()));
            for i in 0..N {
                for (k, x) in found.row(i)[..COUNT].iter().enumerate() {
                    assert!(x.abs() <= 2.0 * most, "{factor}: {x}");
                    if factor == 0.0 {
                        assert_eq!(*x, image[corners[k] + i]);
                    }
                }
            }
        }
    }
}
