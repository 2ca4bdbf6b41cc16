//! Warping and downscaling of images.

use super::motion::Motion;
use lobcod::Signal;
use lobcod::parallel;
use std::f64::consts::FRAC_PI_3;

/// Samples along an axis that a resampled value depends on: three on each side.
const TAPS: usize = 6;
/// Cosine and sine of `k pi / 3` for k from -2 to 3.
const COS: [f64; TAPS] = [-0.5, 0.5, 1.0, 0.5, -0.5, -1.0];
const SIN: [f64; TAPS] = [-SINE, -SINE, 0.0, SINE, SINE, 0.0];
const SINE: f64 = 0.866_025_403_784_438_6;

/// Undoes the motion of a frame by Lanczos interpolation over 6x6 samples, which keeps fine detail;
/// edges are replicated.
pub fn warp(frame: &Signal<f32>, motion: &Motion, threads: usize) -> Signal<f32> {
    let [_, height, width] = frame.extent().padded();
    let half = [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0];
    let mut out = Signal::zeros(frame.extent(), frame.channels());
    parallel::chunks(
        out.data_mut(),
        width,
        threads,
        || (),
        |row, line, ()| {
            let source = frame.channel(row / height);
            let y = (row % height) as f64 - half[0];
            for (x, value) in line.iter_mut().enumerate() {
                let [v, u] = motion.apply([y, x as f64 - half[1]]);
                let (v, u) = (v + half[0], u + half[1]);
                let (top, left) = (v.floor(), u.floor());
                let (rows, columns) = (lanczos(v - top), lanczos(u - left));
                let inside = |k: f64, n: usize| k.clamp(0.0, (n - 1) as f64) as usize;
                let at: [usize; TAPS] =
                    std::array::from_fn(|i| inside(left + i as f64 - 2.0, width));
                *value = (0..TAPS)
                    .map(|i| {
                        let line = &source[inside(top + i as f64 - 2.0, height) * width..][..width];
                        rows[i] * (0..TAPS).map(|j| columns[j] * line[at[j]]).sum::<f32>()
                    })
                    .sum();
            }
        },
    );
    out
}

/// Weights `sinc(d) sinc(d / 3)` of six samples for a position `t` in 0..1 between the third and
/// the fourth, scaled to sum to 1.
fn lanczos(t: f64) -> [f32; TAPS] {
    if t == 0.0 {
        return [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    }
    // At a distance d = t - k from a sample, sin(pi d) is sin(pi t) but for its sign, which the
    // scaling cancels; sin(pi d / 3) follows by angle addition.
    let (sin, cos) = (FRAC_PI_3 * t).sin_cos();
    let weights: [f64; TAPS] = std::array::from_fn(|i| {
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        sign * (sin * COS[i] - cos * SIN[i]) / (t - i as f64 + 2.0).powi(2)
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|w| (w / sum) as f32)
}

/// Downscales by two with means of 2x2 samples; an odd last row or column is kept.
pub fn halve(image: &Signal<f32>) -> Signal<f32> {
    let [_, height, width] = image.extent().padded();
    let (rows, columns) = (height.div_ceil(2), width.div_ceil(2));
    let extent = image.extent().with_padded([1, rows, columns]);
    let mut data = Vec::with_capacity(image.channels() * rows * columns);
    for c in 0..image.channels() {
        let source = image.channel(c);
        for i in 0..rows * columns {
            let (y, x) = (2 * (i / columns), 2 * (i % columns));
            let (below, right) = ((y + 1).min(height - 1), (x + 1).min(width - 1));
            data.push(
                0.25 * (source[y * width + x]
                    + source[y * width + right]
                    + source[below * width + x]
                    + source[below * width + right]),
            );
        }
    }
    Signal::from_planar(extent, image.channels(), data).expect("data matches the extent")
}
