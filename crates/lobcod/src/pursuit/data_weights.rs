//! Mask weights above 1.
//!
//! The problem divided by the square of the largest weight `w` has the weights `A / w` in [0, 1],
//! the penalty `penalty / w^2`, and the same solution. Engines solve that problem; reports are in
//! the units of the given one.

use super::params::{Loss, Observed, Penalty, PursuitParams};
use crate::border::Border;
use crate::checkpoint::{Checkpoint, LearnCheckpoint};
use crate::dictionary::Dictionary;
use crate::error::{Result, refuse_together};
use crate::mask::Mask;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::real::Real;
use crate::report::{Certificate, Report};
use crate::signal::Signal;

/// A problem with weights in [0, 1].
pub struct Normalised<T> {
    /// The signals with divided masks.
    pub signals: Vec<Observed<T>>,
    /// The largest weight.
    pub largest: f64,
}

impl<T: Real> Normalised<T> {
    /// The signals with divided masks; `None` if no weight is above 1.
    pub fn of(signals: &[Observed<T>], border: Border) -> Result<Option<Self>> {
        let masks = signals.iter().flat_map(|observed| &observed.mask);
        let largest = masks.map(|mask| mask.largest().to_f64()).fold(1.0, f64::max);
        if largest == 1.0 {
            return Ok(None);
        }
        // Samples beyond a zero border have the weight 1.
        refuse_together(
            "a mask weight above 1",
            &[(border == Border::Zero, "the zero border")],
            "divide the weights by their maximum",
        )?;
        let divided = |observed: &Observed<T>| {
            let extent = observed.signal.extent();
            let mask = match &observed.mask {
                Some(mask) => mask.weights().clone(),
                None => Signal::from_planar(extent, 1, vec![T::ONE; extent.volume()])?,
            };
            let weights = mask.data().iter().map(|w| T::from_f64(w.to_f64() / largest)).collect();
            let weights = Signal::from_planar(mask.extent(), mask.channels(), weights)?;
            Ok(Observed { mask: Some(Mask::new(weights)?), ..observed.clone() })
        };
        let signals = signals.iter().map(divided).collect::<Result<_>>()?;
        Ok(Some(Self { signals, largest }))
    }

    /// Factor between the objectives of the given and the divided problem.
    pub fn factor(&self) -> f64 {
        self.largest * self.largest
    }

    /// The penalty of the divided problem.
    pub fn penalty(&self, penalty: Penalty) -> Penalty {
        match penalty {
            Penalty::Absolute(penalty) => Penalty::Absolute(penalty / self.factor()),
            Penalty::Relative(fraction) => Penalty::Relative(fraction),
            Penalty::MaxError(bound) => Penalty::MaxError(bound / self.largest),
        }
    }

    /// The parameters of the divided problem.
    pub fn params(&self, params: &PursuitParams) -> PursuitParams {
        params.clone().with(|p| {
            p.penalty = self.penalty(p.penalty);
            p.elastic /= self.factor();
            p.joint /= self.factor();
            p.smooth_layer /= self.factor();
            p.loss = match p.loss {
                Loss::Huber(bound) => Loss::Huber(bound / self.factor()),
                Loss::Cauchy(scale) => Loss::Cauchy(scale / self.largest),
                Loss::Squares | Loss::L1 => p.loss,
            };
        })
    }

    /// Converts a report to the units of the given problem.
    pub fn restore(&self, report: &mut Report) {
        let factor = self.factor();
        report.signals.iter_mut().for_each(|certificate| rescale(certificate, factor));
        rescale(&mut report.total, factor);
        report.penalty *= factor;
        report.debiased_data_term = report.debiased_data_term.map(|term| term * factor);
        if let Some(constrained) = &mut report.constrained {
            constrained.max_error *= self.largest;
            constrained.error *= self.largest;
        }
        if let Some(reweighted) = &mut report.reweighted {
            reweighted.objective *= factor;
        }
        report.history.iter_mut().for_each(|point| point.objective *= factor);
    }
}

fn rescale(certificate: &mut Certificate, factor: f64) {
    let Certificate {
        objective,
        data_term,
        gap,
        penalty_max,
        unpenalised_correlation,
        nonzeros: _,
        pixels: _,
    } = certificate;
    for number in [objective, data_term, gap, penalty_max, unpenalised_correlation] {
        *number *= factor;
    }
}

/// Passes progress on in the units of the given problem.
pub struct InGivenUnits<'a> {
    pub observer: &'a mut dyn Observer,
    pub factor: f64,
}

impl Observer for InGivenUnits<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let (objective, stage_penalty) =
            (self.factor * progress.objective, self.factor * progress.stage_penalty);
        self.observer.progress(&Progress { objective, stage_penalty, ..*progress })
    }

    fn stop(&self) -> Stop {
        self.observer.stop()
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Result<Checkpoint>) {
        self.observer.between_passes(take);
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        self.observer.between_learning_passes(take);
    }

    fn atoms(&mut self, take: &mut dyn FnMut() -> Dictionary<f32>) {
        self.observer.atoms(take);
    }
}
