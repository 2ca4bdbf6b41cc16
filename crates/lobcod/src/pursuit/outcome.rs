//! Measurements and report of a pursuit.

use super::Answer;
use super::local_dual::{Excess, lattice};
use super::params::{Observed, PursuitParams, check_objective};
use super::passes::CONTINUATION;
use super::rounding::check_data_term;
use super::setup::gather_needles;
use super::solver::{Proof, Solver, is_stopped_early};
use crate::dictionary::Dictionary;
use crate::engine::{Measure, Measurement, Scaling};
use crate::error::{Error, Result};
use crate::geometry::Origin;
use crate::needles::Code;
use crate::real::Real;
use crate::report::{Certificate, HistoryPoint, Report, Status};

/// Beyond this multiple of the tolerance, no better dual point is sought.
const HOPELESS: f64 = 100.0;

impl<T: Real> Solver<'_, T> {
    /// Measures, and appends to the history.
    pub fn record(&mut self, what: Measure) -> Result<()> {
        self.proof.planes = self.layers.measure(&mut *self.session, what, self.run.context())?;
        self.proof.duals.fill(f64::NEG_INFINITY);
        self.add_to_history(matches!(what, Measure::Certificate { .. }));
        Ok(())
    }

    /// Appends the last measurement to the history.
    pub fn add_to_history(&mut self, certified: bool) {
        let total = self.certificates().1;
        let progress = &mut self.run.progress;
        (progress.objective, progress.nonzeros) = (total.objective, total.nonzeros);
        let relative_gap = certified.then(|| total.relative_gap());
        if certified {
            progress.relative_gap = relative_gap;
            let Proof { planes, duals, best_duals } = &mut self.proof;
            for ((m, &dual), best) in planes.iter().zip(&*duals).zip(best_duals) {
                let here = certificate(m, dual, self.penalty, 0.0, self.unpenalised.rounding);
                *best = best.max(here.objective - here.gap);
            }
        }
        self.run.note_memory(self.session.memory() + self.layers.bytes());
        let (objective, nonzeros) = (total.objective, total.nonzeros);
        self.history.push(HistoryPoint {
            seconds: self.run.seconds(),
            objective,
            nonzeros,
            relative_gap,
        });
    }

    /// Solves for the layers with the codes so far; `ahead`: and extrapolates them.
    pub fn fit_layers(&mut self, ahead: bool) -> Result<()> {
        self.layers.fit(self.signals, &mut *self.session, ahead)
    }

    /// Measures the gap; `Some` if it is at most the tolerance, `None` otherwise or when stopped.
    pub fn certify(&mut self, slack: f64, tolerance: f64) -> Result<Option<Status>> {
        if self.run.context().stop.is_due() {
            return Ok(None);
        }
        // Measuring the objective takes much less time than the certificate.
        self.fit_unpenalised()?;
        self.fit_layers(false)?;
        self.record(Measure::Objective)?;
        let what = Measure::Certificate { penalty: self.penalty, slack };
        self.proof.planes = self.layers.measure(&mut *self.session, what, self.run.context())?;
        if self.run.context().stop.is_due() {
            return Ok(None);
        }
        self.seek_better_duals(tolerance)?;
        self.add_to_history(true);
        // The gap shrinks by about the same factor in every pass.
        let gap = self.run.progress.relative_gap.unwrap_or(1.0).clamp(f64::MIN_POSITIVE, 1.0);
        let target = tolerance.clamp(f64::EPSILON, 0.5);
        self.run.advance(CONTINUATION + (1.0 - CONTINUATION) * gap.ln() / target.ln());
        Ok(self.status_of_gap(tolerance))
    }

    /// Seeks a better dual point where the scaled residual does not certify the tolerance.
    fn seek_better_duals(&mut self, tolerance: f64) -> Result<()> {
        let gap = self.certificates().1.relative_gap();
        // The dual points of these problems are not scaled cell by cell.
        let special =
            self.params.elastic > 0.0 || !self.unpenalised.is_empty() || !self.layers.is_empty();
        if special || gap <= tolerance || gap > HOPELESS * tolerance {
            return Ok(());
        }
        let atom = self.dictionary.extent();
        let mut excess = Vec::with_capacity(self.proof.planes.len());
        for observed in self.signals {
            let lattice = lattice(self.params, observed.extent(), atom);
            let one = lattice.map(|lattice| Excess::new(lattice, atom));
            excess.extend(std::iter::repeat_n(
                one,
                self.params.planes_of(observed.signal.channels(), self.dictionary.channels()),
            ));
        }
        if excess.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut record = |plane: usize, found| {
            if let Some(excess) = &mut excess[plane] {
                excess.record(Origin::default(), found);
            }
        };
        let Some(session) = self.session.scaled() else { return Ok(()) };
        session.exceeding(self.penalty, &mut record)?;
        excess
            .iter_mut()
            .flatten()
            .for_each(|excess| self.run.agreement().largest(&mut excess.ratios));
        for (plane, excess) in excess.iter().enumerate() {
            let Some(excess) = excess else { continue };
            let field = Excess::field(std::iter::once(excess));
            let scaling = Scaling { field: &field, origin: Origin::default() };
            let sums = session.scaled_sums(plane, scaling, None)?;
            // Skip unless the best case would be sufficient.
            if sums.dual(1.0) > (1.0 - tolerance) * self.proof.planes[plane].objective(self.penalty)
            {
                let largest = session.scaled_correlation(plane, scaling, self.penalty)?;
                self.proof.duals[plane] = sums.dual(largest / self.penalty);
            }
        }
        Ok(())
    }

    pub fn status_of_gap(&self, tolerance: f64) -> Option<Status> {
        let gap = self.run.progress.relative_gap.expect("just measured");
        (gap <= tolerance).then_some(Status::Converged)
    }

    /// Certificates of every signal and of their sum, from the last measurement.
    fn certificates(&self) -> (Vec<Certificate>, Certificate) {
        let planes = self.proof.planes.iter().zip(&self.proof.duals).zip(&self.penalty_max);
        let rounding = self.unpenalised.rounding;
        let mut each = planes.map(|((m, &dual), &penalty_max)| {
            certificate(m, dual, self.penalty, penalty_max, rounding)
        });
        by_signal(self.params, self.signals, self.dictionary, &mut each)
    }

    /// Measures a run that was stopped early. If the observer leaves too little time, the bounds
    /// proved so far still hold.
    fn measure_end(&mut self) -> Result<()> {
        self.fit_unpenalised()?;
        self.fit_layers(false)?;
        let context = self.run.last_measurement();
        let what = Measure::Certificate { penalty: self.penalty, slack: 0.0 };
        self.proof.planes = self.layers.measure(&mut *self.session, what, &context)?;
        self.proof.duals.fill(f64::NEG_INFINITY);
        if !context.stop.is_due() {
            self.seek_better_duals(self.params.tolerance)?;
        }
        self.proof
            .duals
            .iter_mut()
            .zip(&self.proof.best_duals)
            .for_each(|(dual, &proved)| *dual = dual.max(proved));
        self.add_to_history(true);
        Ok(())
    }

    /// The codes; a run that ended between two measurements is certified now.
    fn certified_codes(&mut self, status: Status) -> Result<Vec<Vec<Code<T>>>> {
        let certified = self.history.last().is_some_and(|h| h.relative_gap.is_some());
        if is_stopped_early(status) {
            self.measure_end()?;
        } else if status == Status::MaxSweeps && !certified {
            self.fit_unpenalised()?;
            self.fit_layers(false)?;
            self.record(Measure::Certificate { penalty: self.penalty, slack: 0.0 })?;
            self.seek_better_duals(self.params.tolerance)?;
        }
        Ok(self.session.state(self.run.agreement().answers())?.codes)
    }

    pub fn finish(mut self, mut status: Status) -> Result<Answer<T>> {
        let codes = match self.certified_codes(status) {
            Err(Error::DeviceLost(_)) => {
                status = self.work_again()?;
                self.certified_codes(status)?
            }
            codes => codes?,
        };
        let (mut signals, mut total) = self.certificates();
        if let Some(joint) = &self.joint {
            joint.complete(&mut signals, &mut total);
        }
        self.run.note_memory(self.session.memory() + self.layers.bytes());
        let layers = self.layers.signals(self.signals)?;
        // Frees its memory for what follows.
        drop(self.session);
        let needles = gather_needles(self.params, self.signals, self.dictionary.channels(), codes);
        let mut missed = 0.0;
        for (i, (certificate, needles)) in signals.iter_mut().zip(&needles).enumerate() {
            let (observed, layer) = (&self.signals[i], layers.get(i));
            missed += check_data_term(certificate, (observed, layer), needles, self.dictionary);
        }
        (total.objective, total.data_term, total.gap) =
            (total.objective + missed, total.data_term + missed, total.gap + missed);
        check_objective::<T>(total.objective)?;
        let overturned = status == Status::Converged
            && missed > 0.0
            && total.relative_gap() > self.params.tolerance;
        let status = if overturned { Status::Stalled } else { status };
        let penalty = self.joint.as_ref().map_or(self.penalty, |joint| joint.penalty);
        let history = self.history;
        let report =
            Report { status, total, signals, penalty, history, ..self.run.report(self.engine) };
        Ok(Answer { needles, layers, report })
    }
}

/// Certificates of every signal and of their sum, from those of their planes.
pub fn by_signal<T: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
    planes: &mut dyn Iterator<Item = Certificate>,
) -> (Vec<Certificate>, Certificate) {
    let mut total = Certificate::default();
    let each = signals.iter().map(|observed| {
        let count = params.planes_of(observed.signal.channels(), dictionary.channels());
        let mut sum = Certificate::default();
        planes.take(count).for_each(|plane| sum.add(&plane));
        sum.pixels = observed.extent().volume();
        total.add(&sum);
        sum
    });
    (each.collect(), total)
}

/// Primal, and the better of `better_dual` and the dual at `s r` with the largest feasible `s <=
/// 1`.
pub fn certificate(
    m: &Measurement,
    better_dual: f64,
    penalty: f64,
    penalty_max: f64,
    rounding: f64,
) -> Certificate {
    let (data_term, objective) = (m.data_term(), m.objective(penalty));
    let s = if m.largest_correlation > penalty { penalty / m.largest_correlation } else { 1.0 };
    let dual = m.dual(s).max(better_dual).max(m.elastic_dual().unwrap_or(f64::NEG_INFINITY));
    // Weak duality: only rounding makes the gap negative, above all where codes are far larger than
    // the residual. The size of that error is then reported as the gap.
    let usual = 1e-5 * objective.abs() + f64::MIN_POSITIVE;
    let rounded = (m.weighted_l1 + m.residual_energy.sqrt()).powi(2) * f64::from(f32::EPSILON);
    let below = dual - objective > usual + rounded;
    debug_assert!(!below, "objective {objective} below its dual {dual}");
    // With zero codes and s = 1, primal and dual are equal.
    let gap = if dual - objective > usual {
        dual - objective
    } else if m.nonzeros == 0 && s == 1.0 || objective < dual {
        0.0
    } else {
        objective - dual
    };
    // The residual must be orthogonal to the atoms of unpenalised codes.
    let gap = if m.unpenalised_correlation > rounding { f64::INFINITY } else { gap };
    Certificate {
        objective,
        data_term,
        gap,
        nonzeros: m.nonzeros,
        pixels: 0,
        penalty_max,
        unpenalised_correlation: m.unpenalised_correlation,
    }
}
