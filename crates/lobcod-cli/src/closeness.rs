//! PSNR of reconstructions, computed from data terms alone.

use lobcod::{Observed, Real};

/// Converts data terms to PSNR.
///
/// The data term is half the squared error over the known samples, so `20 log10(peak sqrt(N) /
/// ||r||)` needs nothing else. `N` counts the known samples of all channels; missing samples are
/// excluded.
pub struct Closeness {
    peak: f64,
    /// Number of known samples of each image.
    samples: Vec<usize>,
}

impl Closeness {
    /// For these images, with peak value `peak`.
    pub fn new<T: Real>(observed: &[Observed<T>], peak: f64) -> Self {
        let known = |o: &Observed<T>| match &o.mask {
            None => o.signal.data().len(),
            Some(mask) => (0..o.signal.channels())
                .flat_map(|c| mask.channel(c))
                .filter(|w| **w > T::ZERO)
                .count(),
        };
        Self { peak, samples: observed.iter().map(known).collect() }
    }

    /// The peak value.
    pub fn peak(&self) -> f64 {
        self.peak
    }

    /// PSNR of all images together; infinite if the error is 0.
    pub fn psnr_db(&self, data_term: f64) -> f64 {
        self.of(self.samples.iter().sum(), data_term)
    }

    /// PSNR of image `i`.
    pub fn psnr_db_of(&self, i: usize, data_term: f64) -> f64 {
        self.of(self.samples[i], data_term)
    }

    fn of(&self, samples: usize, data_term: f64) -> f64 {
        20.0 * (self.peak * (samples as f64).sqrt() / (2.0 * data_term).sqrt()).log10()
    }
}
