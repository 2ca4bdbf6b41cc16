//! The gradient of the energy of a thin plate.

use super::TENSION;
use lobcod::geometry::index;
use std::ops::Range;

/// Samples processed side by side.
const LANES: usize = 8;

/// Half the gradient of the energy of first differences and second differences along all pairs of
/// axes.
pub struct Stencil {
    size: [usize; 3],
    strides: [usize; 3],
    /// Stencil away from all edges: offsets and factors.
    taps: Vec<(isize, f64)>,
}

impl Stencil {
    pub fn new(size: [usize; 3]) -> Self {
        let strides = [size[1] * size[2], size[2], 1];
        let mut middle = 0.0;
        let mut taps = Vec::new();
        for a in (0..3).filter(|&a| size[a] > 1) {
            let step = strides[a] as isize;
            let others = (0..3).filter(|&b| b != a && size[b] > 1);
            let near = -TENSION - 4.0 - 4.0 * others.clone().count() as f64;
            middle += 2.0 * TENSION + 6.0;
            taps.extend([(-step, near), (step, near), (-2 * step, 1.0), (2 * step, 1.0)]);
            for b in others.filter(|&b| b > a) {
                let other = strides[b] as isize;
                middle += 8.0;
                taps.extend([
                    (-step - other, 2.0),
                    (-step + other, 2.0),
                    (step - other, 2.0),
                    (step + other, 2.0),
                ]);
            }
        }
        taps.push((0, middle));
        Self { size, strides, taps }
    }

    /// Samples of a row, rows of the signal, and rows per index of the first axis.
    pub fn rows(&self) -> (usize, usize, usize) {
        let [depth, height, width] = self.size;
        (width, depth * height, if depth > 1 { height } else { 1 })
    }

    /// The slope at some columns of a row. `window` holds the samples from `start` on, including
    /// two rows (and slices) around it.
    #[inline(always)]
    pub fn bend_row(
        &self,
        window: &[f64],
        start: usize,
        row: usize,
        columns: Range<usize>,
        out: &mut [f64],
    ) {
        let [depth, height, width] = self.size;
        let far =
            |at: usize, length: usize| length == 1 || (2..length.saturating_sub(2)).contains(&at);
        let z = row / height;
        let y = row % height;
        let first = row * width;
        // A row of one sample has no second differences.
        let inner = if !far(z, depth) || !far(y, height) {
            0..0
        } else if width == 1 {
            0..1
        } else {
            2.min(width)..width.saturating_sub(2).max(2.min(width))
        };
        let clamp = |x: usize| x.clamp(columns.start, columns.end);
        let inner = clamp(inner.start)..clamp(inner.end);
        let place = inner.start - columns.start..inner.end - columns.start;
        let (chunks, rest) = out[place].as_chunks_mut::<LANES>();
        let mut from = first + inner.start - start;
        for chunk in chunks {
            let mut sums = [0.0; LANES];
            for &(away, factor) in &self.taps {
                let near = &window[from.wrapping_add_signed(away)..][..LANES];
                sums.iter_mut().zip(near).for_each(|(sum, x)| *sum += factor * x);
            }
            *chunk = sums;
            from += LANES;
        }
        for (i, out) in rest.iter_mut().enumerate() {
            *out = self
                .taps
                .iter()
                .map(|&(away, factor)| factor * window[(from + i).wrapping_add_signed(away)])
                .sum();
        }
        for x in (columns.start..inner.start).chain(inner.end..columns.end) {
            out[x - columns.start] = self.slope_near_edge([z, y, x], window, start);
        }
    }

    /// The same for one sample at any location.
    fn slope_near_edge(&self, at: [usize; 3], samples: &[f64], start: usize) -> f64 {
        let (size, strides) = (self.size, self.strides);
        let here = index(at, size) - start;
        let mut sum = 0.0;
        for a in 0..3 {
            let (n, s) = (size[a], strides[a]);
            if at[a] + 1 < n {
                sum += TENSION * (samples[here] - samples[here + s]);
            }
            if at[a] > 0 {
                sum += TENSION * (samples[here] - samples[here - s]);
            }
            for (back, sign) in [(0, 1.0), (1, -2.0), (2, 1.0)] {
                if at[a] >= back && at[a] - back + 2 < n {
                    let i = here - back * s;
                    sum += sign * (samples[i] - 2.0 * samples[i + s] + samples[i + 2 * s]);
                }
            }
            for b in a + 1..3 {
                for (back_a, back_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    if at[a] >= back_a
                        && at[a] - back_a + 1 < n
                        && at[b] >= back_b
                        && at[b] - back_b + 1 < size[b]
                    {
                        let (i, t) = (here - back_a * s - back_b * strides[b], strides[b]);
                        let sign = if back_a == back_b { 2.0 } else { -2.0 };
                        sum += sign
                            * (samples[i] - samples[i + s] - samples[i + t] + samples[i + s + t]);
                    }
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::geometry::cells;

    fn bend(size: [usize; 3], samples: &[f64], slope: &mut [f64]) {
        let stencil = Stencil::new(size);
        slope
            .chunks_exact_mut(size[2])
            .enumerate()
            .for_each(|(row, slope)| stencil.bend_row(samples, 0, row, 0..size[2], slope));
    }

    /// The energy by its definition.
    fn energy(size: [usize; 3], samples: &[f64]) -> f64 {
        let strides = [size[1] * size[2], size[2], 1];
        let mut sum = 0.0;
        for (i, at) in cells(size).enumerate() {
            for a in 0..3 {
                if at[a] + 1 < size[a] {
                    sum += TENSION * (samples[i] - samples[i + strides[a]]).powi(2);
                }
                for b in 0..3 {
                    let inside = if a == b {
                        at[a] + 2 < size[a]
                    } else {
                        at[a] + 1 < size[a] && at[b] + 1 < size[b]
                    };
                    if inside {
                        let (s, t) = (strides[a], strides[b]);
                        sum += (samples[i] - samples[i + s] - samples[i + t] + samples[i + s + t])
                            .powi(2);
                    }
                }
            }
        }
        sum
    }

    #[test]
    fn slopes_are_those_of_the_energy() {
        for size in [
            [1, 1, 1],
            [1, 1, 2],
            [1, 1, 9],
            [1, 2, 3],
            [1, 7, 6],
            [1, 3, 11],
            [4, 5, 6],
            [6, 1, 7],
            [7, 6, 5],
            [1, 9, 1],
        ] {
            let samples: Vec<f64> = (0..size.iter().product::<usize>())
                .map(|i| ((i * i + 7 * i) % 13) as f64)
                .collect();
            let mut slope = vec![f64::NAN; samples.len()];
            bend(size, &samples, &mut slope);
            for (i, slope) in slope.iter().enumerate() {
                let moved = |by: f64| {
                    let mut samples = samples.clone();
                    samples[i] += by;
                    energy(size, &samples)
                };
                // Exact for a quadratic.
                let difference = (moved(1.0) - moved(-1.0)) / 4.0;
                assert!(
                    (difference - slope).abs() < 1e-9,
                    "{size:?}: {slope} at {i}, but finite differences give {difference}"
                );
            }
        }
    }
}
