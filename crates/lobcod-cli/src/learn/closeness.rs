//! How close the reconstructions are to the pictures, from the data terms alone.

use lobcod::{Observed, Real};

/// Turns data terms into decibels.
///
/// The data term is half the squared error over the samples that are known, so `20 log10(peak sqrt(N) / ||r||)` needs nothing
/// else: `N` counts the known samples of all channels, and what is missing is left out on both sides.
pub struct Closeness {
    peak: f64,
    /// Known samples of every picture.
    samples: Vec<usize>,
}

impl Closeness {
    /// For these pictures, whose largest value is `peak`.
    pub fn new<T: Real>(observed: &[Observed<T>], peak: f64) -> Self {
        let known = |o: &Observed<T>| match &o.mask {
            None => o.signal.data().len(),
            Some(mask) => (0..o.signal.channels()).flat_map(|c| mask.channel(c)).filter(|w| **w > T::ZERO).count(),
        };
        Self { peak, samples: observed.iter().map(known).collect() }
    }

    /// PSNR of all pictures together; infinite where the error is 0.
    pub fn psnr_db(&self, data_term: f64) -> f64 {
        self.of(self.samples.iter().sum(), data_term)
    }

    /// PSNR of picture `i`.
    pub fn psnr_db_of(&self, i: usize, data_term: f64) -> f64 {
        self.of(self.samples[i], data_term)
    }

    fn of(&self, samples: usize, data_term: f64) -> f64 {
        20.0 * (self.peak * (samples as f64).sqrt() / (2.0 * data_term).sqrt()).log10()
    }
}
