//! A group of similar patches, shrunk along its principal components.

use super::eigen::{Eigen, dot};
use super::predict::Prediction;

/// Gain of each principal component, by its summed square over the `K` patches of a group (energy)
/// and the level of the noise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shrinkage {
    /// For a group with noise: singular values `s` become `(s + sqrt(s^2 - 4 t sqrt(K))) / 2`, or 0
    /// where the root is not real (level 1): a threshold near the largest singular value of noise.
    /// This minimises a nuclear norm with weights `t sqrt(K) / s` (Gu et al., 2014, WNNM).
    Threshold(f32),
    /// For a clean guide: the Wiener filter `energy / (energy + K level^2)`.
    Wiener,
}

impl Shrinkage {
    #[inline(always)]
    fn gain(self, energy: f32, count: f32, variance: f32) -> f32 {
        match self {
            Self::Threshold(factor) => {
                let least = 4.0 * factor * count.sqrt() * variance;
                if energy > least { 0.5 + 0.5 * (1.0 - least / energy).sqrt() } else { 0.0 }
            }
            Self::Wiener if energy > 0.0 => energy / (energy + count * variance),
            Self::Wiener => 0.0,
        }
    }

    /// Gain of a cosine of the mean patch, by its code in the samples and in the guide.
    #[inline(always)]
    fn gain_of_mean(self, code: f32, guide: f32, variance: f32) -> f32 {
        match self {
            Self::Threshold(_) if code * code > MEAN_THRESHOLD.powi(2) * variance => 1.0,
            Self::Threshold(_) => 0.0,
            Self::Wiener if guide != 0.0 => guide * guide / (guide * guide + variance),
            Self::Wiener => 0.0,
        }
    }
}

/// Codes of the mean patch of a flat group are kept from this multiple of their noise.
const MEAN_THRESHOLD: f32 = 3.0;
/// A group is flat if all its gains are below this.
const FLAT: f32 = 0.1;

/// Gains below this are taken as 0.
const NEGLIGIBLE: f32 = 1e-3;
/// Energy of a group beyond which squares of energies overflow; noise is negligible there.
const HUGE: f32 = 1e18;

/// Scratch memory for groups of up to a number of patches.
pub(crate) struct Group {
    /// Samples of a patch.
    pub(super) n: usize,
    /// Row `i` holds sample `i` of all patches of the group, padded with zeros to this length.
    pub(super) stride: usize,
    guide: Vec<f32>,
    pub(super) samples: Vec<f32>,
    pub(super) means: Vec<f32>,
    guide_means: Vec<f32>,
    /// Row `i` is cosine `i` of a patch, of unit norm; the first is constant.
    cosines: Vec<f32>,
    /// The patches after shrinkage; rows as above.
    pub(crate) shrunk: Vec<f32>,
    pub(super) products: Vec<f32>,
    pub(super) prediction: Prediction,
    eigen: Eigen,
    component: Vec<f32>,
    codes: Vec<f32>,
}

impl Group {
    pub(crate) fn new(patch: [usize; 3], most: usize) -> Self {
        let n = patch.iter().product();
        let stride = most.next_multiple_of(8);
        Self {
            n,
            stride,
            guide: vec![0.0; n * stride],
            samples: vec![0.0; n * stride],
            means: vec![0.0; n],
            guide_means: vec![0.0; n],
            cosines: cosines(patch),
            shrunk: vec![0.0; n * stride],
            products: vec![0.0; n * n],
            prediction: Prediction::new(n),
            eigen: Eigen::new(n),
            component: vec![0.0; n],
            codes: vec![0.0; stride],
        }
    }

    /// Bytes of the scratch memory.
    pub(crate) fn memory(n: usize, most: usize) -> u64 {
        ((3 * n * (most + 8) + 5 * n * n) * size_of::<f32>()) as u64
    }

    /// Row `i` of the shrunk patches.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> &[f32] {
        &self.shrunk[i * self.stride..][..self.stride]
    }

    /// Shrinks the patches of `samples` with their first samples at `corners`, along the principal
    /// components of the same patches of `guide` (or of `samples`); `variance` is that of the
    /// noise. Returns the weight of the result: the inverse of the number of components it is
    /// made of.
    #[inline(always)]
    pub(crate) fn shrink(
        &mut self,
        samples: &[f32],
        guide: Option<&[f32]>,
        corners: &[usize],
        offsets: &[usize],
        (shrinkage, variance): (Shrinkage, f32),
    ) -> f32 {
        self.gather(samples, corners, offsets);
        let (n, stride) = (self.n, self.stride);
        let energy = match guide {
            None => multiply(&self.samples, stride, n, &mut self.products),
            Some(guide) => {
                gather(guide, corners, offsets, &mut self.guide, &mut self.guide_means, stride);
                multiply(&self.guide, stride, n, &mut self.products)
            }
        };
        if energy.is_nan() || energy > HUGE {
            let rows = self.shrunk.chunks_exact_mut(stride).zip(self.samples.chunks_exact(stride));
            for ((row, samples), mean) in rows.zip(&self.means) {
                row.iter_mut().zip(samples).for_each(|(x, sample)| *x = sample + mean);
            }
            return 1.0 / (1 + n) as f32;
        }
        self.eigen.decompose(&mut self.products);
        let count = corners.len() as f32;
        let gain = |energy: f32| shrinkage.gain(energy, count, variance);
        if self.eigen.values.iter().all(|&energy| gain(energy) < FLAT) {
            self.shrink_mean(shrinkage, variance / count);
        }
        for (row, mean) in self.shrunk.chunks_exact_mut(stride).zip(&self.means) {
            row.fill(*mean);
        }
        // The mean is a component too.
        let mut components = 1.0;
        for i in 0..n {
            let gain = gain(self.eigen.values[i]);
            if gain < NEGLIGIBLE {
                continue;
            }
            components += match shrinkage {
                Shrinkage::Wiener => gain * gain,
                _ => 1.0,
            };
            self.eigen.vector(i, &mut self.component);
            let codes = &mut self.codes[..stride];
            codes.fill(0.0);
            for (weight, row) in self.component.iter().zip(self.samples.chunks_exact(stride)) {
                codes.iter_mut().zip(row).for_each(|(code, x)| *code += weight * x);
            }
            for (weight, row) in self.component.iter().zip(self.shrunk.chunks_exact_mut(stride)) {
                let weight = gain * weight;
                row.iter_mut().zip(&*codes).for_each(|(x, code)| *x += weight * code);
            }
        }
        1.0 / components
    }

    /// Copies patches with their first samples at `corners`, less their mean.
    #[inline(always)]
    pub(super) fn gather(&mut self, image: &[f32], corners: &[usize], offsets: &[usize]) {
        self.stride = corners.len().next_multiple_of(8);
        gather(image, corners, offsets, &mut self.samples, &mut self.means, self.stride);
    }

    /// Shrinks the mean patch over cosines, for noise of this variance in it; its mean is kept.
    #[inline(always)]
    fn shrink_mean(&mut self, shrinkage: Shrinkage, variance: f32) {
        self.component.copy_from_slice(&self.means);
        for cosine in self.cosines.chunks_exact(self.n).skip(1) {
            let code = dot(cosine, &self.component);
            let gain = shrinkage.gain_of_mean(code, dot(cosine, &self.guide_means), variance);
            let removed = (1.0 - gain) * code;
            self.means.iter_mut().zip(cosine).for_each(|(mean, x)| *mean -= removed * x);
        }
    }
}

/// The cosines of a patch: products of those of its axes.
fn cosines(patch: [usize; 3]) -> Vec<f32> {
    let cosine = |len: usize, k: usize, x: usize| {
        let norm = if k == 0 { 1.0 } else { 2.0 } / len as f64;
        let angle = std::f64::consts::PI * (x as f64 + 0.5) * k as f64 / len as f64;
        norm.sqrt() * angle.cos()
    };
    let n: usize = patch.iter().product();
    let place = |i: usize| [i / patch[2] / patch[1], i / patch[2] % patch[1], i % patch[2]];
    let value = |i: usize| {
        let (k, at) = (place(i / n), place(i % n));
        (0..3).map(|axis| cosine(patch[axis], k[axis], at[axis])).product::<f64>() as f32
    };
    (0..n * n).map(value).collect()
}

/// Copies patches less their mean; `rows` and `means` as in [`Group`].
#[inline(always)]
fn gather(
    image: &[f32],
    corners: &[usize],
    offsets: &[usize],
    rows: &mut [f32],
    means: &mut [f32],
    stride: usize,
) {
    for ((row, mean), offset) in rows.chunks_exact_mut(stride).zip(means).zip(offsets) {
        let (own, padding) = row.split_at_mut(corners.len());
        own.iter_mut().zip(corners).for_each(|(x, corner)| *x = image[corner + offset]);
        *mean = own.iter().sum::<f32>() / corners.len() as f32;
        own.iter_mut().for_each(|x| *x -= *mean);
        padding.fill(0.0);
    }
}

/// Writes the products of all rows with each other; returns the sum of the squares.
#[inline(always)]
pub(super) fn multiply(rows: &[f32], stride: usize, n: usize, products: &mut [f32]) -> f32 {
    let row = |i: usize| &rows[i * stride..][..stride];
    for i in 0..n {
        for j in 0..=i {
            let product = dot(row(i), row(j));
            products[i * n + j] = product;
            products[j * n + i] = product;
        }
    }
    (0..n).map(|i| products[i * n + i]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 6;
    const COUNT: usize = 11;

    fn image() -> Vec<f32> {
        let mixed = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8e6;
        (0..60).map(|i| 5.0 * mixed(i) + (i % 7) as f32).collect()
    }

    fn corners() -> Vec<usize> {
        (0..COUNT).map(|k| 4 * k).collect()
    }

    /// Samples of the group, less the mean of each row, and the means.
    fn plain(image: &[f32]) -> (Vec<[f64; COUNT]>, [f64; N]) {
        let rows: Vec<[f64; COUNT]> =
            (0..N).map(|i| std::array::from_fn(|k| f64::from(image[corners()[k] + i]))).collect();
        let means = std::array::from_fn(|i| rows[i].iter().sum::<f64>() / COUNT as f64);
        let centred = rows.iter().zip(means).map(|(row, mean)| row.map(|x| x - mean)).collect();
        (centred, means)
    }

    fn shrunk(image: &[f32], guide: Option<&[f32]>, shrinkage: Shrinkage, variance: f32) -> Group {
        let mut group = Group::new([1, 2, 3], COUNT);
        let offsets: Vec<usize> = (0..N).collect();
        group.shrink(image, guide, &corners(), &offsets, (shrinkage, variance));
        group
    }

    #[test]
    fn the_wiener_filter_solves_its_linear_system() {
        // C (C + K v)^-1 Z for C = G G^T: the result R satisfies (C + K v) Y = Z with R = C Y.
        let (image, variance) = (image(), 3.0);
        let guide: Vec<f32> = image.iter().enumerate().map(|(i, x)| x + (i % 3) as f32).collect();
        let group = shrunk(&image, Some(&guide), Shrinkage::Wiener, variance);
        let ((samples, means), (clean, _)) = (plain(&image), plain(&guide));
        let noise = f64::from(variance) * COUNT as f64;
        let sample = |i: usize, k: usize| samples[i][k];
        let product = |i: usize, j: usize| -> f64 {
            clean[i].iter().zip(&clean[j]).map(|(a, b)| a * b).sum()
        };
        for k in 0..COUNT {
            // R = Z - K v Y, so Y = (Z - R) / (K v), and R must equal C Y.
            let of = |i: usize| f64::from(group.row(i)[k]) - means[i];
            for i in 0..N {
                let expected: f64 =
                    (0..N).map(|j| product(i, j) * (sample(j, k) - of(j)) / noise).sum();
                assert!((of(i) - expected).abs() < 2e-3, "{} instead of {expected}", of(i));
            }
        }
    }

    #[test]
    fn nothing_is_removed_without_noise_and_all_but_the_mean_with_strong_noise() {
        let image = image();
        let (samples, means) = plain(&image);
        let sample = |i: usize, k: usize| samples[i][k];
        for shrinkage in [Shrinkage::Threshold(5.0), Shrinkage::Wiener] {
            let (kept, removed) =
                (shrunk(&image, None, shrinkage, 1e-9), shrunk(&image, None, shrinkage, 1e9));
            // The mean patch of a flat group is shrunk to its mean.
            let left = means.iter().sum::<f64>() / N as f64;
            for (i, mean) in means.iter().enumerate() {
                for k in 0..COUNT {
                    let [kept, removed] = [&kept, &removed].map(|group| f64::from(group.row(i)[k]));
                    assert!((kept - sample(i, k) - mean).abs() < 1e-3, "{shrinkage:?}");
                    assert!((removed - left).abs() < 1e-3, "{shrinkage:?}");
                }
            }
        }
        let huge: Vec<f32> = image.iter().map(|x| 1e30 * x).collect();
        let group = shrunk(&huge, None, Shrinkage::Threshold(5.0), 1.0);
        assert!((group.row(2)[3] / huge[corners()[3] + 2] - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_mean_patch_of_a_flat_group_is_shrunk_over_cosines() {
        // All patches are equal: no component but the mean patch, of 2 rows and 3 columns.
        let patch = [9.0f32, 3.0, 4.0, 8.0, 1.0, 2.0];
        let image: Vec<f32> = (0..60).map(|i| patch[i % N]).collect();
        let guide: Vec<f32> = image.iter().map(|x| 0.5 * x).collect();
        let corners: Vec<usize> = (0..9).map(|k| N * k).collect();
        let offsets: Vec<usize> = (0..N).collect();
        let basis = cosines([1, 2, 3]);
        for i in 0..N * N {
            let product = dot(&basis[i / N * N..][..N], &basis[i % N * N..][..N]);
            assert!((product - f32::from(u8::from(i / N == i % N))).abs() < 1e-6);
        }
        let variance = 20.0;
        let noise = variance / corners.len() as f32;
        for (shrinkage, guide) in
            [(Shrinkage::Threshold(5.0), None), (Shrinkage::Wiener, Some(&guide[..]))]
        {
            let mut group = Group::new([1, 2, 3], corners.len());
            group.shrink(&image, guide, &corners, &offsets, (shrinkage, variance));
            let result: Vec<f32> = (0..N).map(|i| group.row(i)[0]).collect();
            let (mut kept, mut shrunk) = (0, 0);
            for (i, cosine) in basis.chunks_exact(N).enumerate() {
                let [before, after] = [&patch[..], &result].map(|x| dot(cosine, x));
                let expected = match shrinkage {
                    _ if i == 0 => before,
                    Shrinkage::Threshold(_) if before.abs() < 3.0 * noise.sqrt() => 0.0,
                    Shrinkage::Threshold(_) => before,
                    _ => before * before * before / (before * before + 4.0 * noise),
                };
                assert!((after - expected).abs() < 1e-4, "{shrinkage:?} {after} {expected}");
                kept += usize::from((after - before).abs() < 1e-4);
                shrunk += usize::from((after - before).abs() > 1e-4);
            }
            assert!(kept > 0 && shrunk > 0, "{kept} {shrunk}");
        }
    }

    #[test]
    fn singular_values_are_shrunk_by_the_formula() {
        // A group of rank one: its only singular value s becomes (s + sqrt(s^2 - 4 t sqrt(K) v)) /
        // 2.
        let image: Vec<f32> = (0..60).map(|i| if i / 4 % 2 == 0 { 4.0 } else { 0.0 }).collect();
        let factor = 2.0;
        let offsets = [0];
        let mut group = Group::new([1, 1, 1], COUNT);
        group.shrink(&image, None, &corners(), &offsets, (Shrinkage::Threshold(factor), 1.0));
        let rows: Vec<f64> = corners().iter().map(|&c| f64::from(image[c])).collect();
        let mean = rows.iter().sum::<f64>() / COUNT as f64;
        let singular = rows.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
        let root = singular * singular - 4.0 * f64::from(factor) * (COUNT as f64).sqrt();
        let gain = 0.5 * (singular + root.sqrt()) / singular;
        for (k, x) in rows.iter().enumerate() {
            let expected = mean + gain * (x - mean);
            assert!((f64::from(group.row(0)[k]) - expected).abs() < 1e-4, "{expected}");
        }
    }
}
