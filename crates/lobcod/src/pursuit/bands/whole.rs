//! The certificate of the whole signal, and the report.

use super::BandedSolver;
use super::window::scaled;
use super::zones::Reopened;
use crate::engine::{Measurement, ScaledSums, Scaling};
use crate::error::Result;
use crate::pursuit::local_dual::Excess;
use crate::pursuit::outcome::certificate;
use crate::pursuit::params::check_objective;
use crate::real::Real;
use crate::report::{Certificate, HistoryPoint, Report, Status};

impl<T: Real> BandedSolver<'_, T> {
    /// Measures the current codes.
    pub fn measure(&mut self) -> Result<Certificate> {
        self.measure_zones()?;
        let total = self.certificate()?;
        check_objective::<T>(total.objective)?;
        let (seconds, relative_gap) = (self.run.seconds(), Some(total.relative_gap()));
        let point = HistoryPoint {
            seconds,
            objective: total.objective,
            nonzeros: total.nonzeros,
            relative_gap,
        };
        self.history.push(point);
        Ok(total)
    }

    /// Combines the measurements of all zones.
    fn certificate(&mut self) -> Result<Certificate> {
        let planes: Vec<Measurement> = (0..self.penalty_max.len())
            .map(|plane| self.zones.iter().map(|zone| zone.planes[plane]).sum())
            .collect();
        let plain = self.total(&planes, &vec![f64::NEG_INFINITY; planes.len()]);
        let measured = self.zones.iter().all(|zone| zone.settled);
        if plain.relative_gap() <= self.params.tolerance || self.lattice.is_none() || !measured {
            return Ok(plain);
        }
        let duals = self.better_duals()?;
        Ok(self.total(&planes, &duals))
    }

    fn total(&self, planes: &[Measurement], duals: &[f64]) -> Certificate {
        let mut total = Certificate::default();
        for ((m, &dual), &penalty_max) in planes.iter().zip(duals).zip(&self.penalty_max) {
            total.add(&certificate(m, dual, self.penalty, penalty_max, 0.0));
        }
        total.pixels = self.source.signal.extent().volume();
        total
    }

    /// Dual values at the scaled residual. Only needles near changed scales are measured again; the
    /// measurements of their zones hold for the others.
    fn better_duals(&mut self) -> Result<Vec<f64>> {
        let fields: Vec<_> = (0..self.penalty_max.len())
            .map(|plane| Excess::field(self.zones.iter().map(|zone| &zone.excess[plane])))
            .collect();
        let mut sums = vec![(ScaledSums::default(), self.penalty); fields.len()];
        for band in 0..self.bands.len() {
            let layout = self.source.layout;
            let Reopened { window, mut session, .. } = self.reopen(layout.positions(band))?;
            let origin = layout.origin(&window.positions);
            for (plane, (field, (sum, largest))) in fields.iter().zip(&mut sums).enumerate() {
                let scaling = Scaling { field, origin };
                *sum = *sum
                    + window.sums(&layout, &mut *session, plane, scaling, &window.positions)?;
                *largest = largest.max(scaled(&mut *session).scaled_correlation(
                    plane,
                    scaling,
                    self.penalty,
                )?);
            }
        }
        Ok(sums.into_iter().map(|(sums, largest)| sums.dual(largest / self.penalty)).collect())
    }

    pub fn report(&mut self, status: Status, total: Certificate) -> Report {
        let (penalty, history) = (self.penalty, std::mem::take(&mut self.history));
        Report {
            status,
            total,
            signals: vec![total],
            penalty,
            history,
            ..self.run.report(self.engine)
        }
    }
}
