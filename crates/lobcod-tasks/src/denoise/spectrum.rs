//! The spectrum of noise: its variance at every frequency of 8x8 blocks.

use super::blocks::{Blocks, LEN, SIDE, order};

/// Fraction of the blocks, smoothest first, that are measured, and their minimum number.
const FRACTION: f64 = 0.005;
const FEWEST: usize = 60;
/// Multiple of the smoothest blocks that measures the level of [`MARGIN`].
const WIDE: usize = 10;
/// Minimum distance of the mean of a block from an end, in units of the noise level, and maximum
/// number of steps that find that level.
const MARGIN: f64 = 3.0;
const REFINEMENTS: usize = 6;
/// Fraction of the variance of Gaussian noise that is left when its negative half is set to 0:
/// `1/2 - 1/(2 pi)`.
const LEFT_BY_CLIPPING: f32 = 0.341;
/// Lower bound of the variance, in units of the mean, when it is a divisor: in filters, where
/// details at frequencies with less noise would be amplified with errors of the estimate, and in
/// blocks, whose high frequencies a JPEG file may have removed.
const FLOOR: f64 = 0.3;
const BLOCK_FLOOR: f64 = 0.02;
/// Fraction of the blocks that [`common`] measures.
const FIFTH: f64 = 0.2;
/// Tolerance of the bound that a spectrum sets at half the resolution: spectra are estimates.
const SLACK: f64 = 1.3;

/// A block that may be among the smoothest.
struct Candidate {
    corner: usize,
    mean: f32,
    /// Energy at the frequencies of each [`half`].
    texture: [f32; 2],
}

impl Candidate {
    fn new(blocks: &Blocks<'_>, corner: usize) -> Self {
        let block = blocks.transform(corner);
        let texture =
            |part| (1..LEN).filter(|&i| half(i) == part).map(|i| block.energy[i]).sum::<f32>();
        Self { corner, mean: block.mean, texture: [0, 1].map(texture) }
    }
}

/// Whether noise of a level around a mean is clipped at neither end.
fn far_from([low, high]: [f32; 2], mean: f32, level: f64) -> bool {
    f64::from((mean - low).min(high - mean)) > MARGIN * level
}

/// Variance of noise at each frequency, row by row.
#[derive(Clone, Debug)]
pub(super) struct Spectrum([f64; LEN]);

impl Spectrum {
    /// Without noise.
    pub(super) const ZERO: Self = Self([0.0; LEN]);

    /// Measures the smoothest blocks of a channel, or a multiple of these.
    ///
    /// The frequencies are split in two halves: blocks that are smooth at the frequencies of one
    /// are measured at those of the other, so that the selection does not bias the estimate.
    ///
    /// Near black and white, clipping removes part of the noise, and a JPEG file hides the clipped
    /// values. Where many samples are near an end, blocks closer to it than [`MARGIN`] times the
    /// level are therefore ignored.
    pub(super) fn of(samples: &[f32], size: [usize; 2], multiple: usize) -> Self {
        let blocks = Blocks::new(samples, size);
        let clipped = blocks.clipped_values();
        let all = blocks.corners();
        let enough = |count: usize| count >= FEWEST.max(all.len() / 50);
        let mut corners: Vec<usize> =
            all.iter().copied().filter(|&corner| blocks.shows_noise(corner, clipped)).collect();
        if !enough(corners.len()) {
            corners = all.to_vec();
        }
        let mut candidates: Vec<Candidate> =
            corners.iter().map(|&corner| Candidate::new(&blocks, corner)).collect();
        let ends = blocks.crowded_ends();
        let mut level = 0.0;
        for _ in 0..REFINEMENTS {
            let next = Self::of_smoothest(&blocks, &candidates, WIDE).level();
            if next <= level {
                break;
            }
            level = next;
            let inside = |c: &&Candidate| far_from(ends, c.mean, level);
            if !enough(candidates.iter().filter(inside).count()) {
                break;
            }
            candidates.retain(|c| inside(&c));
        }
        Self::of_smoothest(&blocks, &candidates, multiple)
    }

    /// The spectrum of the smoothest of these blocks, or of a multiple of them.
    fn of_smoothest(blocks: &Blocks<'_>, candidates: &[Candidate], multiple: usize) -> Self {
        let count = (multiple * FEWEST.max((FRACTION * candidates.len() as f64) as usize))
            .min(candidates.len());
        let mut variance = [0.0; LEN];
        for part in 0..2 {
            let texture = |c: &Candidate| (c.texture[part], c.corner);
            let mut textures: Vec<(f32, usize)> = candidates.iter().map(texture).collect();
            textures.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (_, corner) in &textures[..count] {
                let energy = blocks.transform(*corner).energy;
                for i in (1..LEN).filter(|&i| half(i) != part) {
                    variance[i] += f64::from(energy[i]) / count as f64;
                }
            }
        }
        // The mean of a block belongs to the image; the noise there is extrapolated.
        variance[0] = 0.5 * (variance[1] + variance[SIDE]);
        Self(variance)
    }

    /// Standard deviation of the noise.
    pub(super) fn level(&self) -> f64 {
        (self.0.iter().sum::<f64>() / LEN as f64).sqrt()
    }

    /// Ratio of the levels at middle and at high frequencies: 1 for white noise.
    pub(super) fn correlation(&self) -> f64 {
        let mean = |orders: std::ops::RangeInclusive<usize>| {
            let (sum, count) = (0..LEN)
                .filter(|&i| orders.contains(&order(i)))
                .fold((0.0, 0.0), |(sum, count), i| (sum + self.0[i], count + 1.0));
            sum / count
        };
        (mean(3..=5) / mean(10..=14).max(f64::MIN_POSITIVE)).sqrt()
    }

    /// Effective number of frequencies: 63 for white noise, 1 for a wave.
    pub(super) fn frequencies(&self) -> f64 {
        let sum: f64 = self.0[1..].iter().sum();
        let squares: f64 = self.0[1..].iter().map(|v| v * v).sum();
        sum * sum / squares.max(f64::MIN_POSITIVE)
    }

    /// Upper bound of the spectrum of the same noise at half the resolution.
    ///
    /// Means of 2x2 samples keep a quarter of the variance of the lower half of the frequencies.
    pub(super) fn bound_of_half(&self) -> Self {
        let variance = |i: usize| self.variance([i / SIDE, i % SIDE].map(|f| f as f64 / 16.0));
        Self(std::array::from_fn(|i| 0.25 * SLACK * variance(i)))
    }

    /// The smaller variance at each frequency.
    pub(super) fn at_most(&self, bound: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].min(bound.0[i])))
    }

    /// Variance at a frequency in units of the highest along each axis, interpolated.
    fn variance(&self, [u, v]: [f64; 2]) -> f64 {
        let split = |f: f64| {
            let at = (f * SIDE as f64).min((SIDE - 1) as f64);
            (at as usize, (at as usize + 1).min(SIDE - 1), at.fract())
        };
        let ((top, bottom, y), (left, right, x)) = (split(u), split(v));
        let row = |r: usize| (1.0 - x) * self.0[r * SIDE + left] + x * self.0[r * SIDE + right];
        (1.0 - y) * row(top) + y * row(bottom)
    }

    /// Standard deviation at a frequency, large enough for a divisor.
    pub(super) fn deviation(&self, frequency: [f64; 2]) -> f64 {
        let mean = self.level().powi(2);
        self.variance(frequency).max(FLOOR * mean).max(f64::MIN_POSITIVE).sqrt()
    }
}

/// Standard deviation in the quietest blocks of a channel that are not clipped, including flat
/// ones; `None` if there are too few. The part that clipping removes from noise of this level near
/// black and white is added.
///
/// Noise is in every block, so its level cannot be far above this.
pub(super) fn quietest(samples: &[f32], size: [usize; 2], level: f64) -> Option<f64> {
    let blocks = Blocks::new(samples, size);
    let (clipped, ends) = (blocks.clipped_values(), blocks.crowded_ends());
    let corners = blocks.corners().iter().filter(|corner| !blocks.is_clipped(**corner, clipped));
    let energy = |&corner: &usize| {
        let block = blocks.transform(corner);
        let energy = block.energy[1..].iter().sum::<f32>();
        if far_from(ends, block.mean, level) { energy } else { energy / LEFT_BY_CLIPPING }
    };
    let mut energies: Vec<f32> = corners.map(energy).collect();
    if energies.len() < FEWEST {
        return None;
    }
    energies.sort_by(f32::total_cmp);
    let count = FEWEST.max((FRACTION * energies.len() as f64) as usize);
    let mean = energies[..count].iter().map(|e| f64::from(*e)).sum::<f64>() / count as f64;
    Some((mean / (LEN - 1) as f64).sqrt())
}

/// Largest level in the smoothest fifth of the blocks of a channel that are not clipped: about 1 for
/// noise with this spectrum, more for texture.
pub(super) fn common(samples: &[f32], size: [usize; 2], spectrum: &Spectrum) -> f64 {
    let blocks = Blocks::new(samples, size);
    let clipped = blocks.clipped_values();
    let least = BLOCK_FLOOR * spectrum.level().powi(2);
    let inverse = spectrum.0.map(|v| (1.0 / v.max(least).max(f64::MIN_POSITIVE)) as f32);
    let corners = blocks.corners().iter().filter(|corner| !blocks.is_clipped(**corner, clipped));
    let level = |&corner: &usize| {
        let energy = blocks.transform(corner).energy;
        energy.iter().zip(&inverse).skip(1).map(|(e, inverse)| e * inverse).sum::<f32>()
    };
    let mut levels: Vec<f32> = corners.map(level).collect();
    if levels.is_empty() {
        return f64::INFINITY;
    }
    let place = (FIFTH * levels.len() as f64) as usize;
    let (_, found, _) = levels.select_nth_unstable_by(place, f32::total_cmp);
    (f64::from(*found) / (LEN - 1) as f64).sqrt()
}

/// The half a frequency belongs to: squares of a chessboard two frequencies wide, so that symmetric
/// and antisymmetric structure, such as an edge in the middle of a block, appears in both.
fn half(coefficient: usize) -> usize {
    (coefficient / SIDE / 2 + coefficient % SIDE / 2) % 2
}
