//! The batch method: pursuit and projected steepest descent over the whole set, in turn.
//!
//! Between two pursuits the dictionary descends on eq. (10) along its gradient (11). What the gradient has along an atom itself is
//! undone by the projection, so only its part across the atom, `T`, is followed. On the unit sphere the data term is to second order
//!
//! ```text
//! f(D - t T) = f - t |T|^2 + t^2/2 ( ||A sum P_i^T T a_i||^2 - sum_k |T_k|^2 <G_k, d_k> )
//! ```
//!
//! and its minimum the first step tried. It is halved until the objective, measured, falls.

use super::course::{Pass, Passed, Standing, Stopped, Way};
use super::replace::{Renewed, renew_atoms};
use crate::checkpoint::Memory;
use crate::dictionary::energy;
use crate::engine::{Discovery, Support, Visit};
use crate::real::Real;

/// Support sweeps of a pursuit, and the change (in shares of the threshold) that ends them.
const SUPPORT_ROUNDS: usize = 20;
const SUPPORT_TOLERANCE: f64 = 0.01;
const LOCAL_TOLERANCE: f64 = 0.01;
/// The descent has converged when a step gains less than this share of the objective.
const GAIN: f64 = 1e-4;
const MOST_STEPS: usize = 50;
/// Times a step is halved before the dictionary is taken to be at a minimum.
const MOST_HALVINGS: usize = 8;

/// What the method remembers: where the last pass ended.
pub(super) struct Batch {
    standing: Standing,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { standing: Standing { objective: f64::INFINITY, ..Standing::default() } }
    }
}

impl<T: Real> Way<T> for Batch {
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<Passed, Stopped> {
        let mut renewed = renew_atoms(pass);
        let penalty = pass.penalty;
        pass.session.discover(&Discovery { penalty, visit: Visit::All, local_tolerance: LOCAL_TOLERANCE, layer_seed: None });
        pass.session.support(&Support { penalty, sweeps: 1, rounds: SUPPORT_ROUNDS, tolerance: SUPPORT_TOLERANCE });
        pass.go_on()?;
        let standing = descend(pass)?;
        if standing.objective <= self.standing.objective || renewed.merged > 0 {
            self.standing = standing;
        } else {
            // Nothing but rounding raises it: this is the minimum, as near as the precision comes.
            pass.take_back();
            renewed = Renewed::default();
        }
        Ok(Passed { standing: self.standing, replaced_atoms: renewed.replaced, merged_atoms: renewed.merged })
    }

    fn remember(&self) -> Memory {
        let Standing { objective, data_term, nonzeros } = self.standing;
        Memory::from([("batch".into(), vec![objective, data_term, nonzeros as f64])])
    }

    fn recall(&mut self, memory: &Memory) -> Option<()> {
        let &[objective, data_term, nonzeros] = &memory.get("batch")?[..] else { return None };
        self.standing = Standing { objective, data_term, nonzeros: nonzeros as usize };
        Some(())
    }
}

/// Steps along the gradient until they gain next to nothing.
fn descend<T: Real>(pass: &mut Pass<'_, '_, T>) -> Result<Standing, Stopped> {
    let mut standing = pass.measure();
    for _ in 0..MOST_STEPS {
        let Some(lower) = one_step(pass, standing) else { break };
        let gain = standing.objective - lower.objective;
        standing = lower;
        pass.go_on()?;
        if gain < GAIN * standing.objective {
            break;
        }
    }
    Ok(standing)
}

/// One step that lowers the objective; `None`, and nothing changed, where there is none.
fn one_step<T: Real>(pass: &mut Pass<'_, '_, T>, from: Standing) -> Option<Standing> {
    let before = pass.session.dictionary().clone();
    let mut across = pass.session.gradient(None);
    let (n, mut bend) = (before.atom_len(), 0.0);
    for (k, g) in across.chunks_exact_mut(n).enumerate() {
        let along: f64 = g.iter().zip(before.atom(k)).map(|(g, d)| g * d.to_f64()).sum();
        g.iter_mut().zip(before.atom(k)).for_each(|(g, d)| *g -= along * d.to_f64());
        // Atoms that would rather shrink could only lengthen the step.
        bend -= energy(g) * along.min(0.0);
    }
    bend += pass.session.energy_along(&across);
    let slope = energy(&across);
    let mut step = slope / bend;
    // Without codes, or at a minimum, there is no step to try.
    let tries = if step.is_finite() && step > 0.0 { MOST_HALVINGS } else { 0 };
    for _ in 0..tries {
        pass.session.set_dictionary(before.stepped(step, &across));
        let standing = pass.measure();
        if standing.objective < from.objective {
            return Some(standing);
        }
        step *= 0.5;
    }
    pass.session.set_dictionary(before);
    pass.session.refresh();
    None
}
