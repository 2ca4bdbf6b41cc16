//! Unpenalised codes: coefficients of weight 0.
//!
//! A dual point must be orthogonal to their atoms. They are fitted exactly before every
//! certificate, so that the residual is such a point.

use super::least_squares::{FittedCode, PlaneSamples};
use super::params::{Observed, PursuitParams};
use super::setup::planes_of;
use super::solver::Solver;
use crate::dictionary::Dictionary;
use crate::engine::{Session, Share, State};
use crate::error::Result;
use crate::real::Real;
use std::collections::HashMap;

/// Correlations below this are rounding errors, in units of the machine epsilon.
const ERRORS: f64 = 1024.0;

/// Position and atom of the unpenalised codes of every signal.
#[derive(Default)]
pub struct Unpenalised {
    places: Vec<Vec<([i32; 3], u32)>>,
    /// Correlations up to this are rounding errors.
    pub rounding: f64,
}

impl Unpenalised {
    pub fn of<T: Real>(
        params: &PursuitParams,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
    ) -> Self {
        let places = |observed: &Observed<T>| {
            let Some(weights) = &observed.coefficient_weights else { return Vec::new() };
            if !weights.data().contains(&T::ZERO) {
                return Vec::new();
            }
            let positions = params.border.positions(observed.extent(), dictionary.extent());
            let mut places = Vec::new();
            for atom in 0..dictionary.len() {
                let at = positions.points().zip(weights.channel(atom));
                let free = at.filter(|(_, w)| **w == T::ZERO);
                places.extend(free.map(|(at, _)| (at.at.map(|x| x as i32), atom as u32)));
            }
            places
        };
        let places: Vec<Vec<_>> = signals.iter().map(places).collect();
        if places.iter().all(Vec::is_empty) {
            return Self::default();
        }
        let samples = signals.iter().flat_map(|s| s.signal.data()).map(|x| x.to_f64().abs());
        let largest = samples.filter(|x| x.is_finite()).fold(0.0, f64::max);
        let rounding =
            ERRORS * T::EPSILON.to_f64() * largest * (dictionary.atom_len() as f64).sqrt();
        Self { places, rounding }
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Fits all of them, with the other codes of the session kept.
    pub fn fit<T: Real>(
        &self,
        params: &PursuitParams,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        session: &mut dyn Session<T>,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut codes = session.state(Share::All)?.codes;
        let mut planes = codes.iter_mut();
        for (observed, places) in signals.iter().zip(&self.places) {
            for plane in 0..planes_of(observed.signal.channels(), dictionary.channels()) {
                let codes = planes.next().expect("one entry per plane");
                let mut free: Vec<FittedCode> = places
                    .iter()
                    .map(|&(position, atom)| FittedCode { position, atom, value: 0.0 })
                    .collect();
                let number: HashMap<_, _> =
                    places.iter().enumerate().map(|(i, &place)| (place, i)).collect();
                let mut fixed = Vec::new();
                for code in codes.iter() {
                    match number.get(&(code.position, code.atom)) {
                        Some(&i) => free[i].value = code.value.to_f64(),
                        None => fixed.push(FittedCode::from(code)),
                    }
                }
                PlaneSamples::new(observed, dictionary, params.border, plane).fit(
                    &fixed,
                    &mut free,
                    params.elastic,
                );
                *codes = fixed.iter().chain(&free).map(|code| code.code(0)).collect();
                codes.retain(|code| code.value != T::ZERO);
            }
        }
        session.restore(&State::of_codes(codes))
    }
}

impl<T: Real> Solver<'_, T> {
    /// Fits the unpenalised codes.
    pub fn fit_unpenalised(&mut self) -> Result<()> {
        self.unpenalised.fit(self.params, self.signals, self.dictionary, &mut *self.session)
    }
}
