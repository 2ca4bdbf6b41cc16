//! Atoms that nothing uses, and atoms that are copies of another, give way to patches that are represented worst.

use super::course::Pass;
use crate::dictionary::Dictionary;
use crate::engine::State;
use crate::extent::Extent;
use crate::needles::Code;
use crate::real::Real;
use crate::signal::Signal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Passes between two looks at whether atoms are used and differ from each other.
const RENEW_EVERY: usize = 4;
/// Patches looked at for every atom to be replaced.
const TRIES: usize = 64;
/// Atoms whose product is larger than this are copies of each other.
const TWINS: f64 = 0.98;

/// Atoms that were renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Renewed {
    /// Atoms without a code that became a patch of the residual.
    pub(super) replaced: usize,
    /// Near-duplicates that handed their codes to a twin; they are among the replaced where a patch was found.
    pub(super) merged: usize,
}

impl Renewed {
    pub(super) fn any(&self) -> bool {
        self.replaced > 0 || self.merged > 0
    }
}

/// Every few passes: hands the codes of near-duplicates to their twins, then replaces every atom without a code by the patch of the
/// residual with the most energy among some drawn at random.
pub(super) fn renew_atoms<T: Real>(pass: &mut Pass<'_, '_, T>) -> Renewed {
    let mut renewed = Renewed::default();
    if pass.number % RENEW_EVERY != 1 || pass.number == 1 {
        return renewed;
    }
    let twins = twins(pass.session.dictionary());
    let mut codes = pass.session.fetch().codes;
    let handing = twins.iter().filter(|t| codes.iter().flatten().any(|c| c.atom == t.atom)).count();
    if handing > 0 {
        codes.iter_mut().for_each(|plane| *plane = hand_over(plane, &twins));
        pass.session.restore(&State { codes: codes.clone(), pending: Vec::new() });
        pass.session.refresh();
        renewed.merged = handing;
    }
    let mut used = vec![false; pass.session.dictionary().len()];
    codes.iter().flatten().for_each(|c| used[c.atom as usize] = true);
    let unused: Vec<usize> = (0..used.len()).filter(|&k| !used[k]).collect();
    if !unused.is_empty() {
        renewed.replaced = replace(pass, &unused);
    }
    renewed
}

/// A near-duplicate, its twin with the lower number, and the sign between them.
struct Twin {
    atom: u32,
    of: u32,
    same_sign: bool,
}

fn twins<T: Real>(dictionary: &Dictionary<T>) -> Vec<Twin> {
    let (m, gram) = (dictionary.len(), dictionary.gram());
    let mut found: Vec<Twin> = Vec::new();
    for k in 1..m {
        let is_twin = |l: &usize| gram[k * m + l].to_f64().abs() > TWINS && found.iter().all(|t| t.atom as usize != *l);
        if let Some(l) = (0..k).find(is_twin) {
            found.push(Twin { atom: k as u32, of: l as u32, same_sign: gram[k * m + l] > T::ZERO });
        }
    }
    found
}

/// The codes with those of every twin given to the atom it copies.
fn hand_over<T: Real>(codes: &[Code<T>], twins: &[Twin]) -> Vec<Code<T>> {
    let give = |code: &Code<T>| match twins.iter().find(|t| t.atom == code.atom) {
        None => *code,
        Some(t) => Code { atom: t.of, value: if t.same_sign { code.value } else { -code.value }, ..*code },
    };
    let mut given: Vec<Code<T>> = codes.iter().map(give).collect();
    given.sort_by_key(|c| (c.position, c.atom));
    let same = |a: &mut Code<T>, b: &mut Code<T>| {
        let same = (a.position, a.atom) == (b.position, b.atom);
        if same {
            b.value += a.value;
        }
        same
    };
    given.dedup_by(same);
    given.retain(|c| c.value != T::ZERO);
    given
}

fn replace<T: Real>(pass: &mut Pass<'_, '_, T>, unused: &[usize]) -> usize {
    let dictionary = pass.session.dictionary().clone();
    let mut rng = ChaCha8Rng::seed_from_u64(pass.params.seed.wrapping_add(pass.number as u64));
    let mut data = dictionary.data().to_vec();
    let n = dictionary.atom_len();
    let mut residuals: Vec<Option<Signal<T>>> = pass.extents.iter().map(|_| None).collect();
    let mut replaced = 0;
    for &k in unused {
        let plane = rng.random_range(0..pass.extents.len());
        let residual = residuals[plane].get_or_insert_with(|| residual_of(pass, plane));
        if let Some(patch) = worst_patch(residual, dictionary.extent(), &mut rng) {
            data[k * n..(k + 1) * n].copy_from_slice(&patch);
            replaced += 1;
        }
    }
    match Dictionary::new(dictionary.extent(), dictionary.channels(), data) {
        Ok(dictionary) if replaced > 0 => {
            pass.session.set_dictionary(dictionary);
            replaced
        }
        _ => 0,
    }
}

/// The residual of a plane, weights squared in it.
pub(super) fn residual_of<T: Real>(pass: &Pass<'_, '_, T>, plane: usize) -> Signal<T> {
    let channels = pass.session.dictionary().channels();
    Signal::from_planar(pass.extents[plane], channels, pass.session.residual(plane)).expect("of the shape of the plane")
}

/// The patch of most energy among some drawn at random; `None` where the signal is too small or nothing is left.
pub(super) fn worst_patch<T: Real>(residual: &Signal<T>, extent: Extent, rng: &mut ChaCha8Rng) -> Option<Vec<T>> {
    let (l, h) = (residual.extent().padded(), extent.padded());
    if (0..3).any(|a| l[a] < h[a]) {
        return None;
    }
    let energy = |patch: &[T]| patch.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
    let tries = (0..TRIES).map(|_| residual.patch(std::array::from_fn(|a| rng.random_range(0..=l[a] - h[a])), extent));
    let worst = tries.max_by(|a, b| energy(a).total_cmp(&energy(b)))?;
    (energy(&worst) > 0.0).then_some(worst)
}
