//! The stochastic method: Algorithm 2 of the paper.
//!
//! Images and their layers are visited in random order. After the pursuit of a layer the dictionary
//! takes one step along `- sum P_i R a_i^T` of that layer and is normalised. Unlike in the paper,
//! the residual is recomputed every pass; otherwise it would drift.

use super::LearnPoint;
use super::decay::Decay;
use super::optimiser::Optimiser;
use super::recentre::{is_due, recentre};
use super::replace::{Renewed, renew_atoms};
use super::solver::{Pass, PassMethod, Stopped};
use super::step::Step;
use crate::checkpoint::LearnerState;
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, PlaneLayer, State, Visit};
use crate::error::Result;
use crate::real::Real;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Changes below this fraction of the threshold are ignored within a needle.
const LOCAL_TOLERANCE: f64 = 0.02;

/// State of the step rule, and the objective with zero codes. Random orders are derived from the
/// seed and the number of the pass.
pub struct Stochastic {
    optimiser: Optimiser,
    decay: Decay,
    without_codes: f64,
}

impl Stochastic {
    pub fn new<T: Real>(step: Step, decay: Decay, first: &Dictionary<T>) -> Self {
        Self {
            optimiser: Optimiser::new(step, first.data().len(), first.atom_len()),
            decay,
            without_codes: f64::INFINITY,
        }
    }

    /// Result of the pass. If steps were so large that the codes are worse than zero codes, the
    /// next pass starts from zero codes.
    fn settle<T: Real>(&self, pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint> {
        let standing = pass.measure()?;
        if standing.objective <= self.without_codes {
            return Ok(standing);
        }
        let codes = pass.extents.iter().map(|_| Vec::new()).collect();
        pass.session.restore(&State::of_codes(codes))?;
        pass.measure()
    }

    /// Renews atoms, shifts those of rank 1 that are off their centre, and resets their optimiser
    /// state.
    fn renew<T: Real>(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<Renewed> {
        let before = pass.session.dictionary().clone();
        let renewed = renew_atoms(pass)?;
        if pass.constraints.has_rank_one() && !renewed.any() && is_due(pass.number) {
            recentre(pass)?;
        }
        let now = pass.session.dictionary();
        (0..now.len())
            .filter(|&k| now.atom(k) != before.atom(k))
            .for_each(|k| self.optimiser.forget(k));
        Ok(renewed)
    }
}

impl<T: Real> PassMethod<T> for Stochastic {
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<LearnPoint, Stopped> {
        if pass.number == 1 {
            self.without_codes = pass.measure()?.objective;
        }
        let renewed = self.renew(pass)?;
        self.optimiser.begin(pass.number);
        let mut rng = ChaCha8Rng::seed_from_u64(pass.params.seed);
        rng.set_stream(pass.number as u64);
        let mut planes: Vec<usize> = (0..pass.extents.len()).collect();
        planes.shuffle(&mut rng);
        for (i, &plane) in planes.iter().enumerate() {
            let factor = self.decay.factor(pass.number, (pass.number - 1) * planes.len() + i);
            let mut layers: Vec<usize> = (0..pass.atoms().layers(plane)).collect();
            layers.shuffle(&mut rng);
            for layer in layers {
                let of = PlaneLayer { plane, layer };
                let visit = Visit::Layer(of);
                let penalty = pass.penalty;
                let sweep = Discovery {
                    penalty,
                    visit,
                    local_tolerance: LOCAL_TOLERANCE,
                    layer_seed: None,
                };
                pass.session.discover(&sweep, pass.run.context())?;
                let mut change = pass.atoms().gradient(Some(of))?;
                self.optimiser.step(pass.number, factor, &mut change);
                let now = pass.session.dictionary();
                if !pass.constraints.is_none() {
                    pass.constraints.direction(now, &mut change);
                }
                let moved = pass.constraints.returned(now.stepped(1.0, &change), now);
                pass.atoms().step_dictionary(moved)?;
                pass.pause()?;
            }
        }
        Ok(renewed.counted(self.settle(pass)?))
    }

    fn remember(&self) -> LearnerState {
        let mut state = self.optimiser.remember();
        state.insert("without_codes".into(), vec![self.without_codes]);
        state
    }

    fn recall(&mut self, state: &LearnerState) -> Option<()> {
        let &[without_codes] = &state.get("without_codes")?[..] else { return None };
        self.without_codes = without_codes;
        self.optimiser.recall(state)
    }
}
