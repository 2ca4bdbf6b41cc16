//! What the frames of a stack have in common: one scene or several, one exposure or several.

use super::params::Mode;
use lobcod::{Error, Result, Signal};

/// Blocks along the longer side of a frame whose mean lightness is compared.
const BLOCKS: usize = 48;
/// Smallest side of a block: blur must hardly change its mean.
const SMALLEST: usize = 8;
/// Standard deviation of the blocks below which a frame has too little structure to be compared.
const STRUCTURE: f64 = 4.0;
/// Rank correlation of two frames below which they show different scenes. Focus and exposure stacks
/// have 0.74 and more, unrelated photographs 0.48 and less.
const RELATED: f64 = 0.6;
/// Difference in mean lightness (0 to 100) from which frames differ in exposure. Focus stacks have
/// less than 1, exposure stacks more than 13.
const EXPOSED: f64 = 5.0;

/// The mean lightness of blocks of a frame.
pub struct Thumbnail(Vec<f32>);

impl Thumbnail {
    /// The thumbnail of a lightness in 0..100.
    pub fn new(light: &Signal<f32>) -> Self {
        let [_, height, width] = light.extent().padded();
        let side = height.max(width).div_ceil(BLOCKS).max(SMALLEST);
        let mut means = Vec::new();
        for top in (0..height).step_by(side) {
            for left in (0..width).step_by(side) {
                let rows = top..(top + side).min(height);
                let columns = left..(left + side).min(width);
                let count = (rows.len() * columns.len()) as f32;
                let line =
                    |y: usize| &light.data()[y * width + columns.start..y * width + columns.end];
                means.push(rows.map(|y| line(y).iter().sum::<f32>()).sum::<f32>() / count);
            }
        }
        Self(means)
    }

    fn mean(&self) -> f64 {
        self.0.iter().map(|&x| f64::from(x)).sum::<f64>() / self.0.len() as f64
    }

    fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self.0.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>();
        (squares / self.0.len() as f64).sqrt()
    }
}

/// How similar two frames are: the rank correlation of their blocks, or 1 where they have too
/// little structure to tell.
fn similarity(a: &Thumbnail, b: &Thumbnail) -> f64 {
    if a.deviation().min(b.deviation()) < STRUCTURE { 1.0 } else { rank_correlation(&a.0, &b.0) }
}

/// How the frames of a stack relate to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StackReport {
    /// How the frames were fused: [`Mode::Focus`] or [`Mode::Exposure`].
    pub mode: Mode,
    /// Smallest rank correlation of the lightness of consecutive frames; 1 is the same scene.
    pub similarity: f64,
    /// Difference in mean lightness between the brightest and the darkest frame, in 0..100.
    pub brightness: f64,
}

impl StackReport {
    /// Compares the frames. Their mode is as given, or follows from the comparison.
    pub fn of(thumbnails: &[Thumbnail], mode: Mode) -> Self {
        let similarity =
            thumbnails.windows(2).map(|pair| similarity(&pair[0], &pair[1])).fold(1.0, f64::min);
        let means: Vec<f64> = thumbnails.iter().map(Thumbnail::mean).collect();
        let darkest = means.iter().copied().fold(f64::INFINITY, f64::min);
        let brightness = means.iter().map(|mean| mean - darkest).fold(0.0, f64::max);
        let found = if brightness >= EXPOSED { Mode::Exposure } else { Mode::Focus };
        Self { mode: if mode == Mode::Auto { found } else { mode }, similarity, brightness }
    }

    /// Whether the frames show one scene.
    pub fn is_related(&self) -> bool {
        self.similarity >= RELATED
    }

    /// Whether the frames differ in exposure.
    pub fn differs_in_exposure(&self) -> bool {
        self.brightness >= EXPOSED
    }

    /// Error unless the frames show one scene.
    pub(super) fn check_related(&self) -> Result<()> {
        if self.is_related() {
            return Ok(());
        }
        Err(Error::Data(format!(
            "the frames do not show the same scene (similarity {:.2} of 1); if they belong \
             together, choose the mode focus or exposure",
            self.similarity
        )))
    }
}

/// Spearman's rank correlation; 1 where a sequence is constant.
fn rank_correlation(a: &[f32], b: &[f32]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let moment = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let scale = (moment(&a, &a) * moment(&b, &b)).sqrt();
    if scale == 0.0 { 1.0 } else { moment(&a, &b) / scale }
}

/// Rank of every value; values that are equal to a tenth share the mean of their ranks.
fn ranks(values: &[f32]) -> Vec<f64> {
    let rounded: Vec<i64> = values.iter().map(|x| (10.0 * x).round() as i64).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&i| rounded[i]);
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&i, &j| rounded[i] == rounded[j]) {
        let mean = first as f64 + (group.len() as f64 - 1.0) / 2.0;
        group.iter().for_each(|&i| ranks[i] = mean);
        first += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_equal_values_are_shared_and_monotone_maps_keep_them() {
        assert_eq!(ranks(&[3.0, 1.0, 3.01, 7.0]), [1.5, 0.0, 1.5, 3.0]);
        let values: Vec<f32> = (0..100).map(|i| (i * 37 % 100) as f32).collect();
        let brighter: Vec<f32> = values.iter().map(|x| (2.0 * x + 5.0).min(90.0)).collect();
        assert!(rank_correlation(&values, &brighter) > 0.85);
        let other: Vec<f32> = (0..100).map(|i| (i * 61 % 100) as f32).collect();
        assert!(rank_correlation(&values, &other).abs() < 0.4);
    }
}
