//! Variance stabilisation: transforms counts to values with Gaussian noise of level 1.

use lobcod::Signal;

/// The generalised Anscombe transform of samples `gain * count + gaussian(sigma)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anscombe {
    pub(super) gain: f64,
    pub(super) sigma: f64,
}

impl Anscombe {
    /// `2 sqrt(x / gain + 3/8 + (sigma / gain)^2)`, 0 where the radicand is negative.
    pub(super) fn forward(&self, image: &Signal<f32>) -> Signal<f32> {
        let read_out = (self.sigma / self.gain).powi(2);
        self.map(image, |x| 2.0 * (x / self.gain + 0.375 + read_out).max(0.0).sqrt())
    }

    /// The exact unbiased inverse (unlike the algebraic one, which is biased for low counts): the
    /// closed form of Makitalo and Foi, minus the variance of the read-out noise.
    pub(super) fn inverse(&self, image: &Signal<f32>) -> Signal<f32> {
        let read_out = (self.sigma / self.gain).powi(2);
        let least = 2.0 * (0.375 + read_out).sqrt();
        self.map(image, |d| {
            let (d, r) = (d.max(least), 1.5f64.sqrt());
            let counts =
                0.25 * d * d + 0.25 * r / d - 1.375 / (d * d) + 0.625 * r / (d * d * d) - 0.125;
            self.gain * (counts - read_out).max(0.0)
        })
    }

    fn map(&self, image: &Signal<f32>, f: impl Fn(f64) -> f64) -> Signal<f32> {
        let mut out = image.clone();
        out.data_mut().iter_mut().for_each(|x| *x = f(f64::from(*x)) as f32);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::Extent;

    /// Mean of the transform of a Poisson count, summed over its distribution.
    fn mean_of_transform(mean: f64) -> f64 {
        let mut probability = (-mean).exp();
        let mut sum = 0.0;
        for count in 0..400 {
            sum += probability * 2.0 * (f64::from(count) + 0.375).sqrt();
            probability *= mean / f64::from(count + 1);
        }
        sum
    }

    #[test]
    fn the_inverse_has_no_bias_and_counts_few_photons_right() {
        for mean in [0.5, 1.0, 2.0, 5.0, 20.0, 100.0] {
            let stable = Signal::from_planar(
                Extent::new(&[1]).unwrap(),
                1,
                vec![mean_of_transform(mean) as f32],
            )
            .unwrap();
            let back = Anscombe { gain: 1.0, sigma: 0.0 }.inverse(&stable).data()[0];
            assert!((f64::from(back) - mean).abs() < 0.02 + 1e-3 * mean, "{mean}: {back}");
            let naive = (mean_of_transform(mean) / 2.0).powi(2) - 0.375;
            assert!(
                mean > 50.0 || (naive - mean).abs() > 3.0 * (f64::from(back) - mean).abs(),
                "{mean}: not better than {naive}"
            );
        }
    }

    #[test]
    fn gain_and_read_out_scale() {
        let many = Signal::from_planar(Extent::new(&[1]).unwrap(), 1, vec![5000.0]).unwrap();
        let transform = Anscombe { gain: 2.5, sigma: 30.0 };
        let back = transform.inverse(&transform.forward(&many)).data()[0];
        assert!((back - 5000.0).abs() < 2.0, "{back}");
    }
}
