//! Refinement of a motion by Gauss-Newton steps.

use super::motion::Motion;
use super::warp::warp;
use lobcod::Signal;

/// Steps per level, and the displacement in samples that ends them.
const STEPS: usize = 12;
const STILL: f64 = 0.01;
/// Ignored margin, as a fraction of a side.
const MARGIN: f64 = 0.1;

/// The motion near `motion` that minimises `sum w (before - moved frame)^2`, with matched
/// brightness and contrast and reduced weight for outliers; and the mean absolute difference before
/// the last step. Only the shift changes unless `similar`.
pub(super) fn refine(
    before: &Signal<f32>,
    frame: &Signal<f32>,
    mut motion: Motion,
    similar: bool,
    threads: usize,
) -> (Motion, f64) {
    let [_, height, width] = before.extent().padded();
    if height < 8 || width < 8 {
        return (motion, f64::INFINITY);
    }
    let mut left = f64::INFINITY;
    let margin = [height, width].map(|n| ((MARGIN * n as f64) as usize).max(2));
    let half = [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0];
    // Scale and rotation in samples at the corner, so all unknowns have the same unit.
    let radius = half[0].hypot(half[1]);
    for _ in 0..STEPS {
        let moved = warp(frame, &motion, threads);
        let inside = || {
            (margin[0]..height - margin[0])
                .flat_map(|y| (margin[1]..width - margin[1]).map(move |x| (y, x)))
        };
        let (gain, offset) =
            match_brightness(inside().map(|(y, x)| y * width + x), before.data(), moved.data());
        let error =
            |i: usize| f64::from(before.data()[i]) - (gain * f64::from(moved.data()[i]) + offset);
        let usual = inside().map(|(y, x)| error(y * width + x).abs()).sum::<f64>()
            / inside().count() as f64
            + 1e-9;
        left = usual;
        let mut normal = [[0.0; 4]; 4];
        let mut right = [0.0; 4];
        for (y, x) in inside() {
            let i = y * width + x;
            let slope =
                |a: usize, b: usize| gain * 0.5 * f64::from(moved.data()[a] - moved.data()[b]);
            let (gy, gx) = (slope(i + width, i - width), slope(i + 1, i - 1));
            let (u, v) = ((y as f64 - half[0]) / radius, (x as f64 - half[1]) / radius);
            let row = [gy, gx, gy * u + gx * v, gx * u - gy * v];
            let e = error(i);
            let weight = 1.0 / (1.0 + (e / (3.0 * usual)).powi(2));
            for a in 0..4 {
                right[a] += weight * row[a] * e;
                (0..4).for_each(|b| normal[a][b] += weight * row[a] * row[b]);
            }
        }
        let step = solve(normal, right, if similar { 4 } else { 2 });
        // The step is applied before the current motion.
        let small = Motion {
            shift: [step[0], step[1]],
            scale: 1.0 + step[2] / radius,
            angle: step[3] / radius,
        };
        motion = small.then(&motion);
        if step.iter().all(|s| s.abs() < STILL) {
            break;
        }
    }
    (motion, left)
}

/// Mean absolute difference of two frames with matched brightness and contrast, margins ignored.
pub(super) fn difference(before: &Signal<f32>, moved: &Signal<f32>) -> f64 {
    let [_, height, width] = before.extent().padded();
    let margin = [height, width].map(|n| ((MARGIN * n as f64) as usize).min((n - 1) / 2));
    let inside = || {
        (margin[0]..height - margin[0])
            .flat_map(|y| (margin[1]..width - margin[1]).map(move |x| y * width + x))
    };
    let (gain, offset) = match_brightness(inside(), before.data(), moved.data());
    let error =
        |i: usize| f64::from(before.data()[i]) - (gain * f64::from(moved.data()[i]) + offset);
    inside().map(|i| error(i).abs()).sum::<f64>() / inside().count() as f64
}

/// The affine map that matches `b` to `a` in mean and standard deviation.
fn match_brightness(inside: impl Iterator<Item = usize>, a: &[f32], b: &[f32]) -> (f64, f64) {
    let mut sums = [0.0; 5];
    for i in inside {
        let (x, y) = (f64::from(a[i]), f64::from(b[i]));
        [x, x * x, y, y * y, 1.0].iter().zip(&mut sums).for_each(|(v, s)| *s += v);
    }
    let [x, xx, y, yy, n] = sums;
    let spread = |s: f64, ss: f64| (ss / n - (s / n).powi(2)).max(1e-12).sqrt();
    let gain = spread(x, xx) / spread(y, yy);
    (gain, x / n - gain * y / n)
}

/// Solves for the first `unknowns` of a positive definite system; the others are 0.
fn solve(mut matrix: [[f64; 4]; 4], mut right: [f64; 4], unknowns: usize) -> [f64; 4] {
    let floor = 1e-9 * (0..unknowns).map(|i| matrix[i][i]).fold(1e-300, f64::max);
    (0..unknowns).for_each(|i| matrix[i][i] += floor);
    for i in 0..unknowns {
        for j in i + 1..unknowns {
            let factor = matrix[j][i] / matrix[i][i];
            (i..unknowns).for_each(|k| matrix[j][k] -= factor * matrix[i][k]);
            right[j] -= factor * right[i];
        }
    }
    let mut x = [0.0; 4];
    for i in (0..unknowns).rev() {
        let rest: f64 = (i + 1..unknowns).map(|k| matrix[i][k] * x[k]).sum();
        x[i] = (right[i] - rest) / matrix[i][i];
    }
    x
}
