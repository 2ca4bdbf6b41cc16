//! Atoms that nothing uses give way to patches that are represented worst.

use super::residual::residual_of;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Plane, Session};
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Patches looked at for every atom to be replaced.
const TRIES: usize = 64;

/// Replaces every atom without a code by the patch of the residual with the most energy among some drawn at random; returns how many.
pub(super) fn replace_unused<T: Real>(session: &mut dyn Session<T>, planes: &[Plane<T>], border: Border, seed: u64) -> usize {
    let dictionary = session.dictionary().clone();
    let codes = session.fetch().codes;
    let mut used = vec![false; dictionary.len()];
    codes.iter().flatten().for_each(|c| used[c.atom as usize] = true);
    let unused: Vec<usize> = (0..used.len()).filter(|&k| !used[k]).collect();
    if unused.is_empty() {
        return 0;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut data = dictionary.data().to_vec();
    let n = dictionary.atom_len();
    let mut residuals: Vec<Option<Signal<T>>> = planes.iter().map(|_| None).collect();
    let mut replaced = 0;
    for k in unused {
        let plane = rng.random_range(0..planes.len());
        let residual = residuals[plane].get_or_insert_with(|| residual_of(&planes[plane], &codes[plane], &dictionary, border));
        if let Some(patch) = worst_patch(residual, dictionary.extent(), &mut rng) {
            data[k * n..(k + 1) * n].copy_from_slice(&patch);
            replaced += 1;
        }
    }
    match Dictionary::new(dictionary.extent(), dictionary.channels(), data) {
        Ok(dictionary) if replaced > 0 => {
            session.set_dictionary(dictionary);
            replaced
        }
        _ => 0,
    }
}

/// The patch of most energy among some drawn at random; `None` where the signal is too small or nothing is left.
fn worst_patch<T: Real>(residual: &Signal<T>, extent: Extent, rng: &mut ChaCha8Rng) -> Option<Vec<T>> {
    let (l, h) = (residual.extent().padded(), extent.padded());
    if (0..3).any(|a| l[a] < h[a]) {
        return None;
    }
    let energy = |patch: &[T]| patch.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
    let tries = (0..TRIES).map(|_| residual.patch(std::array::from_fn(|a| rng.random_range(0..=l[a] - h[a])), extent));
    let worst = tries.max_by(|a, b| energy(a).total_cmp(&energy(b)))?;
    (energy(&worst) > 0.0).then_some(worst)
}
