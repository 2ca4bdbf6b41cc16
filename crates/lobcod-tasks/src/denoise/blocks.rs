//! Cosine transforms of the 8x8 blocks of a channel, used to measure noise.

use lobcod::Extent;
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// Side of a block, and its number of samples.
pub(super) const SIDE: usize = 8;
pub(super) const LEN: usize = SIDE * SIDE;
/// Maximum number of blocks measured.
const MOST: usize = 100_000;

/// Fraction of samples at the smallest or largest value above which the image is considered clipped
/// there.
const CLIPPED: f64 = 0.005;
/// Distance from the smallest or largest value, as a fraction of their difference, up to which a
/// sample may have been clipped before compression.
const NEAR: f32 = 0.02;

/// Memory for measuring the blocks of an image: corners and energies.
pub(super) fn memory(extent: Extent) -> u64 {
    (extent.volume().min(MOST) * 64) as u64
}

/// Overlapping blocks of one channel.
pub(super) struct Blocks<'a> {
    samples: &'a [f32],
    width: usize,
    basis: [[f32; SIDE]; SIDE],
    corners: Vec<usize>,
}

/// The transform of a block.
pub(super) struct Block {
    /// Mean of the samples.
    pub(super) mean: f32,
    /// Squared coefficients, row by row; the first belongs to the mean.
    pub(super) energy: [f32; LEN],
}

impl<'a> Blocks<'a> {
    /// Blocks at every position, or at every second, third, ... if there are too many.
    pub(super) fn new(samples: &'a [f32], [height, width]: [usize; 2]) -> Self {
        let rows = (height + 1).saturating_sub(SIDE);
        let columns = (width + 1).saturating_sub(SIDE);
        let step = ((rows * columns) as f64 / MOST as f64).sqrt().ceil().max(1.0) as usize;
        let at = |y: usize| (0..columns).step_by(step).map(move |x| y * width + x);
        let corners = (0..rows).step_by(step).flat_map(at).collect();
        Self { samples, width, basis: basis(), corners }
    }

    /// Index of the first sample of every block.
    pub(super) fn corners(&self) -> &[usize] {
        &self.corners
    }

    /// The rows of a block.
    pub(super) fn samples(&self, corner: usize) -> impl Iterator<Item = &'a [f32]> + '_ {
        (0..SIDE).map(move |row| &self.samples[corner + row * self.width..][..SIDE])
    }

    /// Whether a block can be used: its samples are neither all equal nor clipped.
    pub(super) fn shows_noise(&self, corner: usize, clipped: [Option<f32>; 2]) -> bool {
        let first = self.samples[corner];
        let flat = self.samples(corner).flatten().all(|x| *x == first);
        !flat && !self.is_clipped(corner, clipped)
    }

    /// Whether a block has one of the clipped values.
    pub(super) fn is_clipped(&self, corner: usize, clipped: [Option<f32>; 2]) -> bool {
        self.samples(corner).flatten().any(|x| clipped.contains(&Some(*x)))
    }

    /// The smallest and the largest value of the channel.
    fn ends(&self) -> [f32; 2] {
        let ends = [f32::INFINITY, f32::NEG_INFINITY];
        self.samples.iter().fold(ends, |[l, h], &x| [l.min(x), h.max(x)])
    }

    /// The smallest and the largest value, each infinite if few samples are near it. Where many
    /// are, they may have been clipped before a JPEG file blurred them.
    pub(super) fn crowded_ends(&self) -> [f32; 2] {
        let [low, high] = self.ends();
        let near = NEAR * (high - low);
        let crowded = |is_near: &dyn Fn(f32) -> bool| {
            let count = self.samples.iter().filter(|x| is_near(**x)).count();
            count as f64 > CLIPPED * self.samples.len() as f64
        };
        [
            if crowded(&|x| x <= low + near) { low } else { f32::NEG_INFINITY },
            if crowded(&|x| x >= high - near) { high } else { f32::INFINITY },
        ]
    }

    /// The smallest and the largest value of the channel, if many samples have it.
    pub(super) fn clipped_values(&self) -> [Option<f32>; 2] {
        self.ends().map(|end| {
            let count = self.samples.iter().filter(|x| **x == end).count();
            (count as f64 > CLIPPED * self.samples.len() as f64).then_some(end)
        })
    }

    /// Transforms a block: columns first, then rows.
    pub(super) fn transform(&self, corner: usize) -> Block {
        let mut columns = [[0.0f32; SIDE]; SIDE];
        let mut sum = 0.0;
        for (y, row) in self.samples(corner).enumerate() {
            sum += row.iter().sum::<f32>();
            for (u, line) in columns.iter_mut().enumerate() {
                let weight = self.basis[u][y];
                line.iter_mut().zip(row).for_each(|(c, x)| *c += weight * x);
            }
        }
        let mut energy = [0.0; LEN];
        for (u, line) in columns.iter().enumerate() {
            for (v, wave) in self.basis.iter().enumerate() {
                let coefficient: f32 = line.iter().zip(wave).map(|(c, w)| c * w).sum();
                energy[u * SIDE + v] = coefficient * coefficient;
            }
        }
        Block { mean: sum / LEN as f32, energy }
    }
}

/// Sum of the two frequencies of a coefficient: 0 for the mean, 14 for the finest checkerboard.
pub(super) fn order(coefficient: usize) -> usize {
    coefficient / SIDE + coefficient % SIDE
}

/// The orthonormal cosine transform of eight samples: frequency, then sample.
fn basis() -> [[f32; SIDE]; SIDE] {
    std::array::from_fn(|u| {
        std::array::from_fn(|x| {
            let scale = if u == 0 { FRAC_1_SQRT_2 } else { 1.0 };
            scale * 0.5 * (PI / SIDE as f32 * (x as f32 + 0.5) * u as f32).cos()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_keeps_energy_and_finds_a_wave() {
        let wave = |i: usize| (PI / 8.0 * ((i % SIDE) as f32 + 0.5) * 3.0).cos();
        let samples: Vec<f32> = (0..LEN).map(|i| 10.0 + wave(i)).collect();
        let block = Blocks::new(&samples, [SIDE, SIDE]).transform(0);
        let energy: f32 = samples.iter().map(|x| x * x).sum();
        assert!((block.energy.iter().sum::<f32>() / energy - 1.0).abs() < 1e-4);
        assert!((block.mean - 10.0).abs() < 1e-4);
        assert!((block.energy[3] - 32.0).abs() < 1e-2 && block.energy[4] < 1e-3);
    }
}
