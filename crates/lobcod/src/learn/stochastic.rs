//! The stochastic method: Algorithm 2 of the paper.
//!
//! Images in random order, the layers of each in random order. After the pursuit of a layer the dictionary takes one step along that
//! layer's gradient `- sum P_i R a_i^T`, and its columns are scaled back to unit norm. Mended against the printed text: the
//! residual belongs to the codes from the beginning, and it is synthesised anew every pass, for codes that were taken off with one
//! dictionary and put back with the next would make it drift.

use super::course::{Pass, Passed, Standing, Stopped, Way};
use super::decay::Decay;
use super::optimiser::Optimiser;
use super::replace::{Renewed, renew_atoms};
use super::step::Step;
use crate::checkpoint::Memory;
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, PlaneLayer, State, Visit};
use crate::real::Real;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Changes below this share of the threshold count as none inside a needle.
const LOCAL_TOLERANCE: f64 = 0.02;

/// What the method remembers: the state of its step, and the objective of no codes at all. Every order is drawn from the seed and
/// the number of the pass.
pub(super) struct Stochastic {
    optimiser: Optimiser,
    decay: Decay,
    without_codes: f64,
}

impl Stochastic {
    pub(super) fn new<T: Real>(step: Step, decay: Decay, first: &Dictionary<T>) -> Self {
        Self { optimiser: Optimiser::new(step, first.data().len(), first.atom_len()), decay, without_codes: f64::INFINITY }
    }

    /// Where the pass ended. Steps that are too large leave codes that fit no dictionary, and every pass would make it worse; where
    /// they are worse than none, the next pass begins with none.
    fn settle<T: Real>(&self, pass: &mut Pass<'_, '_, T>) -> Standing {
        let standing = pass.measure();
        if standing.objective <= self.without_codes {
            return standing;
        }
        let codes = pass.extents.iter().map(|_| Vec::new()).collect();
        pass.session.restore(&State { codes, pending: Vec::new() });
        pass.measure()
    }

    /// Renews atoms; their optimiser state belonged to other atoms.
    fn renew<T: Real>(&mut self, pass: &mut Pass<'_, '_, T>) -> Renewed {
        let before = pass.session.dictionary().clone();
        let renewed = renew_atoms(pass);
        let now = pass.session.dictionary();
        (0..now.len()).filter(|&k| now.atom(k) != before.atom(k)).for_each(|k| self.optimiser.forget(k));
        renewed
    }
}

impl<T: Real> Way<T> for Stochastic {
    fn pass(&mut self, pass: &mut Pass<'_, '_, T>) -> Result<Passed, Stopped> {
        if pass.number == 1 {
            self.without_codes = pass.measure().objective;
        }
        let renewed = self.renew(pass);
        self.optimiser.begin(pass.number);
        let mut rng = ChaCha8Rng::seed_from_u64(pass.params.seed);
        rng.set_stream(pass.number as u64);
        let mut planes: Vec<usize> = (0..pass.extents.len()).collect();
        planes.shuffle(&mut rng);
        for (i, &plane) in planes.iter().enumerate() {
            let factor = self.decay.factor(pass.number, (pass.number - 1) * planes.len() + i);
            let mut layers: Vec<usize> = (0..pass.session.layers(plane)).collect();
            layers.shuffle(&mut rng);
            for layer in layers {
                let of = PlaneLayer { plane, layer };
                let visit = Visit::Layer(of);
                let penalty = pass.penalty;
                pass.session.discover(&Discovery { penalty, visit, local_tolerance: LOCAL_TOLERANCE, layer_seed: None });
                let mut change = pass.session.gradient(Some(of));
                self.optimiser.step(pass.number, factor, &mut change);
                let moved = pass.session.dictionary().stepped(1.0, &change);
                pass.session.set_dictionary(moved);
                pass.go_on()?;
            }
        }
        Ok(Passed { standing: self.settle(pass), replaced_atoms: renewed.replaced, merged_atoms: renewed.merged })
    }

    fn remember(&self) -> Memory {
        let mut memory = self.optimiser.remember();
        memory.insert("without_codes".into(), vec![self.without_codes]);
        memory
    }

    fn recall(&mut self, memory: &Memory) -> Option<()> {
        let &[without_codes] = &memory.get("without_codes")?[..] else { return None };
        self.without_codes = without_codes;
        self.optimiser.recall(memory)
    }
}
