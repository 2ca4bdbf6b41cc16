//! Smooth interpolation: the thin plate through the known samples.
//!
//! Of all signals with the known samples, the one with the least energy of second differences: cubic splines along one axis, a bent
//! plate along two. A little tension (energy of first differences) keeps it from swinging up or down in wide holes. It is found by
//! conjugate gradients on the hidden samples, started from the plate through a signal of half the size, so that holes of any width are
//! spanned.

use crate::observe::Stop;
use crate::real::Real;
use crate::signal::Signal;

/// Tension: holes wider than one over its root are spanned by a membrane rather than a plate.
const TENSION: f64 = 1.0 / 8.0;
/// Fall of the slope that ends the iterations of a size, and iterations at most.
const FALL: f64 = 1e-3;
const ITERATIONS: usize = 300;
/// Signals of no more samples than this are not halved.
const SMALL: usize = 16;

/// The plate through the samples whose weight is not 0; every channel must have one. When it is time to stop, as smooth as it is by then.
pub(super) fn thin_plate<T: Real>(signal: &Signal<T>, weights: &[T], stop: &Stop) -> Signal<T> {
    let extent = signal.extent();
    let mut filled = signal.clone();
    for (channel, weights) in filled.data_mut().chunks_exact_mut(extent.volume()).zip(weights.chunks_exact(extent.volume())) {
        let mut plate = Plate {
            size: extent.padded(),
            hidden: weights.iter().map(|&w| w == T::ZERO).collect(),
            samples: channel.iter().map(|x| x.to_f64()).collect(),
        };
        plate.fill(stop);
        let filled = channel.iter_mut().zip(&plate.samples).zip(&plate.hidden).filter(|(_, hidden)| **hidden);
        filled.for_each(|((x, s), _)| *x = T::from_f64(*s));
    }
    filled
}

/// One channel: depth, height and width, which samples are hidden, and all samples.
struct Plate {
    size: [usize; 3],
    hidden: Vec<bool>,
    samples: Vec<f64>,
}

impl Plate {
    /// Fills the hidden samples.
    fn fill(&mut self, stop: &Stop) {
        if !self.hidden.contains(&true) {
            return;
        }
        self.start(stop);
        if stop.is_due() {
            return;
        }
        let stencil = Stencil::new(self.size);
        let mut slope = vec![0.0; self.samples.len()];
        let mut energy = 0.0;
        stencil.bend(&self.samples, &mut slope, |i, slope| {
            *slope = if self.hidden[i] { *slope } else { 0.0 };
            energy += *slope * *slope;
        });
        let mut descent: Vec<f64> = slope.iter().map(|s| -s).collect();
        let mut bent = vec![0.0; slope.len()];
        let least = FALL * FALL * energy;
        for _ in 0..ITERATIONS {
            if energy <= least || stop.is_due() {
                break;
            }
            let mut along = 0.0;
            stencil.bend(&descent, &mut bent, |i, bent| {
                *bent = if self.hidden[i] { *bent } else { 0.0 };
                along += descent[i] * *bent;
            });
            let step = energy / along;
            if !step.is_finite() {
                break;
            }
            let before = std::mem::replace(&mut energy, 0.0);
            for (((x, d), s), b) in self.samples.iter_mut().zip(&descent).zip(&mut slope).zip(&bent) {
                *x += step * d;
                *s += step * b;
                energy += *s * *s;
            }
            descent.iter_mut().zip(&slope).for_each(|(d, s)| *d = energy / before * *d - s);
        }
    }

    /// First values of the hidden samples: the plate through means of blocks of two along every axis.
    fn start(&mut self, stop: &Stop) {
        let known = || self.samples.iter().zip(&self.hidden).filter(|(_, hidden)| !**hidden).map(|(x, _)| *x);
        let mean = known().sum::<f64>() / known().count() as f64;
        if self.samples.len() <= SMALL {
            self.samples.iter_mut().zip(&self.hidden).filter(|(_, hidden)| **hidden).for_each(|(x, _)| *x = mean);
            return;
        }
        let half = self.size.map(|n| n.div_ceil(2));
        let mut coarse = Plate { size: half, hidden: Vec::new(), samples: vec![0.0; half.iter().product()] };
        let mut counts = vec![0.0; coarse.samples.len()];
        let size = self.size;
        each(size, |i, at| {
            if !self.hidden[i] {
                let block = index(half, at.map(|c| c / 2));
                coarse.samples[block] += self.samples[i];
                counts[block] += 1.0;
            }
        });
        coarse.hidden = counts.iter().map(|&n| n == 0.0).collect();
        coarse.samples.iter_mut().zip(&counts).for_each(|(x, n)| *x /= f64::max(*n, 1.0));
        coarse.fill(stop);
        each(size, |i, at| {
            if self.hidden[i] {
                self.samples[i] = coarse.between(at);
            }
        });
    }

    /// Linear interpolation at a sample of the signal of twice the size.
    fn between(&self, at: [usize; 3]) -> f64 {
        let mut sum = 0.0;
        for corner in 0..8 {
            let mut weight = 1.0;
            let mut place = [0; 3];
            for axis in 0..3 {
                let near = at[axis] / 2;
                let far = if at[axis] % 2 == 1 { (near + 1).min(self.size[axis] - 1) } else { near.saturating_sub(1) };
                let take_far = corner >> axis & 1 == 1;
                place[axis] = if take_far { far } else { near };
                weight *= if take_far { 0.25 } else { 0.75 };
            }
            sum += weight * self.samples[index(self.size, place)];
        }
        sum
    }
}

fn index(size: [usize; 3], at: [usize; 3]) -> usize {
    (at[0] * size[1] + at[1]) * size[2] + at[2]
}

fn each(size: [usize; 3], mut work: impl FnMut(usize, [usize; 3])) {
    let mut i = 0;
    for z in 0..size[0] {
        for y in 0..size[1] {
            for x in 0..size[2] {
                work(i, [z, y, x]);
                i += 1;
            }
        }
    }
}

/// Half the slope of the energy: first differences along every axis, second differences along every pair of axes, and their adjoints.
struct Stencil {
    size: [usize; 3],
    strides: [usize; 3],
    /// What a sample away from all edges gets of those around it: how far away each is, and its share.
    taps: Vec<(isize, f64)>,
}

impl Stencil {
    fn new(size: [usize; 3]) -> Self {
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
                let beside = strides[b] as isize;
                middle += 8.0;
                taps.extend([(-step - beside, 2.0), (-step + beside, 2.0), (step - beside, 2.0), (step + beside, 2.0)]);
            }
        }
        taps.push((0, middle));
        Self { size, strides, taps }
    }

    /// Calls `then` for every sample with its slope.
    fn bend(&self, samples: &[f64], out: &mut [f64], mut then: impl FnMut(usize, &mut f64)) {
        let [depth, height, width] = self.size;
        let far = |at: usize, length: usize| length == 1 || (2..length.saturating_sub(2)).contains(&at);
        for (row, line) in out.chunks_exact_mut(width).enumerate() {
            let (z, y, first) = (row / height, row % height, row * width);
            // Along a row of one sample there is nothing to bend.
            let inner = if !far(z, depth) || !far(y, height) {
                0..0
            } else if width == 1 {
                0..1
            } else {
                2.min(width)..width.saturating_sub(2).max(2.min(width))
            };
            line[inner.clone()].fill(0.0);
            for &(away, share) in &self.taps {
                let from = (first + inner.start).wrapping_add_signed(away);
                let near = if inner.is_empty() { &[] } else { &samples[from..from + inner.len()] };
                line[inner.clone()].iter_mut().zip(near).for_each(|(out, x)| *out += share * x);
            }
            for x in (0..inner.start).chain(inner.end..width) {
                line[x] = self.slope_near_edge([z, y, x], samples);
            }
            line.iter_mut().enumerate().for_each(|(x, slope)| then(first + x, slope));
        }
    }

    /// The same for one sample, wherever it is.
    fn slope_near_edge(&self, at: [usize; 3], samples: &[f64]) -> f64 {
        let (size, strides) = (self.size, self.strides);
        let here = index(size, at);
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
                    if at[a] >= back_a && at[a] - back_a + 1 < n && at[b] >= back_b && at[b] - back_b + 1 < size[b] {
                        let (i, t) = (here - back_a * s - back_b * strides[b], strides[b]);
                        let sign = if back_a == back_b { 2.0 } else { -2.0 };
                        sum += sign * (samples[i] - samples[i + s] - samples[i + t] + samples[i + s + t]);
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
    use crate::extent::Extent;

    fn plate(axes: &[usize], value: impl Fn([f64; 3]) -> f64, known: impl Fn(usize) -> bool) -> (Signal<f64>, Signal<f64>) {
        let extent = Extent::new(axes).unwrap();
        let mut truth = Signal::zeros(extent, 1);
        each(extent.padded(), |i, at| truth.data_mut()[i] = value(at.map(|c| c as f64)));
        let weights: Vec<f64> = (0..extent.volume()).map(|i| f64::from(u8::from(known(i)))).collect();
        let mut damaged = truth.clone();
        damaged.data_mut().iter_mut().zip(&weights).filter(|(_, w)| **w == 0.0).for_each(|(x, _)| *x = 1e6);
        (thin_plate(&damaged, &weights, &Stop::default()), truth)
    }

    #[test]
    fn slopes_go_on_through_holes() {
        for axes in [&[60][..], &[17, 23], &[7, 9, 8]] {
            let (filled, truth) = plate(axes, |[z, y, x]| 3.0 + 2.0 * x - y + 0.5 * z, |i| i % 5 == 2 || i % 7 == 3);
            let size = filled.extent().padded();
            each(size, |i, at| {
                // Beyond the outermost known samples tension lets slopes fade.
                let inside = (0..3).all(|a| size[a] == 1 || (3..size[a].saturating_sub(3)).contains(&at[a]));
                let off = (filled.data()[i] - truth.data()[i]).abs();
                assert!(off < if inside { 0.3 } else { 2.5 }, "{axes:?}: off by {off} at {at:?}");
            });
        }
    }

    #[test]
    fn the_energy_is_stationary_at_every_hidden_sample() {
        let known = |i: usize| (i * i + 3 * i) % 11 < 4;
        let (filled, _) = plate(&[24, 31], |[_, y, x]| (0.3 * x).sin() * 40.0 + (0.2 * y * x).cos() * 9.0, known);
        let mut slope = vec![0.0; filled.data().len()];
        Stencil::new([1, 24, 31]).bend(filled.data(), &mut slope, |_, _| ());
        let worst = (0..slope.len()).filter(|i| !known(*i)).map(|i| slope[i].abs()).fold(0.0, f64::max);
        assert!(worst < 0.1, "a slope of {worst} is left");
    }

    /// The energy, as it is defined.
    fn energy(size: [usize; 3], samples: &[f64]) -> f64 {
        let strides = [size[1] * size[2], size[2], 1];
        let mut sum = 0.0;
        each(size, |i, at| {
            for a in 0..3 {
                if at[a] + 1 < size[a] {
                    sum += TENSION * (samples[i] - samples[i + strides[a]]).powi(2);
                }
                for b in 0..3 {
                    let inside = if a == b { at[a] + 2 < size[a] } else { at[a] + 1 < size[a] && at[b] + 1 < size[b] };
                    if inside {
                        let (s, t) = (strides[a], strides[b]);
                        sum += (samples[i] - samples[i + s] - samples[i + t] + samples[i + s + t]).powi(2);
                    }
                }
            }
        });
        sum
    }

    #[test]
    fn slopes_are_those_of_the_energy() {
        for size in
            [[1, 1, 1], [1, 1, 2], [1, 1, 9], [1, 2, 3], [1, 7, 6], [1, 3, 11], [4, 5, 6], [6, 1, 7], [7, 6, 5], [1, 9, 1]]
        {
            let samples: Vec<f64> = (0..size.iter().product::<usize>()).map(|i| ((i * i + 7 * i) % 13) as f64).collect();
            let mut slope = vec![f64::NAN; samples.len()];
            Stencil::new(size).bend(&samples, &mut slope, |_, _| ());
            for (i, slope) in slope.iter().enumerate() {
                let moved = |by: f64| {
                    let mut samples = samples.clone();
                    samples[i] += by;
                    energy(size, &samples)
                };
                // Exact for a quadratic.
                let difference = (moved(1.0) - moved(-1.0)) / 4.0;
                assert!((difference - slope).abs() < 1e-9, "{size:?}: {slope} at {i}, the energy says {difference}");
            }
        }
    }

    #[test]
    fn a_hole_of_half_the_picture_and_a_single_known_sample_are_filled_calmly() {
        let (filled, _) = plate(&[64, 64], |[_, y, _]| y, |i| i % 64 < 16 || i % 64 >= 48);
        assert!(filled.data().iter().all(|x| (-1.0..64.0).contains(x)));
        let (filled, _) = plate(&[9, 9], |_| 7.0, |i| i == 40);
        assert!(filled.data().iter().all(|x| (x - 7.0).abs() < 1e-9));
    }
}
