//! The damaged signal, its known and held-out samples, and its colour space.

use super::held_out;
use super::near::Near;
use super::params::InpaintParams;
use super::smooth::thin_plate;
use super::windows::Mosaic;
use crate::opponent::{opponent_of_rgb, rgb_of_opponent};
use lobcod::base::local_mean;
use lobcod::run::Stop;
use lobcod::{Dictionary, Error, Extent, Mask, Real, Result, Signal};
use std::ops::Range;
use std::sync::OnceLock;

/// The damaged signal in the colour space in which it is coded; samples of weight 0 are 0.
pub struct Scene<'a, T> {
    /// The signal.
    pub signal: Signal<T>,
    /// Weight of every sample.
    known: Vec<T>,
    /// The same without the samples held out.
    fitted: Vec<T>,
    /// Indices of the samples held out.
    pub held_out: Vec<usize>,
    /// Which samples of a channel are coded: those near missing and held-out ones.
    coded: Vec<bool>,
    /// The thin plates through known samples, with and without those held out; computed on demand.
    plate_of_known: OnceLock<Signal<T>>,
    plate_of_fitted: OnceLock<Signal<T>>,
    /// Whether its channels are brightness and differences instead of red, green and blue.
    opposed: bool,
    threads: usize,
    stop: Stop,
    /// The image of which this signal is a mosaic, if it is one.
    whole: Option<Whole<'a, T>>,
}

/// An image, with its holes filled as far as they are, of which a mosaic is being filled.
#[derive(Clone, Copy)]
pub struct Whole<'a, T> {
    pub image: &'a Signal<T>,
    pub known: &'a Mask<T>,
    pub mosaic: &'a Mosaic,
}

/// Which of the known samples a fit may use.
#[derive(Clone, Copy, PartialEq)]
pub enum Use {
    /// All but those held out.
    Fitted,
    /// All of them.
    Known,
}

impl<'a, T: Real> Scene<'a, T> {
    pub fn new(
        params: &InpaintParams,
        threads: usize,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
        whole: Option<Whole<'a, T>>,
        stop: Stop,
    ) -> Result<Self> {
        known.check_fits(signal)?;
        let (channels, volume) = (signal.channels(), signal.extent().volume());
        let weights: Vec<T> = (0..channels).flat_map(|c| known.channel(c)).copied().collect();
        if let Some(c) =
            weights.chunks_exact(volume).position(|channel| channel.iter().all(|&w| w == T::ZERO))
        {
            return Err(Error::Data(format!(
                "channel {c} has no known sample; every channel needs at least one"
            )));
        }
        let data: Vec<T> = signal
            .data()
            .iter()
            .zip(&weights)
            .map(|(&x, &w)| if w == T::ZERO { T::ZERO } else { x })
            .collect();
        if let Some(x) = data.iter().find(|x| !x.is_finite()) {
            return Err(Error::Data(format!(
                "a known sample is {x}; mark it as missing or replace it with a finite value"
            )));
        }
        let same_mask = weights.chunks_exact(volume).all(|channel| channel == &weights[..volume]);
        let grey_atoms = dictionaries.iter().all(|d| d.channels() == 1);
        // The colour transform needs all three channels.
        let opposed = channels == 3 && same_mask && grey_atoms;
        let mut signal = Signal::from_planar(signal.extent(), channels, data)?;
        if opposed {
            signal = opponent_of_rgb(&signal);
        }
        let near = Near::new(params, signal.extent(), dictionaries);
        let held_out = held_out::choose(params, &weights, signal.extent(), &near.of(&weights));
        let mut fitted = weights.clone();
        held_out.iter().for_each(|&i| fitted[i] = T::ZERO);
        let coded = near.of(&fitted);
        Ok(Self {
            signal,
            known: weights,
            fitted,
            held_out,
            coded,
            plate_of_known: OnceLock::new(),
            plate_of_fitted: OnceLock::new(),
            opposed,
            threads,
            stop,
            whole,
        })
    }

    pub fn weights(&self, samples: Use) -> &[T] {
        if samples == Use::Known { &self.known } else { &self.fitted }
    }

    /// Whether each sample of a channel is coded; the others are known and far from holes.
    pub fn coded(&self) -> &[bool] {
        &self.coded
    }

    /// The thin plate through the samples that may be used.
    pub fn plate(&self, samples: Use) -> &Signal<T> {
        // If nothing is held out, both are the same.
        let place = if samples == Use::Known || self.held_out.is_empty() {
            &self.plate_of_known
        } else {
            &self.plate_of_fitted
        };
        place.get_or_init(|| {
            thin_plate(&self.signal, self.weights(samples), self.threads, &self.stop)
        })
    }

    /// Computes the plate through all known samples on one thread, concurrently with other work.
    pub fn make_plate_of_known(&self) {
        self.plate_of_known.get_or_init(|| thin_plate(&self.signal, &self.known, 1, &self.stop));
    }

    /// The signal with the samples that may not be used taken from a fit.
    fn filled(&self, samples: Use, fit: &Signal<T>) -> Result<Signal<T>> {
        let data = self.signal.data().iter().zip(fit.data()).zip(self.weights(samples));
        let filled = data.map(|((&x, &f), &w)| if w == T::ZERO { f } else { x }).collect();
        Signal::from_planar(fit.extent(), fit.channels(), filled)
    }

    /// The base layer of the image filled from a fit.
    pub fn base_of(&self, samples: Use, fit: &Signal<T>, window: Extent) -> Result<Signal<T>> {
        local_mean(&self.filled(samples, fit)?, None, window)
    }

    /// The whole image, filled from a fit of this part.
    pub fn preview(&self, fit: &Signal<T>) -> Result<Signal<f32>> {
        let filled = self.as_given(&self.filled(Use::Known, fit)?);
        let Some(Whole { image, known, mosaic }) = self.whole else { return Ok(filled.cast()) };
        let mut image = image.clone();
        mosaic.paste(&filled, known, &mut image);
        Ok(image.cast())
    }

    /// Standard deviation of the details: known samples that are coded minus the base layer.
    pub fn detail(&self, base: &Signal<T>) -> f64 {
        let samples = self
            .signal
            .data()
            .iter()
            .zip(base.data())
            .zip(self.known.iter().zip(self.coded.iter().cycle()))
            .filter(|(_, (w, coded))| **w != T::ZERO && **coded);
        let (sum, count) = samples.fold((0.0, 0.0), |(sum, n), ((x, b), _)| {
            (sum + (x.to_f64() - b.to_f64()).powi(2), n + 1.0)
        });
        f64::sqrt(sum / count)
    }

    /// The held-out samples of every channel, as ranges of their list.
    pub fn held_out_by_channel(&self) -> Vec<Range<usize>> {
        let volume = self.signal.extent().volume();
        let first = |c: usize| self.held_out.partition_point(|&i| i < c * volume);
        (0..self.signal.channels()).map(|c| first(c)..first(c + 1)).collect()
    }

    /// Errors of a fit at the held-out samples.
    pub fn errors(&self, fit: &Signal<T>) -> Vec<f64> {
        self.held_out
            .iter()
            .map(|&i| fit.data()[i].to_f64() - self.signal.data()[i].to_f64())
            .collect()
    }

    /// Converts a fit to the colours of the given signal.
    pub fn as_given(&self, fit: &Signal<T>) -> Signal<T> {
        if self.opposed { rgb_of_opponent(fit) } else { fit.clone() }
    }
}
