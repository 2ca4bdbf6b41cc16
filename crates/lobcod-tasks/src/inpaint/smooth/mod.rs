//! Smooth interpolation: the thin plate through the known samples.
//!
//! It minimises the energy of second differences, with a little tension (first differences) against
//! overshoot in wide holes: cubic splines in 1-D, a bent plate in 2-D. Conjugate gradients start
//! from the plate at half the size, so that holes of any width are spanned.

mod descent;
mod stencil;

use descent::settle;
use lobcod::geometry::{cells, index};
use lobcod::run::Stop;
use lobcod::{Real, Signal};
use stencil::Stencil;

/// Tension: holes wider than the inverse of its root are spanned by a membrane rather than a plate.
const TENSION: f64 = 1.0 / 8.0;
/// Signals with at most this many samples are not halved.
const SMALL: usize = 16;

/// The plate through the samples of non-zero weight; every channel must have one. If stopped, it
/// returns the current iterate.
pub fn thin_plate<T: Real>(
    signal: &Signal<T>,
    weights: &[T],
    threads: usize,
    stop: &Stop,
) -> Signal<T> {
    let extent = signal.extent();
    let mut filled = signal.clone();
    for (channel, weights) in filled
        .data_mut()
        .chunks_exact_mut(extent.volume())
        .zip(weights.chunks_exact(extent.volume()))
    {
        let mut plate = Plate {
            size: extent.padded(),
            hidden: weights.iter().map(|&w| w == T::ZERO).collect(),
            samples: channel.iter().map(|x| x.to_f64()).collect(),
        };
        plate.fill(threads, stop);
        let filled = channel
            .iter_mut()
            .zip(&plate.samples)
            .zip(&plate.hidden)
            .filter(|(_, hidden)| **hidden);
        filled.for_each(|((x, s), _)| *x = T::from_f64(*s));
    }
    filled
}

/// One channel: depth, height and width, which samples are missing, and all samples.
struct Plate {
    size: [usize; 3],
    hidden: Vec<bool>,
    samples: Vec<f64>,
}

impl Plate {
    /// Fills the missing samples.
    fn fill(&mut self, threads: usize, stop: &Stop) {
        if !self.hidden.contains(&true) {
            return;
        }
        self.start(threads, stop);
        if stop.is_due() {
            return;
        }
        settle(&Stencil::new(self.size), &mut self.samples, &self.hidden, threads, stop);
    }

    /// Initial values of the missing samples: the plate through means of blocks of two.
    fn start(&mut self, threads: usize, stop: &Stop) {
        let known = || {
            self.samples.iter().zip(&self.hidden).filter(|(_, hidden)| !**hidden).map(|(x, _)| *x)
        };
        let mean = known().sum::<f64>() / known().count() as f64;
        if self.samples.len() <= SMALL {
            self.samples
                .iter_mut()
                .zip(&self.hidden)
                .filter(|(_, hidden)| **hidden)
                .for_each(|(x, _)| *x = mean);
            return;
        }
        let half = self.size.map(|n| n.div_ceil(2));
        let mut coarse =
            Plate { size: half, hidden: Vec::new(), samples: vec![0.0; half.iter().product()] };
        let mut counts = vec![0.0; coarse.samples.len()];
        for (i, at) in cells(self.size).enumerate().filter(|(i, _)| !self.hidden[*i]) {
            let block = index(at.map(|c| c / 2), half);
            coarse.samples[block] += self.samples[i];
            counts[block] += 1.0;
        }
        coarse.hidden = counts.iter().map(|&n| n == 0.0).collect();
        coarse.samples.iter_mut().zip(&counts).for_each(|(x, n)| *x /= f64::max(*n, 1.0));
        coarse.fill(threads, stop);
        for (i, at) in cells(self.size).enumerate().filter(|(i, _)| self.hidden[*i]) {
            self.samples[i] = coarse.between(at);
        }
    }

    /// Linear interpolation at a sample of the signal of twice the size.
    fn between(&self, at: [usize; 3]) -> f64 {
        let mut sum = 0.0;
        for corner in 0..8 {
            let mut weight = 1.0;
            let mut place = [0; 3];
            for axis in 0..3 {
                let near = at[axis] / 2;
                let far = if at[axis] % 2 == 1 {
                    (near + 1).min(self.size[axis] - 1)
                } else {
                    near.saturating_sub(1)
                };
                let take_far = corner >> axis & 1 == 1;
                place[axis] = if take_far { far } else { near };
                weight *= if take_far { 0.25 } else { 0.75 };
            }
            sum += weight * self.samples[index(place, self.size)];
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::Extent;

    fn plate(
        axes: &[usize],
        value: impl Fn([f64; 3]) -> f64,
        known: impl Fn(usize) -> bool,
    ) -> (Signal<f64>, Signal<f64>) {
        let extent = Extent::new(axes).unwrap();
        let mut truth = Signal::zeros(extent, 1);
        truth
            .data_mut()
            .iter_mut()
            .zip(cells(extent.padded()))
            .for_each(|(x, at)| *x = value(at.map(|c| c as f64)));
        let weights: Vec<f64> =
            (0..extent.volume()).map(|i| f64::from(u8::from(known(i)))).collect();
        let mut damaged = truth.clone();
        damaged
            .data_mut()
            .iter_mut()
            .zip(&weights)
            .filter(|(_, w)| **w == 0.0)
            .for_each(|(x, _)| *x = 1e6);
        (thin_plate(&damaged, &weights, 1, &Stop::default()), truth)
    }

    #[test]
    fn slopes_continue_through_holes() {
        for axes in [&[60][..], &[17, 23], &[7, 9, 8]] {
            let (filled, truth) =
                plate(axes, |[z, y, x]| 3.0 + 2.0 * x - y + 0.5 * z, |i| i % 5 == 2 || i % 7 == 3);
            let size = filled.extent().padded();
            for (i, at) in cells(size).enumerate() {
                // Beyond the outermost known samples, tension reduces slopes.
                let inside =
                    (0..3).all(|a| size[a] == 1 || (3..size[a].saturating_sub(3)).contains(&at[a]));
                let off = (filled.data()[i] - truth.data()[i]).abs();
                assert!(off < if inside { 0.3 } else { 2.5 }, "{axes:?}: off by {off} at {at:?}");
            }
        }
    }

    #[test]
    fn the_energy_is_stationary_at_every_hidden_sample() {
        let known = |i: usize| (i * i + 3 * i) % 11 < 4;
        let (filled, _) =
            plate(&[24, 31], |[_, y, x]| (0.3 * x).sin() * 40.0 + (0.2 * y * x).cos() * 9.0, known);
        let mut slope = vec![0.0; filled.data().len()];
        let stencil = Stencil::new([1, 24, 31]);
        slope
            .chunks_exact_mut(31)
            .enumerate()
            .for_each(|(row, slope)| stencil.bend_row(filled.data(), 0, row, 0..31, slope));
        let worst =
            (0..slope.len()).filter(|i| !known(*i)).map(|i| slope[i].abs()).fold(0.0, f64::max);
        assert!(worst < 0.1, "a slope of {worst} remains");
    }

    #[test]
    fn distant_holes_of_a_row_are_filled_like_near_ones() {
        let hidden = |i: usize| matches!(i % 200, 3..=5 | 100..=107 | 199) || i == 12 * 200 + 60;
        let value = |[_, y, x]: [f64; 3]| (0.1 * x).sin() * 40.0 + (0.2 * y).cos() * 9.0;
        let (filled, truth) = plate(&[24, 200], value, |i| !hidden(i));
        let stencil = Stencil::new([1, 24, 200]);
        let mut slope = vec![0.0; 200];
        for row in 0..24 {
            stencil.bend_row(filled.data(), 0, row, 0..200, &mut slope);
            let at = |x: &usize| hidden(row * 200 + x);
            let worst = (0..200).filter(at).map(|x| slope[x].abs()).fold(0.0, f64::max);
            assert!(worst < 0.1, "a slope of {worst} remains in row {row}");
        }
        let known = |i: &usize| !hidden(*i);
        assert!((0..4800).filter(known).all(|i| filled.data()[i] == truth.data()[i]));
    }

    #[test]
    fn large_holes_are_filled_without_overshoot() {
        let (filled, _) = plate(&[64, 64], |[_, y, _]| y, |i| i % 64 < 16 || i % 64 >= 48);
        assert!(filled.data().iter().all(|x| (-1.0..64.0).contains(x)));
        let (filled, _) = plate(&[9, 9], |_| 7.0, |i| i == 40);
        assert!(filled.data().iter().all(|x| (x - 7.0).abs() < 1e-9));
    }

    #[test]
    fn the_plate_does_not_depend_on_the_number_of_threads() {
        for axes in [&[300, 250][..], &[40, 50, 60]] {
            let extent = Extent::new(axes).unwrap();
            let samples = (0..extent.volume()).map(|i| ((i * i) % 251) as f64).collect();
            let signal = Signal::from_planar(extent, 1, samples).unwrap();
            let weights: Vec<f64> =
                (0..extent.volume()).map(|i| f64::from(u8::from(i * 7 % 31 < 12))).collect();
            let plate = |threads: usize| thin_plate(&signal, &weights, threads, &Stop::default());
            let one = plate(1);
            for threads in [2, 3, 7] {
                assert_eq!(plate(threads), one, "{axes:?}, {threads} threads");
            }
        }
    }
}
