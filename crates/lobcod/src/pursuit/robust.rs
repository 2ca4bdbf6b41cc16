//! Robust data terms: an outlier layer estimated together with the codes.
//!
//! ```text
//! min over needles a_i and outliers o   1/2 || A (Y - B - o - sum_i P_i^T D a_i) ||^2
//!                                         + delta || o ||_1 + penalty * sum_ik w_ik |a_ik|
//! ```
//!
//! The minimum over `o` of the first two terms is the Huber loss of the residual. Outliers are
//! codes of atoms of one sample, so the problem is a pursuit with a larger dictionary, and its gap
//! is exact. The l1 loss is the limit of Huber losses divided by `delta`, and is certified by the
//! gap of the l1 problem itself.

use super::Answer;
use super::params::{Loss, Observed, Penalty, PursuitParams, Start, largest_correlation};
use super::sequence::{Sequence, start_from};
use super::solver::is_stopped_early;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::{Error, Result, refuse_together};
use crate::needles::Needles;
use crate::observe::Observer;
use crate::real::Real;
use crate::report::{Certificate, Report, Status};

/// Factor between the bounds `delta` of the Huber losses that approach the l1 loss, and the
/// smallest of them, relative to the first.
const STEP: f64 = 0.25;
const SMALLEST: f64 = 1e-9;
/// Bounds without a smaller gap or objective before the run has stalled: rounding errors exceed
/// them.
const PATIENCE: usize = 3;
/// Tolerance of a Huber problem, as a fraction of that of the l1 problem.
const INNER: f64 = 0.3;
/// Fraction of the work of each of them, for progress reports.
const PART: f64 = 0.15;

/// Refuses combinations with options that would also apply to the outliers.
pub fn check(params: &PursuitParams) -> Result<()> {
    let refused = [
        (params.nonnegative, "non-negative codes"),
        (params.elastic > 0.0, "an elastic net"),
        (params.max_nonzeros.is_some(), "a maximum number of non-zeros"),
        (params.debias, "debiased codes"),
        (matches!(params.penalty, Penalty::MaxError(_)), "a largest error"),
        (params.border == Border::Zero, "the zero border"),
        (params.border == Border::Inside, "the inside border"),
    ];
    refuse(&refused)
}

fn refuse(refused: &[(bool, &str)]) -> Result<()> {
    refuse_together("a robust loss", refused, "use the loss squares")
}

impl<T> Answer<T> {
    /// This answer, at the end of a sequence whose last report is given.
    fn after(mut self, last: Report) -> Self {
        let Report { total, signals, .. } = self.report;
        self.report = Report { total, signals, ..last };
        self
    }
}

/// One robust problem.
pub struct Robust<'a, T> {
    params: &'a PursuitParams,
    engine: &'a dyn Engine<T>,
    signals: &'a [Observed<T>],
    dictionary: &'a Dictionary<T>,
    /// The dictionary followed by one sample of every channel.
    extended: Dictionary<T>,
}

impl<'a, T: Real> Robust<'a, T> {
    pub fn new(
        params: &'a PursuitParams,
        engine: &'a dyn Engine<T>,
        signals: &'a [Observed<T>],
        dictionary: &'a Dictionary<T>,
    ) -> Result<Self> {
        let any = |given: &dyn Fn(&Observed<T>) -> bool| signals.iter().any(given);
        let fractional = |s: &Observed<T>| {
            let weights = s.mask.iter().flat_map(|mask| mask.weights().data());
            weights.into_iter().any(|&w| w != T::ZERO && w != T::ONE)
        };
        refuse(&[
            (any(&|s| s.penalty_map.is_some()), "a penalty map"),
            (any(&|s| s.coefficient_weights.is_some()), "weights of single coefficients"),
            (any(&|s| s.max_nonzeros_map.is_some()), "a map of maximum non-zeros"),
            (any(&|s| s.part.is_some()), "a signal of which every rank holds a part"),
            (any(&|s| matches!(s.start, Start::Spread)), "the start spread"),
            (params.loss == Loss::L1 && any(&fractional), "mask weights other than 0 and 1"),
        ])?;
        let (channels, volume) = (dictionary.channels(), dictionary.extent().volume());
        let mut atoms = dictionary.data().to_vec();
        for c in 0..channels {
            let sample = |i: usize| if i == c * volume { T::ONE } else { T::ZERO };
            atoms.extend((0..channels * volume).map(sample));
        }
        let extended = Dictionary::new(dictionary.extent(), channels, atoms)?;
        Ok(Self { params, engine, signals, dictionary, extended })
    }

    pub fn run(&self, observer: &mut dyn Observer) -> Result<Answer<T>> {
        let mut sequence = Sequence::begin(self.params, self.engine, observer);
        sequence.overlapping = true;
        match self.params.loss {
            Loss::Huber(delta) => {
                let (penalty, most) = self.penalty(delta, 1.0, &mut sequence)?;
                let problem = self.problem(penalty, delta)?;
                let (answer, _) = sequence.solve(problem, 1.0, self.signals, &self.extended)?;
                Ok(self.without_outliers(answer, penalty, most))
            }
            _ => self.run_l1(sequence),
        }
    }

    /// The penalty, and the smallest for which all codes are zero, both for a loss divided by
    /// `scale`: the zero codes leave the residual clipped to `delta`.
    fn penalty(
        &self,
        delta: f64,
        scale: f64,
        sequence: &mut Sequence<'_, '_, T>,
    ) -> Result<(f64, f64)> {
        let mut clipped = self.signals.to_vec();
        let bound = T::from_f64(delta);
        for observed in &mut clipped {
            observed.start = Start::Zero;
            let volume = observed.signal.extent().volume();
            let mask = observed.mask.clone();
            for (i, y) in observed.signal.data_mut().iter_mut().enumerate() {
                let weight = mask.as_ref().map_or(T::ONE, |m| m.channel(i / volume)[i % volume]);
                let bound = if weight > T::ZERO { bound / (weight * weight) } else { bound };
                *y = if *y > bound {
                    bound
                } else if *y < -bound {
                    -bound
                } else {
                    *y
                };
            }
        }
        let params = self.params.clone().with(|p| {
            p.loss = Loss::Squares;
            p.penalty = Penalty::Relative(1.0 + 16.0 * T::EPSILON.to_f64());
        });
        let (zero, _) = sequence.solve(params, 0.0, &clipped, self.dictionary)?;
        let most = zero.report.total.penalty_max / scale;
        Ok(match self.params.penalty {
            Penalty::Relative(fraction) => (fraction * most, most),
            Penalty::Absolute(penalty) | Penalty::MaxError(penalty) => (penalty, most),
        })
    }

    /// The problem with outliers at this penalty and bound.
    fn problem(&self, penalty: f64, delta: f64) -> Result<PursuitParams> {
        if !(T::from_f64(penalty).is_finite() && T::from_f64(penalty) > T::ZERO) {
            return Err(Error::Data(format!(
                "the penalty is {penalty:e}, out of the range of {} numbers; scale the signal",
                T::NAME
            )));
        }
        let given = self.params.atom_weights.clone();
        let mut weights = given.unwrap_or_else(|| vec![1.0; self.dictionary.len()]);
        if weights.len() != self.dictionary.len() {
            return Err(Error::Shape(format!(
                "there are {} atom weights for {} atoms",
                weights.len(),
                self.dictionary.len()
            )));
        }
        weights.resize(self.extended.len(), delta / penalty);
        Ok(self.params.clone().with(|p| {
            p.loss = Loss::Squares;
            p.penalty = Penalty::Absolute(penalty);
            p.atom_weights = Some(weights);
        }))
    }

    /// Keeps the codes of the given atoms, and counts the outliers with the data term.
    fn without_outliers(&self, mut answer: Answer<T>, penalty: f64, most: f64) -> Answer<T> {
        let report = &mut answer.report;
        (report.total.nonzeros, report.total.data_term) = (0, 0.0);
        for (needles, certificate) in answer.needles.iter_mut().zip(&mut report.signals) {
            *needles = self.own(needles);
            certificate.data_term = certificate.objective - penalty * self.weighted_l1(needles);
            certificate.nonzeros = needles.nonzeros();
            certificate.penalty_max = most;
            report.total.data_term += certificate.data_term;
            report.total.nonzeros += certificate.nonzeros;
        }
        report.total.penalty_max = most;
        answer
    }

    /// The codes of the given atoms.
    fn own(&self, needles: &Needles<T>) -> Needles<T> {
        let own = needles.codes().iter().filter(|c| (c.atom as usize) < self.dictionary.len());
        let codes = own.copied().collect();
        Needles::new(needles.extent(), needles.channels(), needles.border(), codes)
    }

    fn weighted_l1(&self, needles: &Needles<T>) -> f64 {
        let weight = |atom: u32| {
            let weights = self.params.atom_weights.as_ref();
            weights.map_or(1.0, |weights| weights[atom as usize])
        };
        needles.codes().iter().map(|c| weight(c.atom) * c.value.to_f64().abs()).sum()
    }

    /// `|| A (Y - B - sum_i P_i^T D a_i) ||_1` of one signal.
    fn absolute_error(&self, observed: &Observed<T>, needles: &Needles<T>) -> Result<f64> {
        let sum = needles.synthesise_exactly(self.dictionary)?;
        let volume = observed.signal.extent().volume();
        let mask = |i: usize| match &observed.mask {
            Some(mask) => mask.channel(i / volume)[i % volume],
            None => T::ONE,
        };
        let known = observed.signal.data().iter().zip(sum).enumerate();
        let known = known.filter(|(i, _)| mask(*i) > T::ZERO);
        Ok(known.map(|(_, (y, x))| (y.to_f64() - x).abs()).sum())
    }

    /// The l1 loss: Huber problems with decreasing bounds, until the gap of the l1 problem is
    /// small.
    fn run_l1(&self, mut sequence: Sequence<'_, '_, T>) -> Result<Answer<T>> {
        let samples = self.signals.iter().flat_map(|s| s.signal.data()).map(|y| y.to_f64().abs());
        let first = samples.filter(|y| y.is_finite()).fold(0.0, f64::max);
        let first = if first > 0.0 { first } else { 1.0 };
        let tiny = SMALLEST * first;
        let (penalty, most) = self.penalty(tiny, tiny, &mut sequence)?;
        let mut signals = self.signals.to_vec();
        let mut delta = STEP * first;
        let mut best: Option<Answer<T>> = None;
        let mut idle = 0;
        loop {
            // The Huber loss divided by its bound.
            let absolute = delta * penalty;
            let problem = self.problem(absolute, delta)?.with(|p| p.tolerance *= INNER);
            let (mut answer, pursuit) = sequence.solve(problem, PART, &signals, &self.extended)?;
            start_from(&mut signals, &answer.needles);
            let planes = sequence.measure(&pursuit, &signals, &self.extended, absolute)?;
            let largest = largest_correlation(&planes);
            let scale = if largest > absolute { absolute / largest } else { 1.0 };
            let mut total = Certificate { penalty_max: most, ..Certificate::default() };
            let mut planes = planes.iter();
            answer.report.signals.clear();
            for (observed, needles) in self.signals.iter().zip(&mut answer.needles) {
                let count = super::setup::planes_of(needles.channels(), self.dictionary.channels());
                let dual: f64 = planes.by_ref().take(count).map(|m| m.target_dot_residual).sum();
                *needles = self.own(needles);
                let data_term = self.absolute_error(observed, needles)?;
                let objective = data_term + penalty * self.weighted_l1(needles);
                let one = Certificate {
                    objective,
                    data_term,
                    gap: (objective - scale * dual / delta).max(0.0),
                    nonzeros: needles.nonzeros(),
                    pixels: observed.extent().volume(),
                    penalty_max: most,
                    ..Certificate::default()
                };
                total.add(&one);
                answer.report.signals.push(one);
            }
            let report = &mut answer.report;
            (report.total, report.penalty) = (total, penalty);
            // Objectives of the Huber problems are not comparable.
            report.history.clear();
            let ended = is_stopped_early(report.status);
            let converged = total.relative_gap() <= self.params.tolerance;
            if !ended {
                report.status = if converged { Status::Converged } else { Status::Stalled };
            }
            let best_total = best.as_ref().map(|best| best.report.total);
            let worse = best_total.is_some_and(|best| best.relative_gap() <= total.relative_gap());
            let idles = worse && best_total.is_some_and(|best| best.objective <= total.objective);
            idle = if idles { idle + 1 } else { 0 };
            let answer = match best.take() {
                Some(best) if worse => best.after(answer.report),
                _ => answer,
            };
            if ended || converged || idle == PATIENCE || delta <= tiny {
                return Ok(answer);
            }
            best = Some(answer);
            delta *= STEP;
        }
    }
}
