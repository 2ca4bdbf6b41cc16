//! The atom-wise method.
//!
//! A pass is a discovery sweep, followed by alternating support sweeps and passes over the atoms.
//! Between passes the dictionary is extrapolated along its last change; a pass that raised the
//! objective is undone.

use super::LearnPoint;
use super::recentre::{is_due, recentre};
use super::replace::{Renewed, renew_atoms};
use super::solver::{Pass, PassMethod, Stopped};
use crate::checkpoint::LearnerState;
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, Measure, Support, Visit};
use crate::error::Result;
use crate::real::Real;

/// Codes that exceed their threshold by a smaller fraction are left for later passes.
const LOCAL_TOLERANCE: f64 = 0.02;
/// Support sweeps before each pass over the atoms, and the change (as a fraction of the threshold)
/// that ends them.
const SUPPORT_ROUNDS: usize = 2;
const SUPPORT_TOLERANCE: f64 = 0.01;
/// Extrapolation factor of the dictionary: initial, maximum, and its growth per pass.
const FIRST_CARRY: f64 = 0.5;
const MOST_CARRY: f64 = 3.0;
const CARRY_GROWTH: f64 = 1.15;
/// Factor of the penalty in the first pass, its limit as a fraction of the largest correlation, and
/// its decrease per pass: few codes suffice to shape the atoms, too few leave some unused.
const FIRST_STAGE: f64 = 4.0;
const MOST_STAGE: f64 = 0.3;
const STAGE_FACTOR: f64 = 0.5;

/// State of the method.
pub struct Atomwise<T> {
    /// End of the best pass so far.
    best: LearnPoint,
    /// The dictionary before the last pass that was kept.
    before: Dictionary<T>,
    /// Extrapolation factor of the next pass, and its maximum.
    carry: f64,
    most_carry: f64,
    /// Penalty of the next pass, as a multiple of the final one.
    stage: f64,
}

impl<T: Real> Atomwise<T> {
    pub fn new(first: &Dictionary<T>) -> Self {
        let best = LearnPoint { objective: f64::INFINITY, ..LearnPoint::default() };
        Self { best, before: first.clone(), carry: 0.0, most_carry: MOST_CARRY, stage: FIRST_STAGE }
    }

    /// Extrapolates the dictionary along its last change.
    fn extrapolate(&self, pass: &mut Pass<'_, '_, T>) -> Result<()> {
        let (now, carry) = (pass.session.dictionary(), T::from_f64(self.carry));
        let data =
            now.data().iter().zip(self.before.data()).map(|(&d, &b)| d + carry * (d - b)).collect();
        // An atom that reversed its direction may vanish; then nothing is extrapolated.
        match Dictionary::new(now.extent(), now.channels(), data) {
            Ok(carried) => {
                let carried = pass.constraints.returned(carried, now);
                pass.atoms().set_dictionary(carried)
            }
            Err(_) => Ok(()),
        }
    }
}

impl<T: Real> PassMethod<T> for Atomwise<T> {
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint, Stopped> {
        let mut renewed = renew_atoms(pass)?;
        let mut shifted = false;
        if renewed.any() {
            // A new atom has no last change.
            self.carry = 0.0;
        } else if is_due(pass.number) {
            shifted = recentre(pass)? > 0;
        }
        if shifted {
            self.carry = 0.0;
        } else if self.carry > 0.0 {
            self.extrapolate(pass)?;
        }
        // A shift or replacement must not be extrapolated.
        let began = if shifted || renewed.any() {
            pass.session.dictionary().clone()
        } else {
            pass.before.clone()
        };
        if pass.number == 1 {
            let zero = pass.session.measure(Measure::Largest, pass.run.context())?;
            let most = zero.iter().map(|m| m.largest_correlation).fold(0.0, f64::max);
            self.stage = FIRST_STAGE.min(MOST_STAGE * most / pass.penalty).max(1.0);
        }
        sweep_and_improve(pass, self.stage)?;
        self.stage = (STAGE_FACTOR * self.stage).max(1.0);
        let measured = pass.measure()?;
        if measured.objective <= self.best.objective || renewed.merged > 0 {
            (self.best, self.before) = (measured, began);
            self.carry = (CARRY_GROWTH * self.carry).clamp(FIRST_CARRY, self.most_carry);
        } else {
            // Overshot: return to the best dictionary, and extrapolate less.
            pass.atoms().take_back()?;
            self.before.clone_from(&pass.before);
            self.most_carry = (0.8 * self.most_carry).max(FIRST_CARRY);
            self.carry = FIRST_CARRY;
            renewed = Renewed::default();
        }
        Ok(renewed.counted(self.best))
    }

    fn grown(&mut self, dictionary: &Dictionary<T>) {
        self.before.clone_from(dictionary);
        self.carry = 0.0;
    }

    fn remember(&self) -> LearnerState {
        let LearnPoint { objective, data_term, nonzeros, .. } = self.best;
        let before = self.before.data().iter().map(|x| x.to_f64()).collect();
        let scalars =
            vec![objective, data_term, nonzeros as f64, self.carry, self.most_carry, self.stage];
        LearnerState::from([("before".into(), before), ("atomwise".into(), scalars)])
    }

    fn recall(&mut self, memory: &LearnerState) -> Option<()> {
        let &[objective, data_term, nonzeros, carry, most_carry, stage] =
            &memory.get("atomwise")?[..]
        else {
            return None;
        };
        let before = memory.get("before")?.iter().map(|&x| T::from_f64(x)).collect();
        let before = self.before.with_data(before)?;
        let best = LearnPoint {
            objective,
            data_term,
            nonzeros: nonzeros as usize,
            ..LearnPoint::default()
        };
        *self = Self { best, before, carry, most_carry, stage };
        Some(())
    }
}

fn sweep_and_improve<T: Real>(pass: &mut Pass<'_, '_, T>, stage: f64) -> Result<(), Stopped> {
    let penalty = stage * pass.penalty;
    let sweep = Discovery {
        penalty,
        visit: Visit::All,
        local_tolerance: LOCAL_TOLERANCE,
        layer_seed: None,
    };
    pass.session.discover(&sweep, pass.run.context())?;
    pass.pause()?;
    let sweep =
        Support { penalty, sweeps: 1, rounds: SUPPORT_ROUNDS, tolerance: SUPPORT_TOLERANCE };
    for _ in 0..pass.params.rounds {
        pass.session.support(&sweep, pass.run.context())?;
        pass.session.learning().improve_atoms(pass.constraints, pass.run.context())?;
        pass.pause()?;
    }
    Ok(())
}
