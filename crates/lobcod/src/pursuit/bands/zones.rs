//! Measurements per zone, repeated after changes nearby.

use super::BandedSolver;
use super::window::{Window, scaled};
use crate::engine::{Measure, Measurement, ScaleField, Scaling, Session, State};
use crate::error::Result;
use crate::pursuit::local_dual::Excess;
use crate::real::Real;
use std::ops::Range;

/// Positions that are measured together.
pub struct Zone {
    pub positions: Range<i64>,
    /// Whether nothing nearby has changed since it was measured.
    pub settled: bool,
    /// Last measurement of each plane: sums over its own samples and codes.
    pub planes: Vec<Measurement>,
    pub excess: Vec<Excess>,
}

impl Zone {
    pub fn new(positions: Range<i64>) -> Self {
        Self { positions, settled: false, planes: Vec::new(), excess: Vec::new() }
    }

    pub fn objective(&self, penalty: f64) -> f64 {
        self.planes.iter().map(|m| m.objective(penalty)).sum()
    }

    pub fn nonzeros(&self) -> usize {
        self.planes.iter().map(|m| m.nonzeros).sum()
    }
}

/// Current state of a range of positions: their window, a session on it, and its codes.
pub struct Reopened<T> {
    pub window: Window<T>,
    pub session: Box<dyn Session<T>>,
    state: State<T>,
}

/// Whether two ranges have a position in common.
pub fn meet(a: &Range<i64>, b: &Range<i64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl<T: Real> BandedSolver<'_, T> {
    /// Unsettles everything near changed positions.
    pub fn unsettle(&mut self, positions: &Range<i64>) {
        let layout = self.source.layout;
        let felt = layout.around(positions);
        self.zones
            .iter_mut()
            .filter(|zone| meet(&zone.positions, &felt))
            .for_each(|zone| zone.settled = false);
        for (number, band) in self.bands.iter_mut().enumerate() {
            band.settled &= !meet(&layout.positions(number), &felt);
        }
    }

    /// Measures the zones that are not settled. In a run that was stopped, zones may stay without a
    /// certificate.
    pub fn measure_zones(&mut self) -> Result<()> {
        let context = self.run.last_measurement();
        for zone in 0..self.zones.len() {
            if !self.zones[zone].settled {
                let Reopened { window, mut session, state } =
                    self.reopen(self.zones[zone].positions.clone())?;
                let what = Measure::Certificate { penalty: self.penalty, slack: 0.0 };
                let measured = session.measure(what, &context)?;
                self.record_zone(zone, &window, &mut *session, &state)?;
                if measured.iter().any(|m| m.largest_correlation.is_infinite()) {
                    let zone = &mut self.zones[zone];
                    zone.planes.iter_mut().for_each(|m| m.largest_correlation = f64::INFINITY);
                    zone.settled = false;
                }
            }
        }
        Ok(())
    }

    /// Opens a session on these positions with their current codes.
    pub fn reopen(&mut self, positions: Range<i64>) -> Result<Reopened<T>> {
        let window = self.source.window(positions, false)?;
        let mut session = self.source.open(self.engine, &self.window_params, &window)?;
        let state = self.source.codes(&window)?;
        session.restore(&state)?;
        Ok(Reopened { window, session, state })
    }

    /// Records a zone inside a window, immediately after its codes were certified.
    pub fn record_zone(
        &mut self,
        zone: usize,
        window: &Window<T>,
        session: &mut dyn Session<T>,
        state: &State<T>,
    ) -> Result<()> {
        let (layout, atom_weights) =
            (self.source.layout, self.window_params.atom_weights.as_deref());
        let (axis, origin) = (layout.axis, layout.origin(&window.positions));
        let positions = self.zones[zone].positions.clone();
        let first = origin.first.at[axis];
        let own = positions.start - first..positions.end - first;
        let ones = ScaleField::ones();
        let measured = |(plane, codes): (usize, &Vec<_>)| -> Result<Measurement> {
            let sums = window.sums(
                &layout,
                session,
                plane,
                Scaling { field: &ones, origin },
                &positions,
            )?;
            let mut m = Measurement {
                residual_energy: sums.energy,
                target_dot_residual: sums.dot,
                ..Measurement::default()
            };
            let is_own = |code: &&crate::Code<T>| {
                code.value != T::ZERO && own.contains(&i64::from(code.position[axis]))
            };
            for code in codes.iter().filter(is_own) {
                let weight =
                    atom_weights.map_or(T::ONE, |weights| T::from_f64(weights[code.atom as usize]));
                m.nonzeros += 1;
                m.weighted_l1 += weight.to_f64() * code.value.to_f64().abs();
            }
            Ok(m)
        };
        let mut planes =
            state.codes.iter().enumerate().map(measured).collect::<Result<Vec<Measurement>>>()?;
        let no_excess = self
            .lattice
            .map(|lattice| Excess::of_rows(lattice, self.source.dictionary.extent(), positions));
        let mut excess: Vec<Excess> = no_excess.map_or(Vec::new(), |none| vec![none; planes.len()]);
        let penalty = self.penalty;
        scaled(session).exceeding(penalty, &mut |plane, mut found| {
            // The box of a tile may extend beyond the zone.
            let inside = found.region.range(axis);
            found.region =
                found.region.with_range(axis, inside.start.max(own.start)..inside.end.min(own.end));
            if !found.region.is_empty() {
                planes[plane].largest_correlation =
                    planes[plane].largest_correlation.max(found.ratio * penalty);
                if let Some(excess) = excess.get_mut(plane) {
                    excess.record(origin, found);
                }
            }
        })?;
        let zone = &mut self.zones[zone];
        (zone.planes, zone.excess, zone.settled) = (planes, excess, true);
        Ok(())
    }
}
