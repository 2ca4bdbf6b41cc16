//! The certificate of the whole signal, and the report.

use super::Work;
use super::window::scaled;
use super::zones::Reopened;
use crate::engine::{Measurement, ScaledSums, Scaling};
use crate::error::Result;
use crate::pursuit::local_dual::{Excess, dual};
use crate::pursuit::outcome::certificate;
use crate::pursuit::params::check_objective;
use crate::real::Real;
use crate::report::{Certificate, HistoryPoint, Report, Status};

impl<T: Real> Work<'_, T> {
    /// Measures the answer as it stands.
    pub(super) fn measure(&mut self) -> Result<Certificate> {
        self.measure_zones()?;
        let total = self.certificate()?;
        check_objective::<T>(total.objective)?;
        let (seconds, relative_gap) = (self.clock.elapsed().as_secs_f64(), Some(total.relative_gap()));
        let point = HistoryPoint { seconds, objective: total.objective, nonzeros: total.nonzeros, relative_gap };
        self.history.push(point);
        Ok(total)
    }

    /// What all zones together prove.
    fn certificate(&mut self) -> Result<Certificate> {
        let planes: Vec<Measurement> = (0..self.penalty_max.len())
            .map(|plane| {
                let add = |sum: Measurement, m: &Measurement| Measurement {
                    residual_energy: sum.residual_energy + m.residual_energy,
                    target_dot_residual: sum.target_dot_residual + m.target_dot_residual,
                    weighted_l1: sum.weighted_l1 + m.weighted_l1,
                    nonzeros: sum.nonzeros + m.nonzeros,
                    largest_correlation: sum.largest_correlation.max(m.largest_correlation),
                    visited: sum.visited + m.visited,
                };
                self.zones.iter().map(|zone| &zone.planes[plane]).fold(Measurement::default(), add)
            })
            .collect();
        let plain = self.total(&planes, &vec![f64::NEG_INFINITY; planes.len()]);
        if plain.relative_gap() <= self.asked.tolerance || self.lattice.is_none() {
            return Ok(plain);
        }
        let duals = self.better_duals()?;
        Ok(self.total(&planes, &duals))
    }

    fn total(&self, planes: &[Measurement], duals: &[f64]) -> Certificate {
        let mut total = Certificate::default();
        for ((m, &dual), &penalty_max) in planes.iter().zip(duals).zip(&self.penalty_max) {
            total.add(&certificate(m, dual, self.penalty, penalty_max));
        }
        total.pixels = self.source.signal.extent().volume();
        total
    }

    /// Values of the dual at the residual scaled cell by cell. Needles around which no scale is changed were measured with their
    /// zones and do not exceed the penalty; the others are measured here.
    fn better_duals(&mut self) -> Result<Vec<f64>> {
        let fields: Vec<_> =
            (0..self.penalty_max.len()).map(|plane| Excess::field(self.zones.iter().map(|zone| &zone.excess[plane]))).collect();
        let mut sums = vec![(ScaledSums::default(), self.penalty); fields.len()];
        for band in 0..self.bands.len() {
            let cut = self.source.cut;
            let Reopened { window, mut session, .. } = self.reopen(cut.positions(band))?;
            let origin = cut.origin(&window.positions);
            for (plane, (field, (sum, reach))) in fields.iter().zip(&mut sums).enumerate() {
                let scaling = Scaling { field, origin };
                let own = window.sums(&cut, &mut *session, plane, scaling, &window.positions);
                (sum.dot, sum.energy) = (sum.dot + own.dot, sum.energy + own.energy);
                *reach = reach.max(scaled(&mut *session).scaled_reach(plane, scaling, self.penalty));
            }
        }
        Ok(sums.into_iter().map(|(sums, reach)| dual(sums, reach / self.penalty)).collect())
    }

    pub(super) fn report(&mut self, status: Status, total: Certificate) -> Report {
        Report {
            status,
            total,
            signals: vec![total],
            penalty: self.penalty,
            discovery_sweeps: self.sweeps.0,
            support_sweeps: self.sweeps.1,
            seconds: self.clock.elapsed().as_secs_f64(),
            working_memory_bytes: self.memory,
            threads: self.engine.threads(),
            engine: self.engine.name(),
            precision: T::NAME,
            history: std::mem::take(&mut self.history),
        }
    }
}
