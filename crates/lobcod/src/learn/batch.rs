//! The batch method: alternates pursuit and projected steepest descent over the whole set.
//!
//! Between two pursuits the dictionary descends on eq. (10) along its gradient (11). The
//! projection cancels the component of the gradient along an atom, so only the orthogonal component
//! `T` is used. On the unit sphere the data term is to second order
//!
//! ```text
//! f(D - t T) = f - t |T|^2 + t^2/2 ( ||A sum P_i^T T a_i||^2 - sum_k |T_k|^2 <G_k, d_k> )
//! ```
//!
//! and its minimum is the first trial step. The step is halved until the measured objective falls.

use super::LearnPoint;
use super::recentre::{is_due, recentre};
use super::replace::{Renewed, renew_atoms};
use super::solver::{Pass, PassMethod, Stopped};
use crate::checkpoint::LearnerState;
use crate::dictionary::energy;
use crate::engine::{Discovery, Support, Visit};
use crate::error::Result;
use crate::real::Real;

/// Support sweeps of a pursuit, and the change (as a fraction of the threshold) that ends them.
const SUPPORT_ROUNDS: usize = 20;
const SUPPORT_TOLERANCE: f64 = 0.01;
const LOCAL_TOLERANCE: f64 = 0.01;
/// The descent has converged when a step reduces the objective by less than this fraction.
const GAIN: f64 = 1e-4;
const MOST_STEPS: usize = 50;
/// How often a step is halved before the dictionary counts as a minimum.
const MOST_HALVINGS: usize = 8;

/// State of the method: the end of the last pass.
pub struct Batch {
    best: LearnPoint,
}

impl Batch {
    pub fn new() -> Self {
        Self { best: LearnPoint { objective: f64::INFINITY, ..LearnPoint::default() } }
    }
}

impl<T: Real> PassMethod<T> for Batch {
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint, Stopped> {
        let mut renewed = renew_atoms(pass)?;
        // Shifted waveforms are the usual local minima of recordings.
        if pass.constraints.has_rank_one() && !renewed.any() && is_due(pass.number) {
            recentre(pass)?;
        }
        let penalty = pass.penalty;
        let sweep = Discovery {
            penalty,
            visit: Visit::All,
            local_tolerance: LOCAL_TOLERANCE,
            layer_seed: None,
        };
        pass.session.discover(&sweep, pass.run.context())?;
        let sweep =
            Support { penalty, sweeps: 1, rounds: SUPPORT_ROUNDS, tolerance: SUPPORT_TOLERANCE };
        pass.session.support(&sweep, pass.run.context())?;
        pass.pause()?;
        let lowest = descend(pass)?;
        if lowest.objective <= self.best.objective || renewed.merged > 0 {
            self.best = lowest;
        } else {
            // Only rounding raises it: this is the minimum.
            pass.atoms().take_back()?;
            renewed = Renewed::default();
        }
        Ok(renewed.counted(self.best))
    }

    fn remember(&self) -> LearnerState {
        let LearnPoint { objective, data_term, nonzeros, .. } = self.best;
        LearnerState::from([("batch".into(), vec![objective, data_term, nonzeros as f64])])
    }

    fn recall(&mut self, memory: &LearnerState) -> Option<()> {
        let &[objective, data_term, nonzeros] = &memory.get("batch")?[..] else { return None };
        self.best = LearnPoint {
            objective,
            data_term,
            nonzeros: nonzeros as usize,
            ..LearnPoint::default()
        };
        Some(())
    }
}

/// Steps along the gradient until the gain is negligible.
fn descend<T: Real>(pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint, Stopped> {
    let mut standing = pass.measure()?;
    for _ in 0..MOST_STEPS {
        let Some(lower) = one_step(pass, standing)? else { break };
        let gain = standing.objective - lower.objective;
        standing = lower;
        pass.pause()?;
        if gain < GAIN * standing.objective {
            break;
        }
    }
    Ok(standing)
}

/// One step that lowers the objective; `None`, with nothing changed, if there is none.
fn one_step<T: Real>(pass: &mut Pass<'_, '_, T>, from: LearnPoint) -> Result<Option<LearnPoint>> {
    let before = pass.session.dictionary().clone();
    let mut across = pass.atoms().gradient(None)?;
    let (n, mut bend) = (before.atom_len(), 0.0);
    let constraints = pass.constraints;
    let mut along = Vec::with_capacity(before.len());
    for (k, g) in across.chunks_exact_mut(n).enumerate() {
        along.push(g.iter().zip(before.atom(k)).map(|(g, d)| g * d.to_f64()).sum::<f64>());
        g.iter_mut().zip(before.atom(k)).for_each(|(g, d)| *g -= along[k] * d.to_f64());
    }
    let mut slope = energy(&across);
    if !constraints.is_none() {
        let gradient = across.clone();
        constraints.direction(&before, &mut across);
        slope = gradient.iter().zip(&across).map(|(g, x)| g * x).sum();
    }
    for (g, along) in across.chunks_exact(n).zip(&along) {
        // Atoms that would shrink could only lengthen the step.
        bend -= energy(g) * along.min(0.0);
    }
    bend += pass.atoms().energy_along(&across)?;
    let mut step = slope / bend;
    // Without codes, or at a minimum, there is no step.
    let tries = if step.is_finite() && step > 0.0 { MOST_HALVINGS } else { 0 };
    for _ in 0..tries {
        let moved = constraints.returned(before.stepped(step, &across), &before);
        pass.atoms().set_dictionary(moved)?;
        let standing = pass.measure()?;
        if standing.objective < from.objective {
            return Ok(Some(standing));
        }
        step *= 0.5;
    }
    pass.atoms().set_dictionary(before)?;
    Ok(None)
}
