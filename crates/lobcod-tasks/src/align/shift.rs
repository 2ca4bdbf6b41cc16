//! Phase correlation: the shift between two images.

use lobcod::Signal;
use rustdct::rustfft::{Fft, FftPlanner, num_complex::Complex};
use std::f64::consts::PI;
use std::sync::Arc;

/// Frequencies above this fraction of the highest get little weight: they are noise.
const SOFT: f64 = 0.25;

/// Shift (down, right) from `before` to `frame`, to about half a sample.
///
/// Only the phase of the cross spectrum is used, so brightness does not matter; a window suppresses
/// the edges.
pub(super) fn phase_correlation(before: &Signal<f32>, frame: &Signal<f32>) -> [f64; 2] {
    let [_, height, width] = before.extent().padded();
    let mut planner = FftPlanner::new();
    let (a, b) = (spectrum(before, &mut planner), spectrum(frame, &mut planner));
    let mut cross: Vec<Complex<f64>> = a.iter().zip(&b).map(|(a, b)| a.conj() * b).collect();
    for (i, value) in cross.iter_mut().enumerate() {
        let frequency = |k: usize, n: usize| k.min(n - k) as f64 / n as f64 / SOFT;
        let distance = frequency(i / width, height).hypot(frequency(i % width, width));
        let size = value.norm();
        *value *= if size > 0.0 { (-distance * distance).exp() / size } else { 0.0 };
    }
    transform(&mut cross, [height, width], &mut planner, true);
    let peak = (0..cross.len()).max_by(|&i, &j| cross[i].re.total_cmp(&cross[j].re)).unwrap_or(0);
    let signed = |k: usize, n: usize| if 2 * k > n { k as f64 - n as f64 } else { k as f64 };
    [signed(peak / width, height), signed(peak % width, width)]
}

fn spectrum(image: &Signal<f32>, planner: &mut FftPlanner<f64>) -> Vec<Complex<f64>> {
    let [_, height, width] = image.extent().padded();
    let mean = image.data().iter().map(|&x| f64::from(x)).sum::<f64>() / image.data().len() as f64;
    let bell = |k: usize, n: usize| (PI * (k as f64 + 0.5) / n as f64).sin().powi(2);
    let sample = |(i, &x): (usize, &f32)| {
        Complex::new((f64::from(x) - mean) * bell(i / width, height) * bell(i % width, width), 0.0)
    };
    let mut data: Vec<Complex<f64>> = image.data().iter().enumerate().map(sample).collect();
    transform(&mut data, [height, width], planner, false);
    data
}

/// Fourier transform along both axes.
fn transform(
    data: &mut [Complex<f64>],
    [height, width]: [usize; 2],
    planner: &mut FftPlanner<f64>,
    inverse: bool,
) {
    let mut plan = |n: usize| -> Arc<dyn Fft<f64>> {
        if inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) }
    };
    let (across, down) = (plan(width), plan(height));
    across.process(data);
    let mut column = vec![Complex::default(); height];
    for x in 0..width {
        column.iter_mut().enumerate().for_each(|(y, c)| *c = data[y * width + x]);
        down.process(&mut column);
        column.iter().enumerate().for_each(|(y, c)| data[y * width + x] = *c);
    }
}
