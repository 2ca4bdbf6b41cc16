//! The damaged signal as the solver sees it: what is known, what is held out, and in which colours.

use super::colour::Opponent;
use super::held_out;
use super::params::InpaintParams;
use super::smooth::thin_plate;
use crate::base::local_mean;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::observe::Stop;
use crate::real::Real;
use crate::signal::Signal;
use std::sync::OnceLock;

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
    /// The thin plates through the samples of weight other than 0, and through those that are not held out, once they are asked for.
    plate_of_known: OnceLock<Signal<T>>,
    plate_of_fitted: OnceLock<Signal<T>>,
    /// Are its channels brightness and differences instead of red, green and blue?
    opposed: bool,
    threads: usize,
    stop: Stop,
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
        stop: Stop,
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
        let held_out = held_out::choose(params, &weights, signal.extent());
        let mut fitted = weights.clone();
        held_out.iter().for_each(|&i| fitted[i] = T::ZERO);
        Ok(Self {
            signal,
            known: weights,
            fitted,
            held_out,
            plate_of_known: OnceLock::new(),
            plate_of_fitted: OnceLock::new(),
            opposed,
            threads: params.threads,
            stop,
        })
    }

    pub(super) fn weights(&self, samples: Use) -> &[T] {
        if samples == Use::Known { &self.known } else { &self.fitted }
    }

    /// The thin plate through what may be used.
    pub(super) fn plate(&self, samples: Use) -> &Signal<T> {
        // With nothing held out both are the same.
        let place = if samples == Use::Known || self.held_out.is_empty() { &self.plate_of_known } else { &self.plate_of_fitted };
        place.get_or_init(|| thin_plate(&self.signal, self.weights(samples), self.threads, &self.stop))
    }

    /// Makes the plate through all known samples by one thread, beside other work.
    pub(super) fn make_plate_of_known(&self) {
        self.plate_of_known.get_or_init(|| thin_plate(&self.signal, &self.known, 1, &self.stop));
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
