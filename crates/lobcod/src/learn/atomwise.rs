//! The atom-wise method.
//!
//! A pass is a discovery sweep over all signals, then several times in turn: support sweeps over the non-zero codes, and a pass
//! over the atoms. Between passes the dictionary is carried on along its last move, as far as that pays; a pass that raised the
//! objective is taken back.

use super::course::{Pass, Passed, Standing, Stopped, Way};
use super::recentre::recentre;
use super::replace::{Renewed, renew_atoms};
use crate::checkpoint::Memory;
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, Measure, Support, Visit};
use crate::real::Real;

/// Codes whose correlation exceeds the threshold by less than this share are left for later: the dictionary will have moved by then.
const LOCAL_TOLERANCE: f64 = 0.02;
/// Support sweeps before each pass over the atoms, and the change (in shares of the threshold) that ends them.
const SUPPORT_ROUNDS: usize = 2;
const SUPPORT_TOLERANCE: f64 = 0.01;
/// How far the dictionary is carried on along its last move: at first, at most, and the growth from pass to pass.
const FIRST_CARRY: f64 = 0.5;
const MOST_CARRY: f64 = 3.0;
const CARRY_GROWTH: f64 = 1.15;
/// The first pass has this many times the penalty, and the next ones this share of the one before, down to what was asked: few codes
/// suffice to give the atoms their shape. But no more than this share of the largest correlation: too few would leave atoms idle.
const FIRST_STAGE: f64 = 4.0;
const MOST_STAGE: f64 = 0.3;
const STAGE_FACTOR: f64 = 0.5;
/// Passes between two looks at whether atoms sit well in their boxes.
const RECENTRE_EVERY: usize = 8;

/// What the method remembers.
pub(super) struct Atomwise<T> {
    /// Where the best pass so far ended.
    standing: Standing,
    /// The dictionary before the last pass that was kept.
    before: Dictionary<T>,
    /// How far to carry on next, and at most.
    carry: f64,
    most_carry: f64,
    /// Penalty of the next pass, in shares of the one asked for.
    stage: f64,
}

impl<T: Real> Atomwise<T> {
    pub(super) fn new(first: &Dictionary<T>) -> Self {
        let standing = Standing { objective: f64::INFINITY, ..Standing::default() };
        Self { standing, before: first.clone(), carry: 0.0, most_carry: MOST_CARRY, stage: FIRST_STAGE }
    }

    /// Carries the dictionary on along its last move.
    fn carry_on(&self, pass: &mut Pass<'_, '_, T>) {
        let (now, carry) = (pass.session.dictionary(), T::from_f64(self.carry));
        let data = now.data().iter().zip(self.before.data()).map(|(&d, &b)| d + carry * (d - b)).collect();
        // An atom that turned round may vanish on the way; then nothing is carried.
        if let Ok(carried) = Dictionary::new(now.extent(), now.channels(), data) {
            pass.session.set_dictionary(carried);
            pass.session.refresh();
        }
    }
}

impl<T: Real> Way<T> for Atomwise<T> {
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<Passed, Stopped> {
        let mut renewed = renew_atoms(pass);
        let mut shifted = false;
        if renewed.any() {
            // A new atom has no last move.
            self.carry = 0.0;
        } else if pass.number % RECENTRE_EVERY == 1 && pass.number > 1 {
            shifted = recentre(pass) > 0;
        }
        if shifted {
            self.carry = 0.0;
        } else if self.carry > 0.0 {
            self.carry_on(pass);
        }
        // Being shifted in its box, or replaced, is not a move of the atom to be carried on.
        let began = if shifted || renewed.any() { pass.session.dictionary().clone() } else { pass.before.clone() };
        if pass.number == 1 {
            let zero = pass.session.measure(Measure::Largest);
            let most = zero.iter().map(|m| m.largest_correlation).fold(0.0, f64::max);
            self.stage = FIRST_STAGE.min(MOST_STAGE * most / pass.penalty).max(1.0);
        }
        sweep_and_improve(pass, self.stage)?;
        self.stage = (STAGE_FACTOR * self.stage).max(1.0);
        let standing = pass.measure();
        if standing.objective <= self.standing.objective || renewed.merged > 0 {
            (self.standing, self.before) = (standing, began);
            self.carry = (CARRY_GROWTH * self.carry).clamp(FIRST_CARRY, self.most_carry);
        } else {
            // Carried too far: back to the best, and more slowly.
            pass.take_back();
            self.before.clone_from(&pass.before);
            self.most_carry = (0.8 * self.most_carry).max(FIRST_CARRY);
            self.carry = FIRST_CARRY;
            renewed = Renewed::default();
        }
        Ok(Passed { standing: self.standing, replaced_atoms: renewed.replaced, merged_atoms: renewed.merged })
    }

    fn remember(&self) -> Memory {
        let Standing { objective, data_term, nonzeros } = self.standing;
        let before = self.before.data().iter().map(|x| x.to_f64()).collect();
        let scalars = vec![objective, data_term, nonzeros as f64, self.carry, self.most_carry, self.stage];
        Memory::from([("before".into(), before), ("atomwise".into(), scalars)])
    }

    fn recall(&mut self, memory: &Memory) -> Option<()> {
        let &[objective, data_term, nonzeros, carry, most_carry, stage] = &memory.get("atomwise")?[..] else { return None };
        let before = memory.get("before")?.iter().map(|&x| T::from_f64(x)).collect();
        let before = self.before.with_data(before)?;
        let standing = Standing { objective, data_term, nonzeros: nonzeros as usize };
        *self = Self { standing, before, carry, most_carry, stage };
        Some(())
    }
}

fn sweep_and_improve<T: Real>(pass: &mut Pass<'_, '_, T>, stage: f64) -> Result<(), Stopped> {
    let penalty = stage * pass.penalty;
    pass.session.discover(&Discovery { penalty, visit: Visit::All, local_tolerance: LOCAL_TOLERANCE, layer_seed: None });
    pass.go_on()?;
    for _ in 0..pass.params.rounds {
        pass.session.support(&Support { penalty, sweeps: 1, rounds: SUPPORT_ROUNDS, tolerance: SUPPORT_TOLERANCE });
        pass.session.improve_atoms();
        pass.go_on()?;
    }
    Ok(())
}
