//! The damaged signal as the solver sees it: what is known, what is held out, and in which colours.

use super::colour::Opponent;
use super::params::InpaintParams;
use crate::base::local_mean;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::real::Real;
use crate::signal::Signal;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fewer held-out samples than this judge nothing.
const LEAST_HELD_OUT: usize = 16;

/// The damaged signal in the colours it is coded in; samples of weight 0 are 0 and were never read.
pub(super) struct Scene<T> {
    /// The signal.
    pub(super) signal: Signal<T>,
    /// Weight of every sample.
    known: Vec<T>,
    /// The same without the samples held out.
    fitted: Vec<T>,
    /// Places of the samples held out.
    pub(super) held_out: Vec<usize>,
    /// Are its channels brightness and differences instead of red, green and blue?
    opposed: bool,
}

/// Which of the known samples a fit may use.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    /// All but those held out.
    Fitted,
    /// All of them.
    Known,
}

impl<T: Real> Scene<T> {
    pub(super) fn new(
        params: &InpaintParams,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
    ) -> Result<Self> {
        known.check_fits(signal)?;
        let (channels, volume) = (signal.channels(), signal.extent().volume());
        let weights: Vec<T> = (0..channels).flat_map(|c| known.channel(c)).copied().collect();
        if let Some(c) = weights.chunks_exact(volume).position(|channel| channel.iter().all(|&w| w == T::ZERO)) {
            return Err(Error::Data(format!("channel {c} has no known sample; at least one must be known in every channel")));
        }
        let data: Vec<T> = signal.data().iter().zip(&weights).map(|(&x, &w)| if w == T::ZERO { T::ZERO } else { x }).collect();
        if let Some(x) = data.iter().find(|x| !x.is_finite()) {
            return Err(Error::Data(format!("a known sample is {x}; mark it as missing or replace it by a number")));
        }
        let alike = weights.chunks_exact(volume).all(|channel| channel == &weights[..volume]);
        let grey_atoms = dictionaries.iter().all(|d| d.channels() == 1);
        // Mixed colours need all three of them.
        let opposed = channels == 3 && alike && grey_atoms;
        let mut signal = Signal::from_planar(signal.extent(), channels, data)?;
        if opposed {
            signal = Opponent::of_rgb(&signal);
        }
        let held_out = choose(params, &weights, volume);
        let mut fitted = weights.clone();
        held_out.iter().for_each(|&i| fitted[i] = T::ZERO);
        Ok(Self { signal, known: weights, fitted, held_out, opposed })
    }

    pub(super) fn weights(&self, samples: Use) -> &[T] {
        if samples == Use::Known { &self.known } else { &self.fitted }
    }

    /// The first base layer: the local mean of what may be used.
    pub(super) fn first_base(&self, samples: Use, window: Extent) -> Result<Signal<T>> {
        let weights = Signal::from_planar(self.signal.extent(), self.signal.channels(), self.weights(samples).to_vec())?;
        local_mean(&self.signal, Some(&Mask::new(weights)?), window)
    }

    /// The base layer of the picture filled from a fit.
    pub(super) fn base_of(&self, samples: Use, fit: &Signal<T>, window: Extent) -> Result<Signal<T>> {
        let data = self.signal.data().iter().zip(fit.data()).zip(self.weights(samples));
        let filled = data.map(|((&x, &f), &w)| if w == T::ZERO { f } else { x }).collect();
        local_mean(&Signal::from_planar(fit.extent(), fit.channels(), filled)?, None, window)
    }

    /// Standard deviation of the details: what is known less the base layer.
    pub(super) fn detail(&self, base: &Signal<T>) -> f64 {
        let samples = self.signal.data().iter().zip(base.data()).zip(&self.known).filter(|(_, w)| **w != T::ZERO);
        let (sum, count) = samples.fold((0.0, 0.0), |(sum, n), ((x, b), _)| (sum + (x.to_f64() - b.to_f64()).powi(2), n + 1.0));
        f64::sqrt(sum / count)
    }

    /// What a fit makes of the samples held out, less what they are.
    pub(super) fn errors(&self, fit: &Signal<T>) -> Vec<f64> {
        self.held_out.iter().map(|&i| fit.data()[i].to_f64() - self.signal.data()[i].to_f64()).collect()
    }

    /// A fit in the colours of the signal as it was given.
    pub(super) fn as_given(&self, fit: &Signal<T>) -> Signal<T> {
        if self.opposed { Opponent::to_rgb(fit) } else { fit.clone() }
    }
}

/// Places of the samples to hold out: whole pixels, all channels of them that are known.
fn choose<T: Real>(params: &InpaintParams, weights: &[T], volume: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    let drawn: Vec<bool> = (0..volume).map(|_| rng.random::<f64>() < params.held_out).collect();
    let held: Vec<usize> = (0..weights.len()).filter(|i| drawn[i % volume] && weights[*i] != T::ZERO).collect();
    let left = |channel: usize| (channel * volume..(channel + 1) * volume).any(|i| weights[i] != T::ZERO && !drawn[i % volume]);
    let enough = held.len() >= LEAST_HELD_OUT && (0..weights.len() / volume).all(left);
    if enough { held } else { Vec::new() }
}
