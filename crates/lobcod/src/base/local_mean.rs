//! Local mean: a box average of the size of an atom.

use super::{along_axis, observed_channel};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::parallel;
use crate::real::Real;
use crate::signal::Signal;

/// The mean over a box around every sample, channel by channel.
///
/// The box around `i` covers `i - before ..= i + after` along an axis with a window of `n` samples:
/// `after = (n - 1) / 2`, `before = n - 1 - after`. Beyond the edges the signal is reflected
/// without repeating the edge sample.
///
/// With a mask the mean is `box(M I) / box(M)`; samples of weight 0 are never read. Holes larger
/// than the window are filled from their rim: the window doubles until every sample has a mean, and
/// a last box mean softens the seams. A channel without known samples gets 0.
///
/// Cost: linear in the samples for every window (times the logarithm of the largest hole). Memory:
/// two numbers per sample, four if there are large holes.
pub fn local_mean<T: Real>(
    signal: &Signal<T>,
    mask: Option<&Mask<T>>,
    window: Extent,
) -> Result<Signal<T>> {
    if window.rank() != signal.extent().rank() {
        return Err(Error::Shape(format!(
            "a {window} window does not fit a {} signal; they need as many axes",
            signal.extent()
        )));
    }
    if let Some(mask) = mask {
        mask.check_fits(signal)?;
    }
    let (size, window) = (signal.extent().padded(), window.padded());
    let mut data = Vec::with_capacity(signal.data().len());
    for c in 0..signal.channels() {
        let mut mean = observed_channel(signal, mask, c)?;
        match mask {
            None => {
                box_sum(&mut mean, size, window);
                let count = window.iter().product::<usize>() as f64;
                mean.iter_mut().for_each(|x| *x /= count);
            }
            Some(mask) => {
                let mut weight: Vec<f64> = mask.channel(c).iter().map(|w| w.to_f64()).collect();
                mean.iter_mut().zip(&weight).for_each(|(x, w)| *x *= w);
                normalised_mean(&mut mean, &mut weight, size, window);
                fill_large_holes(&mut mean, &weight, size, window);
            }
        }
        data.extend(mean.into_iter().map(T::from_f64));
    }
    Signal::from_planar(signal.extent(), signal.channels(), data)
}

/// Mean over a `window` x `window` box around every sample of a plane, in place; see
/// [`local_mean`].
pub fn box_mean(plane: &mut [f32], size: [usize; 2], window: usize, threads: usize) {
    let [height, width] = size;
    let gain = 1.0 / (window as f32 * window as f32);
    parallel::chunks(
        plane,
        width,
        threads,
        || WindowSum::new(width, window),
        |_, row, sum| sum.apply(row),
    );
    // Columns are summed in transposed bands.
    let mut transposed = vec![0.0f32; plane.len()];
    let flat = &*plane;
    parallel::chunks(
        &mut transposed,
        BAND * height,
        threads,
        || WindowSum::new(height, window),
        |i, band, sum| {
            for (j, column) in band.chunks_exact_mut(height).enumerate() {
                column
                    .iter_mut()
                    .enumerate()
                    .for_each(|(y, x)| *x = flat[y * width + BAND * i + j]);
                sum.apply(column);
            }
        },
    );
    parallel::chunks(
        plane,
        BAND * width,
        threads,
        || (),
        |i, rows, ()| {
            for x in 0..width {
                for (j, row) in rows.chunks_exact_mut(width).enumerate() {
                    row[x] = gain * transposed[x * height + BAND * i + j];
                }
            }
        },
    );
}

/// Columns summed together by [`box_mean`].
const BAND: usize = 16;

/// `sum <- box(sum) / box(weight)`, 0 where the weight is 0; `weight <- box(weight)`.
fn normalised_mean(sum: &mut [f64], weight: &mut [f64], size: [usize; 3], window: [usize; 3]) {
    box_sum(sum, size, window);
    box_sum(weight, size, window);
    sum.iter_mut().zip(weight.iter()).for_each(|(x, &w)| *x = if w > 0.0 { *x / w } else { 0.0 });
}

/// Fills samples without a mean (`weight` 0) from the rim of their hole inwards.
fn fill_large_holes(mean: &mut [f64], weight: &[f64], size: [usize; 3], window: [usize; 3]) {
    let mut defined: Vec<f64> = weight.iter().map(|&w| f64::from(w > 0.0)).collect();
    let hole: Vec<usize> = (0..mean.len()).filter(|&i| defined[i] == 0.0).collect();
    if hole.is_empty() || hole.len() == mean.len() {
        return;
    }
    let mut wider = window;
    let mut open = hole.clone();
    while !open.is_empty() {
        // Twice the length spans the axis from any sample, so the loop ends.
        for a in 0..3 {
            wider[a] = if size[a] == 1 { 1 } else { (2 * wider[a]).min(2 * size[a]) };
        }
        let (mut candidate, mut known) = (mean.to_vec(), defined.clone());
        normalised_mean(&mut candidate, &mut known, size, wider);
        open.retain(|&i| {
            if known[i] > 0.0 {
                (mean[i], defined[i]) = (candidate[i], 1.0);
            }
            known[i] == 0.0
        });
    }
    let mut soft = mean.to_vec();
    box_sum(&mut soft, size, window);
    let count = window.iter().product::<usize>() as f64;
    hole.into_iter().for_each(|i| mean[i] = soft[i] / count);
}

/// Sums over the box around every sample, one axis at a time.
fn box_sum(data: &mut [f64], size: [usize; 3], window: [usize; 3]) {
    for axis in (0..3).filter(|&a| window[a] > 1) {
        let mut line = WindowSum::new(size[axis], window[axis]);
        along_axis(data, size, axis, |samples| line.apply(samples));
    }
}

/// Sums over a sliding window of one line, in time independent of the window.
///
/// The reflected line is split into blocks as long as the window, so a window is the end of one
/// block and the start of the next. Nothing is subtracted: the sum over a hole is exactly 0.
struct WindowSum<T> {
    window: usize,
    /// Index of the sample at each position of the reflected line.
    source: Vec<usize>,
    from_block_start: Vec<T>,
    to_block_end: Vec<T>,
}

impl<T: Real> WindowSum<T> {
    fn new(length: usize, window: usize) -> Self {
        let before = window - 1 - (window - 1) / 2;
        let source: Vec<usize> =
            (0..length + window - 1).map(|i| reflect(i as i64 - before as i64, length)).collect();
        let zeros = vec![T::ZERO; source.len()];
        Self { window, source, from_block_start: zeros.clone(), to_block_end: zeros }
    }

    fn apply(&mut self, samples: &mut [T]) {
        for start in (0..self.source.len()).step_by(self.window) {
            let block = start..(start + self.window).min(self.source.len());
            let mut sum = T::ZERO;
            for i in block.clone() {
                sum += samples[self.source[i]];
                self.from_block_start[i] = sum;
            }
            sum = T::ZERO;
            for i in block.rev() {
                sum += samples[self.source[i]];
                self.to_block_end[i] = sum;
            }
        }
        for (i, sample) in samples.iter_mut().enumerate() {
            let tail = if i % self.window == 0 {
                T::ZERO
            } else {
                self.from_block_start[i + self.window - 1]
            };
            *sample = self.to_block_end[i] + tail;
        }
    }
}

/// Index of position `i` of an infinite reflected line: `... 2 1 0 1 2 ... n-2 n-1 n-2 ...`.
fn reflect(i: i64, length: usize) -> usize {
    let last = length as i64 - 1;
    if last == 0 {
        return 0;
    }
    let turn = i.rem_euclid(2 * last);
    turn.min(2 * last - turn) as usize
}
