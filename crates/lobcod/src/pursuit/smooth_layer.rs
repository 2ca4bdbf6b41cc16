//! Smooth layers, estimated together with the codes.
//!
//! ```text
//! min over needles a_i and layers B   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2
//!                                       + mu/2 || grad B ||^2 + penalty sum_ik weight_ik |a_ik|
//! ```
//!
//! Sweeps over the codes alternate with exact layers for their residual, which are extrapolated
//! along their last change. With `R = A r` of sum 0, the layer has the conjugate `1/(2 mu)
//! <R, L^+ R>`, so the dual at the residual `r` times a feasible `s <= 1` is
//!
//! ```text
//! s <r, A Y> - s^2/2 ||r||^2 - s^2/(2 mu) <R, L^+ R>,    L = grad^T grad
//! ```

use super::params::{Loss, Observed, Penalty, PursuitParams};
use crate::base::LayerSolver;
use crate::dictionary::Dictionary;
use crate::engine::{Context, Measure, Measurement, Session};
use crate::error::{Error, Result, refuse_together};
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// Reduction of the gradient by a solve with a mask: of a layer without codes, one that is measured,
/// and one that is extrapolated.
const WITHOUT_CODES: f64 = 1e-10;
const MEASURED: f64 = 1e-6;
const EXTRAPOLATED: f64 = 1e-2;
/// Differences of signal and layer below this fraction of the largest sample are rounding errors.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Refuses combinations that are not solved.
pub fn check(params: &PursuitParams) -> Result<()> {
    if !(params.smooth_layer >= 0.0 && params.smooth_layer.is_finite()) {
        return Err(Error::parameter(
            "the weight of the smooth layer",
            params.smooth_layer,
            "a number of at least 0",
        ));
    }
    let refused = [
        (params.loss != Loss::Squares, "a robust loss"),
        (params.max_nonzeros.is_some(), "a maximum number of non-zeros"),
        (params.debias, "debiased codes"),
        (matches!(params.penalty, Penalty::MaxError(_)), "a largest error"),
    ];
    refuse(params, &refused)
}

fn refuse(params: &PursuitParams, refused: &[(bool, &str)]) -> Result<()> {
    if params.smooth_layer == 0.0 {
        return Ok(());
    }
    let name = "a smooth layer estimated with the codes";
    refuse_together(name, refused, "subtract a layer beforehand")
}

/// Refuses signals that are not coded together with a layer.
pub fn check_signal<T: Real>(params: &PursuitParams, observed: &Observed<T>) -> Result<()> {
    let free = |weights: &Signal<T>| weights.data().contains(&T::ZERO);
    let refused = [
        (observed.coefficient_weights.as_ref().is_some_and(free), "unpenalised codes"),
        (observed.max_nonzeros_map.is_some(), "a map of maximum non-zeros"),
        (observed.part.is_some(), "a signal of which every rank holds a part"),
    ];
    refuse(params, &refused)
}

/// The layers of all signals; none if they are not requested.
#[derive(Default)]
pub struct SmoothLayers {
    signals: Vec<SignalLayer>,
    /// Extrapolations since the last one in a wrong direction.
    streak: usize,
}

/// The layer of one signal, channel by channel.
struct SignalLayer {
    solver: LayerSolver,
    /// `A^2` of every channel of the mask, none without a mask.
    squares: Vec<Vec<f64>>,
    /// The channels of every plane.
    planes: Vec<Range<usize>>,
    volume: usize,
    /// The layer that was solved last, and the one that is subtracted from the signal.
    solved: Vec<f64>,
    subtracted: Vec<f64>,
    rounding: f64,
}

impl SignalLayer {
    /// The layer of a signal without codes.
    fn new<T: Real>(
        params: &PursuitParams,
        observed: &Observed<T>,
        dictionary: &Dictionary<T>,
        threads: usize,
    ) -> Self {
        let (signal, mask) = (&observed.signal, observed.mask.as_ref());
        let channels = signal.channels();
        let squares = mask.iter().flat_map(|mask| {
            let weights = mask.weights();
            (0..weights.channels()).map(|c| {
                weights.channel(c).iter().map(|w| w.to_f64().powi(2)).collect::<Vec<f64>>()
            })
        });
        let planes = match params.planes_of(channels, dictionary.channels()) {
            1 => vec![0..channels; 1],
            _ => (0..channels).map(|c| c..c + 1).collect(),
        };
        let volume = signal.extent().volume();
        let zeros = vec![0.0; channels * volume];
        let mut layer = Self {
            solver: LayerSolver::new(signal.extent(), params.smooth_layer, threads),
            squares: squares.collect(),
            planes,
            volume,
            solved: zeros.clone(),
            subtracted: zeros,
            rounding: 0.0,
        };
        for c in 0..channels {
            let squares = layer.squares.get(c).or(layer.squares.first());
            let weighted = signal.channel(c).iter().enumerate().map(|(i, y)| match squares {
                None => y.to_f64(),
                // Masked samples may hold any value.
                Some(squares) if squares[i] == 0.0 => 0.0,
                Some(squares) => squares[i] * y.to_f64(),
            });
            let residual: Vec<f64> = weighted.collect();
            let largest = residual.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
            layer.rounding = layer.rounding.max(ROUNDING * largest);
            layer.improve(c, &residual, WITHOUT_CODES);
        }
        layer.subtracted.clone_from(&layer.solved);
        layer
    }

    fn channel(&self, c: usize) -> Range<usize> {
        c * self.volume..(c + 1) * self.volume
    }

    /// Solves for a channel from the layer that is subtracted and its residual.
    fn improve(&mut self, c: usize, residual: &[f64], tolerance: f64) {
        let own = self.channel(c);
        let squares = self.squares.get(c).or(self.squares.first()).map(|squares| &squares[..]);
        let layer = &mut self.solved[own.clone()];
        layer.copy_from_slice(&self.subtracted[own]);
        self.solver.improve(layer, residual, squares, tolerance);
    }

    /// `Y - B` of some channels; 0 where nothing is observed.
    fn target<T: Real>(&self, signal: &Signal<T>, channels: Range<usize>) -> Vec<T> {
        let own = self.channel(channels.start).start..self.channel(channels.end - 1).end;
        let of = |i: usize| {
            let squares = self.squares.get(i / self.volume).or(self.squares.first());
            let observed = squares.is_none_or(|squares| squares[i % self.volume] > 0.0);
            let rest = signal.data()[i].to_f64() - self.subtracted[i];
            let is_rest = observed && rest.abs() > self.rounding;
            if is_rest { T::from_f64(rest) } else { T::ZERO }
        };
        own.map(of).collect()
    }
}

impl SmoothLayers {
    /// The layers of the signals without codes.
    pub fn of<T: Real>(
        params: &PursuitParams,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        threads: usize,
    ) -> Self {
        if params.smooth_layer == 0.0 {
            return Self::default();
        }
        let layer = |observed| SignalLayer::new(params, observed, dictionary, threads);
        Self { signals: signals.iter().map(layer).collect(), streak: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

    /// Subtracts the layers from the signals of a session.
    pub fn place<T: Real>(
        &self,
        signals: &[Observed<T>],
        session: &mut dyn Session<T>,
    ) -> Result<()> {
        let mut plane = 0;
        for (layer, observed) in self.signals.iter().zip(signals) {
            for channels in &layer.planes {
                session.retarget(plane, layer.target(&observed.signal, channels.clone()))?;
                plane += 1;
            }
        }
        Ok(())
    }

    /// Solves for the layers with the codes of the session, and subtracts them; `ahead`:
    /// extrapolated along their last change (Nesterov's acceleration).
    pub fn fit<T: Real>(
        &mut self,
        signals: &[Observed<T>],
        session: &mut dyn Session<T>,
        ahead: bool,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let tolerance = if ahead { EXTRAPOLATED } else { MEASURED };
        let (mut plane, mut back) = (0, 0.0);
        let mut before = Vec::with_capacity(self.signals.len());
        for layer in &mut self.signals {
            before.push(layer.solved.clone());
            for channels in layer.planes.clone() {
                let residual = session.residual(plane)?;
                for (c, residual) in channels.zip(residual.chunks_exact(layer.volume)) {
                    let residual: Vec<f64> = residual.iter().map(|r| r.to_f64()).collect();
                    layer.improve(c, &residual, tolerance);
                }
                plane += 1;
            }
            let moves = layer.subtracted.iter().zip(&layer.solved).zip(&before[before.len() - 1]);
            back += moves.map(|((from, to), last)| (from - to) * (to - last)).sum::<f64>();
        }
        // The last extrapolation went too far.
        self.streak = if back > 0.0 { 0 } else { self.streak + 1 };
        let momentum = if ahead { self.streak as f64 / (self.streak + 3) as f64 } else { 0.0 };
        for (layer, before) in self.signals.iter_mut().zip(&before) {
            let moves = layer.solved.iter().zip(before);
            let ahead = moves.map(|(to, last)| to + momentum * (to - last));
            layer.subtracted.iter_mut().zip(ahead).for_each(|(b, ahead)| *b = ahead);
        }
        self.place(signals, session)
    }

    /// Measures a session; objective and dual are those of codes and layers.
    pub fn measure<T: Real>(
        &mut self,
        session: &mut dyn Session<T>,
        what: Measure,
        context: &Context,
    ) -> Result<Vec<Measurement>> {
        let mut planes = session.measure(what, context)?;
        let mut each = planes.iter_mut().enumerate();
        for layer in &mut self.signals {
            for channels in layer.planes.clone() {
                let (plane, m) = each.next().expect("one measurement per plane");
                let own = channels.clone().map(|c| &layer.subtracted[layer.channel(c)]);
                let term: f64 = own.map(|own| layer.solver.term(own)).sum();
                // A quadratic term like that of the elastic net.
                m.elastic_term += term;
                if !what.correlates() {
                    continue;
                }
                m.elastic_excess = m.elastic_excess.map(|excess| excess + term);
                let (mut dot, mut conjugate) = (0.0, 0.0);
                let residual = session.residual(plane)?;
                for (c, residual) in channels.zip(residual.chunks_exact(layer.volume)) {
                    let residual: Vec<f64> = residual.iter().map(|r| r.to_f64()).collect();
                    let own = &layer.subtracted[layer.channel(c)];
                    dot += residual.iter().zip(own).map(|(r, b)| r * b).sum::<f64>();
                    conjugate += layer.solver.conjugate(&residual);
                }
                // Term and conjugate are equal for an exact layer. Their difference counts times
                // `s^2`, which is at most `s`.
                m.target_dot_residual += dot - (conjugate - term).max(0.0);
            }
        }
        Ok(planes)
    }

    /// `mu/2 ||grad B||^2` of all layers.
    pub fn term(&self) -> f64 {
        let of = |layer: &SignalLayer| {
            let channels = layer.subtracted.chunks_exact(layer.volume);
            channels.map(|channel| layer.solver.term(channel)).sum::<f64>()
        };
        self.signals.iter().map(of).sum()
    }

    /// The layers as signals.
    pub fn signals<T: Real>(&self, signals: &[Observed<T>]) -> Result<Vec<Signal<T>>> {
        let of = |(layer, observed): (&SignalLayer, &Observed<T>)| {
            let data = layer.subtracted.iter().map(|&b| T::from_f64(b)).collect();
            Signal::from_planar(observed.signal.extent(), observed.signal.channels(), data)
        };
        self.signals.iter().zip(signals).map(of).collect()
    }

    /// The layers as numbers, for a checkpoint; none is extrapolated.
    pub fn numbers(&self) -> Vec<f64> {
        if self.is_empty() {
            return Vec::new();
        }
        let layers = self.signals.iter().flat_map(|layer| &layer.solved);
        std::iter::once(self.streak as f64).chain(layers.copied()).collect()
    }

    /// Restores layers; `None` if there are others.
    pub fn recall(&mut self, numbers: &[f64]) -> Option<()> {
        if self.is_empty() {
            return numbers.is_empty().then_some(());
        }
        let (streak, mut left) = numbers.split_first()?;
        self.streak = *streak as usize;
        for layer in &mut self.signals {
            let own = left.split_off(..layer.subtracted.len())?;
            layer.subtracted.copy_from_slice(own);
            layer.solved.copy_from_slice(own);
        }
        left.is_empty().then_some(())
    }

    /// Bytes of the layers while they are solved for.
    pub fn bytes(&self) -> u64 {
        let of = |layer: &SignalLayer| {
            let channels = layer.subtracted.len() / layer.volume;
            layer_bytes(layer.volume, channels, layer.squares.len())
        };
        self.signals.iter().map(of).sum()
    }

    /// Estimates [`SmoothLayers::bytes`] for these signals.
    pub fn memory<T: Real>(params: &PursuitParams, signals: &[Observed<T>]) -> u64 {
        let of = |observed: &Observed<T>| {
            let masks = observed.mask.as_ref().map_or(0, |mask| mask.weights().channels());
            layer_bytes(observed.signal.extent().volume(), observed.signal.channels(), masks)
        };
        if params.smooth_layer == 0.0 { 0 } else { signals.iter().map(of).sum() }
    }
}

/// Numbers of this many samples: the layers of every channel, the weights, and those of a solve.
pub fn layer_bytes(volume: usize, channels: usize, masks: usize) -> u64 {
    let solve = if masks > 0 { 8 } else { 4 };
    ((3 * channels + masks + solve) * volume * size_of::<f64>()) as u64
}
