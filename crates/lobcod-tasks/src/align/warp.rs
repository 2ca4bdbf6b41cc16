//! Warping and downscaling of images.

use super::motion::Motion;
use lobcod::Signal;
use lobcod::parallel;

/// Undoes the motion of a frame by cubic interpolation (Keys); edges are replicated.
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
                let (rows, columns) = (cubic((v - top) as f32), cubic((u - left) as f32));
                let inside = |k: f64, n: usize| k.clamp(0.0, (n - 1) as f64) as usize;
                let at: [usize; 4] = std::array::from_fn(|i| inside(left + i as f64 - 1.0, width));
                *value = (0..4)
                    .map(|i| {
                        let line = &source[inside(top + i as f64 - 1.0, height) * width..][..width];
                        rows[i] * (0..4).map(|j| columns[j] * line[at[j]]).sum::<f32>()
                    })
                    .sum();
            }
        },
    );
    out
}

/// Weights of four samples for a position `t` between the second and the third.
fn cubic(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        -0.5 * t3 + t2 - 0.5 * t,
        1.5 * t3 - 2.5 * t2 + 1.0,
        -1.5 * t3 + 2.0 * t2 + 0.5 * t,
        0.5 * t3 - 0.5 * t2,
    ]
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
