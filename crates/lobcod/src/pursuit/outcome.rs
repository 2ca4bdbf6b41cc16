//! What a pursuit measures of itself, and its report.

use super::Answer;
use super::local_dual::{Excess, dual, lattice};
use super::params::check_objective;
use super::rounding::check_data_term;
use super::setup::{gather_needles, planes_of};
use super::solver::{Solver, is_broken_off};
use crate::engine::{Measure, Measurement, Scaling};
use crate::error::Result;
use crate::observe::Stop;
use crate::real::Real;
use crate::report::{Certificate, HistoryPoint, Report, Status};

/// A gap so many times the one asked for is not proved by a better dual point.
const HOPELESS: f64 = 100.0;

impl<T: Real> Solver<'_, T> {
    /// Residual anew, measurement, a point of the history.
    pub(super) fn record(&mut self, what: Measure) {
        self.session.refresh();
        self.last = self.session.measure(what);
        self.duals.fill(f64::NEG_INFINITY);
        self.note(matches!(what, Measure::Certificate { .. }));
    }

    /// A point of the history from the last measurement.
    pub(super) fn note(&mut self, certified: bool) {
        let total = self.certificates().1;
        self.progress.seconds = self.seconds();
        self.progress.objective = total.objective;
        self.progress.nonzeros = total.nonzeros;
        let relative_gap = certified.then(|| total.relative_gap());
        if certified {
            self.progress.relative_gap = relative_gap;
            for (plane, m) in self.last.iter().enumerate() {
                let here = certificate(m, self.duals[plane], self.penalty, 0.0);
                self.proved[plane] = self.proved[plane].max(here.objective - here.gap);
            }
        }
        self.peak_memory = self.peak_memory.max(self.session.memory());
        let (seconds, objective, nonzeros) = (self.progress.seconds, total.objective, total.nonzeros);
        self.history.push(HistoryPoint { seconds, objective, nonzeros, relative_gap });
    }

    /// Measures the gap; `Some` when it is small enough. Where it is time to stop nothing is said of it.
    pub(super) fn certify(&mut self, slack: f64) -> Option<Status> {
        if self.stop.is_due() {
            return None;
        }
        // The objective is known long before the certificate.
        self.record(Measure::Objective);
        self.last = self.session.measure(Measure::Certificate { penalty: self.penalty, slack });
        if self.stop.is_due() {
            return None;
        }
        self.seek_better_duals();
        self.note(true);
        self.status_of_gap()
    }

    /// Where the scaled residual does not prove the gap asked for, a better point may.
    fn seek_better_duals(&mut self) {
        let gap = self.certificates().1.relative_gap();
        if gap <= self.tolerance || gap > HOPELESS * self.tolerance {
            return;
        }
        let atom = self.dictionary.extent();
        let mut excess = Vec::with_capacity(self.last.len());
        for observed in self.signals {
            let lattice = lattice(self.params, observed.extent(), atom);
            let one = lattice.map(|lattice| Excess::new(lattice, atom));
            excess.extend(std::iter::repeat_n(one, planes_of(observed.signal.channels(), self.dictionary.channels())));
        }
        if excess.iter().all(Option::is_none) {
            return;
        }
        let mut note = |plane: usize, found| {
            if let Some(excess) = &mut excess[plane] {
                excess.note([0; 3], found);
            }
        };
        let Some(session) = self.session.scaled() else { return };
        session.exceeding(self.penalty, &mut note);
        excess.iter_mut().flatten().for_each(|excess| session.largest_of_all(&mut excess.ratios));
        for (plane, excess) in excess.iter().enumerate() {
            let Some(excess) = excess else { continue };
            let field = Excess::field(std::iter::once(excess));
            let scaling = Scaling { field: &field, origin: [0; 3] };
            let sums = session.scaled_sums(plane, scaling, None);
            let m = &self.last[plane];
            // What is not worth the work if all scaled correlations are small enough is not worth it.
            if dual(sums, 1.0) > (1.0 - self.tolerance) * (0.5 * m.residual_energy + self.penalty * m.weighted_l1) {
                let reach = session.scaled_reach(plane, scaling, self.penalty);
                self.duals[plane] = dual(sums, reach / self.penalty);
            }
        }
    }

    pub(super) fn status_of_gap(&self) -> Option<Status> {
        let gap = self.progress.relative_gap.expect("just measured");
        (gap <= self.tolerance).then_some(Status::Converged)
    }

    /// Certificate of every signal and their sum, from the last measurement.
    fn certificates(&self) -> (Vec<Certificate>, Certificate) {
        let mut planes = self.last.iter().zip(&self.duals).zip(&self.penalty_max);
        let mut total = Certificate::default();
        let mut signals = Vec::with_capacity(self.signals.len());
        for observed in self.signals {
            let mut sum = Certificate::default();
            for ((m, &dual), &penalty_max) in
                planes.by_ref().take(planes_of(observed.signal.channels(), self.dictionary.channels()))
            {
                sum.add(&certificate(m, dual, self.penalty, penalty_max));
            }
            sum.pixels = observed.extent().volume();
            total.add(&sum);
            signals.push(sum);
        }
        (signals, total)
    }

    /// Measures what a run that was broken off came to. After an interruption there is little time for that; where it does not suffice,
    /// what was proved of the optimum before still holds.
    fn measure_end(&mut self) {
        let stop = if self.ranks == 1 { self.asked.last_look() } else { Stop::default() };
        self.session.heed(stop.clone());
        self.session.refresh();
        self.last = self.session.measure(Measure::Certificate { penalty: self.penalty, slack: 0.0 });
        self.duals.fill(f64::NEG_INFINITY);
        if !stop.is_due() {
            self.seek_better_duals();
        }
        self.duals.iter_mut().zip(&self.proved).for_each(|(dual, &proved)| *dual = dual.max(proved));
        self.note(true);
    }

    pub(super) fn finish(mut self, status: Status) -> Result<Answer<T>> {
        // A run ended between two measurements is certified as it stands.
        let certified = self.history.last().is_some_and(|h| h.relative_gap.is_some());
        if is_broken_off(status) {
            self.measure_end();
        } else if status == Status::MaxSweeps && !certified {
            self.record(Measure::Certificate { penalty: self.penalty, slack: 0.0 });
            self.seek_better_duals();
        }
        let (mut signals, mut total) = self.certificates();
        let codes = self.session.fetch().codes;
        let working_memory_bytes = self.peak_memory.max(self.session.memory());
        // Its memory is free for what comes.
        drop(self.session);
        let needles = gather_needles(self.signals, self.dictionary.channels(), self.params.border, codes);
        let mut missed = 0.0;
        for ((certificate, observed), needles) in signals.iter_mut().zip(self.signals).zip(&needles) {
            missed += check_data_term(certificate, observed, needles, self.dictionary);
        }
        (total.objective, total.data_term, total.gap) = (total.objective + missed, total.data_term + missed, total.gap + missed);
        check_objective::<T>(total.objective)?;
        let overturned = status == Status::Converged && missed > 0.0 && total.relative_gap() > self.tolerance;
        let status = if overturned { Status::Stalled } else { status };
        let report = Report {
            status,
            total,
            signals,
            penalty: self.penalty,
            discovery_sweeps: self.progress.discovery_sweeps,
            support_sweeps: self.progress.support_sweeps,
            seconds: self.earlier + self.clock.elapsed().as_secs_f64(),
            working_memory_bytes,
            threads: self.threads,
            engine: self.engine,
            precision: T::NAME,
            history: self.history,
        };
        Ok(Answer { needles, report })
    }
}

/// Primal, and the better of the dual at `theta = s r` with the largest feasible `s <= 1` and a dual that was found otherwise.
pub(super) fn certificate(m: &Measurement, better_dual: f64, penalty: f64, penalty_max: f64) -> Certificate {
    let data_term = 0.5 * m.residual_energy;
    let objective = data_term + penalty * m.weighted_l1;
    let s = if m.largest_correlation > penalty { penalty / m.largest_correlation } else { 1.0 };
    let dual = (s * m.target_dot_residual - 0.5 * s * s * m.residual_energy).max(better_dual);
    // Weak duality: below 0 by rounding only, or something is wrong that the clamp must not hide from the tests.
    let below = dual - objective > 1e-5 * objective.abs() + f64::MIN_POSITIVE;
    debug_assert!(!below, "objective {objective} below its dual {dual}");
    // With zero codes and s = 1 primal and dual are the same number, which rounding must not tear apart.
    let gap = if m.nonzeros == 0 && s == 1.0 || objective < dual { 0.0 } else { objective - dual };
    Certificate { objective, data_term, gap, nonzeros: m.nonzeros, pixels: 0, penalty_max }
}
