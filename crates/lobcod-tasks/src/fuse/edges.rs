//! Strong edges decide around themselves: next to the outline of an object, the frame in which the
//! outline is sharp is used.
//!
//! A blurred foreground spreads over the background, so the frame with the sharper background shows
//! a halo there. Activity does not see this: a halo is smooth, and boxes of activity reach across
//! the outline. Only sharp edges count: a smooth slope, such as a shade or a darkened rim, is no
//! outline.

use super::decision::Decision;
use super::params::Prefer;
use lobcod::base::box_mean;
use lobcod::{Signal, parallel};

/// Box over which squared slopes are averaged, twice: an edge decides as far as it is nearer than
/// others, weighted by its strength.
const WINDOW: usize = 5;
/// Least slope of an edge, in lightness (0 to 100) per sample, as a root mean square.
const LEAST: f32 = 2.0;
/// Box of a blur, and the least factor by which it reduces the mean square slope of a sharp edge.
const BLUR: usize = 5;
const SHARP: f32 = 1.6;
/// Samples at the rim of a frame where slopes towards the rim do not count: programs that blur or
/// move frames darken it.
const RIM: usize = 3;

/// The strongest edge near every pixel so far.
pub struct Edges {
    /// Mean square slope.
    strength: Vec<f32>,
    frame: Vec<u16>,
    light: Vec<f32>,
    prefer: Prefer,
}

impl Edges {
    pub fn new(volume: usize, prefer: Prefer) -> Self {
        let zeros = vec![0.0; volume];
        Self { strength: zeros.clone(), frame: vec![0; volume], light: zeros, prefer }
    }

    /// Adds a frame; `usable` returns whether it covers a pixel.
    pub fn add(
        &mut self,
        number: usize,
        light: &Signal<f32>,
        threads: usize,
        usable: impl Fn(usize) -> bool,
    ) {
        let strength = sharp_slope(light, threads);
        for (i, s) in strength.into_iter().enumerate().filter(|(i, _)| usable(*i)) {
            if s > self.strength[i] || (s == self.strength[i] && self.prefer == Prefer::Back) {
                (self.strength[i], self.frame[i], self.light[i]) =
                    (s, number as u16, light.data()[i]);
            }
        }
    }

    /// Changes the decision to the frame with the sharpest edge where there is one.
    pub fn settle(self, decision: &mut Decision) {
        for (i, strength) in self.strength.into_iter().enumerate() {
            if strength > LEAST * LEAST {
                (decision.frame[i], decision.guide[i]) = (self.frame[i], self.light[i]);
            }
        }
    }
}

/// The mean square slope around every pixel, 0 where it is not that of a sharp edge.
fn sharp_slope(light: &Signal<f32>, threads: usize) -> Vec<f32> {
    let [_, height, width] = light.extent().padded();
    let mut soft = light.clone();
    box_mean(soft.data_mut(), [height, width], BLUR, threads);
    let mut strength = mean_square_slope(light, threads);
    let blurred = mean_square_slope(&soft, threads);
    let pairs = strength.iter_mut().zip(blurred);
    pairs.filter(|(s, b)| **s <= SHARP * b).for_each(|(s, _)| *s = 0.0);
    strength
}

/// The mean square slope around every pixel.
fn mean_square_slope(light: &Signal<f32>, threads: usize) -> Vec<f32> {
    let [_, height, width] = light.extent().padded();
    let data = light.data();
    let rows = |y: usize| [y.saturating_sub(1), y, (y + 1).min(height - 1)].map(|y| y * width);
    let mut slopes = vec![0.0f32; height * width];
    parallel::chunks(
        &mut slopes,
        width,
        threads,
        || (),
        |y, line, ()| {
            let [above, here, below] = rows(y);
            for (x, slope) in line.iter_mut().enumerate() {
                let [left, right] = [x.saturating_sub(1), (x + 1).min(width - 1)];
                // Sobel's operator, scaled to the slope per sample.
                let smooth = |k: usize| data[above + k] + 2.0 * data[here + k] + data[below + k];
                let inside = |at: usize, length: usize| at >= RIM && at + RIM < length;
                let across = if inside(x, width) { smooth(right) - smooth(left) } else { 0.0 };
                let along = |row: usize| data[row + left] + 2.0 * data[row + x] + data[row + right];
                let down = if inside(y, height) { along(below) - along(above) } else { 0.0 };
                *slope = (across * across + down * down) / 64.0;
            }
        },
    );
    (0..2).for_each(|_| box_mean(&mut slopes, [height, width], WINDOW, threads));
    slopes
}
