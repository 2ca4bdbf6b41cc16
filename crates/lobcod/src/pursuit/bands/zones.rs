//! What is known of the answer, zone by zone: a zone is measured again once something changed near it.

use super::Work;
use super::window::{Window, scaled};
use crate::engine::{Measure, Measurement, ScaleField, Scaling, Session, State};
use crate::error::Result;
use crate::pursuit::local_dual::Excess;
use crate::real::Real;
use std::ops::Range;

/// Positions that are measured together.
pub(super) struct Zone {
    pub(super) positions: Range<i64>,
    /// Has nothing near it changed since it was measured?
    pub(super) settled: bool,
    /// When last measured, plane by plane: sums over its own samples and codes.
    pub(super) planes: Vec<Measurement>,
    pub(super) excess: Vec<Excess>,
}

impl Zone {
    pub(super) fn new(positions: Range<i64>) -> Self {
        Self { positions, settled: false, planes: Vec::new(), excess: Vec::new() }
    }

    pub(super) fn objective(&self, penalty: f64) -> f64 {
        self.planes.iter().map(|m| 0.5 * m.residual_energy + penalty * m.weighted_l1).sum()
    }

    pub(super) fn nonzeros(&self) -> usize {
        self.planes.iter().map(|m| m.nonzeros).sum()
    }
}

/// Positions as they stand: their window, a session of it, and the codes in that.
pub(super) struct Reopened<T> {
    pub(super) window: Window<T>,
    pub(super) session: Box<dyn Session<T>>,
    state: State<T>,
}

/// Have two ranges a position in common?
pub(super) fn meet(a: &Range<i64>, b: &Range<i64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl<T: Real> Work<'_, T> {
    /// Says what must be looked at again because codes changed at these positions.
    pub(super) fn unsettle(&mut self, positions: &Range<i64>) {
        let cut = self.source.cut;
        let felt = cut.around(positions);
        self.zones.iter_mut().filter(|zone| meet(&zone.positions, &felt)).for_each(|zone| zone.settled = false);
        for (number, band) in self.bands.iter_mut().enumerate() {
            band.settled &= !meet(&cut.positions(number), &felt);
        }
    }

    /// Measures the zones near which something changed.
    pub(super) fn measure_zones(&mut self) -> Result<()> {
        for zone in 0..self.zones.len() {
            if !self.zones[zone].settled {
                let Reopened { window, mut session, state } = self.reopen(self.zones[zone].positions.clone())?;
                session.measure(Measure::Certificate { penalty: self.penalty, slack: 0.0 });
                self.note(zone, &window, &mut *session, &state);
            }
        }
        Ok(())
    }

    /// A session of these positions with their codes as they stand.
    pub(super) fn reopen(&mut self, positions: Range<i64>) -> Result<Reopened<T>> {
        let window = self.source.window(positions, false)?;
        let mut session = self.source.open(self.engine, &self.params, &window)?;
        let state = self.source.codes(&window)?;
        session.restore(&state);
        session.refresh();
        Ok(Reopened { window, session, state })
    }

    /// Takes down what is known of a zone from a window that it lies in, right after a certificate of the window's codes.
    pub(super) fn note(&mut self, zone: usize, window: &Window<T>, session: &mut dyn Session<T>, state: &State<T>) {
        let (cut, atom_weights) = (self.source.cut, self.params.atom_weights.as_deref());
        let (axis, origin) = (cut.axis, cut.origin(&window.positions));
        let positions = self.zones[zone].positions.clone();
        let own = positions.start - origin[axis]..positions.end - origin[axis];
        let ones = ScaleField::ones();
        let measured = |(plane, codes): (usize, &Vec<_>)| {
            let sums = window.sums(&cut, session, plane, Scaling { field: &ones, origin }, &positions);
            let mut m = Measurement { residual_energy: sums.energy, target_dot_residual: sums.dot, ..Measurement::default() };
            let is_own = |code: &&crate::Code<T>| code.value != T::ZERO && own.contains(&i64::from(code.position[axis]));
            for code in codes.iter().filter(is_own) {
                let weight = atom_weights.map_or(T::ONE, |weights| T::from_f64(weights[code.atom as usize]));
                m.nonzeros += 1;
                m.weighted_l1 += weight.to_f64() * code.value.to_f64().abs();
            }
            m
        };
        let mut planes: Vec<Measurement> = state.codes.iter().enumerate().map(measured).collect();
        let no_excess = self.lattice.map(|lattice| Excess::of_rows(lattice, self.source.dictionary.extent(), positions));
        let mut excess: Vec<Excess> = no_excess.map_or(Vec::new(), |none| vec![none; planes.len()]);
        let penalty = self.penalty;
        scaled(session).exceeding(penalty, &mut |plane, mut found| {
            // The box of a tile may reach beyond the zone.
            found.first[axis] = found.first[axis].max(own.start);
            found.last[axis] = found.last[axis].min(own.end - 1);
            if found.first[axis] <= found.last[axis] {
                planes[plane].largest_correlation = planes[plane].largest_correlation.max(found.ratio * penalty);
                if let Some(excess) = excess.get_mut(plane) {
                    excess.note(origin, found);
                }
            }
        });
        let zone = &mut self.zones[zone];
        (zone.planes, zone.excess, zone.settled) = (planes, excess, true);
    }
}
