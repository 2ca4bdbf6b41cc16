//! Replaces unused and duplicate atoms by the worst represented patches.

use super::solver::Pass;
use super::{LearnParams, LearnPoint};
use crate::dictionary::{Dictionary, squares};
use crate::engine::{Session, Share, State};
use crate::error::Result;
use crate::extent::Extent;
use crate::needles::Code;
use crate::real::Real;
use crate::signal::Signal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Passes between checks for unused and duplicate atoms.
const RENEW_EVERY: usize = 4;
/// Candidate patches per atom to be replaced.
const TRIES: usize = 64;
/// Atoms whose inner product exceeds this are duplicates.
const TWINS: f64 = 0.98;

/// Number of renewed atoms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Unused atoms replaced by a patch of the residual.
    pub replaced: usize,
    /// Near-duplicates whose codes were moved to their twin.
    pub merged: usize,
}

impl Renewed {
    /// Adds these counts to a point of the history.
    pub fn counted(self, point: LearnPoint) -> LearnPoint {
        LearnPoint { replaced_atoms: self.replaced, merged_atoms: self.merged, ..point }
    }

    pub fn any(&self) -> bool {
        self.replaced > 0 || self.merged > 0
    }
}

/// Every few passes, moves the codes of near-duplicates to their twins and replaces unused atoms by
/// patches of the residual.
pub fn renew_atoms<T: Real>(pass: &mut Pass<'_, '_, T>) -> Result<Renewed> {
    let mut renewed = Renewed::default();
    if pass.number % RENEW_EVERY != 1 || pass.number == 1 {
        return Ok(renewed);
    }
    let twins = twins(pass.session.dictionary(), pass.params);
    let mut codes = pass.session.state(Share::All)?.codes;
    let handing = twins.iter().filter(|t| codes.iter().flatten().any(|c| c.atom == t.atom)).count();
    if handing > 0 {
        codes.iter_mut().for_each(|plane| *plane = hand_over(plane, &twins));
        pass.session.restore(&State::of_codes(codes.clone()))?;
        renewed.merged = handing;
    }
    let mut used = vec![false; pass.session.dictionary().len()];
    codes.iter().flatten().for_each(|c| used[c.atom as usize] = true);
    let unused: Vec<usize> = (pass.params.frozen..used.len()).filter(|&k| !used[k]).collect();
    if !unused.is_empty() {
        renewed.replaced = replace(pass, &unused)?;
    }
    Ok(renewed)
}

/// A near-duplicate, its twin with the lower index, and the sign between them.
struct Twin {
    atom: u32,
    of: u32,
    same_sign: bool,
}

fn twins<T: Real>(dictionary: &Dictionary<T>, params: &LearnParams) -> Vec<Twin> {
    let (m, gram) = (dictionary.len(), dictionary.gram());
    let mut found: Vec<Twin> = Vec::new();
    for k in params.frozen.max(1)..m {
        let is_twin = |l: &usize| {
            let product = gram[k * m + l].to_f64();
            // A code of opposite sign could not be handed over.
            (if params.nonnegative { product } else { product.abs() }) > TWINS
                && found.iter().all(|t| t.atom as usize != *l)
        };
        if let Some(l) = (0..k).find(is_twin) {
            found.push(Twin { atom: k as u32, of: l as u32, same_sign: gram[k * m + l] > T::ZERO });
        }
    }
    found
}

/// Moves the codes of every near-duplicate to its twin.
fn hand_over<T: Real>(codes: &[Code<T>], twins: &[Twin]) -> Vec<Code<T>> {
    let give = |code: &Code<T>| match twins.iter().find(|t| t.atom == code.atom) {
        None => *code,
        Some(t) => {
            Code { atom: t.of, value: if t.same_sign { code.value } else { -code.value }, ..*code }
        }
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

fn replace<T: Real>(pass: &mut Pass<'_, '_, T>, unused: &[usize]) -> Result<usize> {
    let dictionary = pass.session.dictionary().clone();
    let mut rng = ChaCha8Rng::seed_from_u64(pass.params.seed.wrapping_add(pass.number as u64));
    let mut data = dictionary.data().to_vec();
    let n = dictionary.atom_len();
    let mut residuals: Vec<Option<Signal<T>>> = pass.extents.iter().map(|_| None).collect();
    let mut replaced = 0;
    for &k in unused {
        let plane = rng.random_range(0..pass.extents.len());
        if residuals[plane].is_none() {
            residuals[plane] = Some(residual_of(pass, plane)?);
        }
        let residual = residuals[plane].as_ref();
        let patch =
            residual.and_then(|residual| worst_patch(residual, dictionary.extent(), &mut rng));
        if let Some(patch) = patch.and_then(|patch| pass.constraints.new_atom(k, &patch)) {
            data[k * n..(k + 1) * n].copy_from_slice(&patch);
            replaced += 1;
        }
    }
    match Dictionary::new(dictionary.extent(), dictionary.channels(), data) {
        Ok(dictionary) if replaced > 0 => {
            pass.atoms().set_dictionary(dictionary)?;
            Ok(replaced)
        }
        _ => Ok(0),
    }
}

/// The residual of a plane, multiplied by the squared weights.
pub fn residual_of<T: Real>(pass: &mut Pass<'_, '_, T>, plane: usize) -> Result<Signal<T>> {
    let channels = pass.session.dictionary().channels();
    Signal::from_planar(pass.extents[plane], channels, pass.session.residual(plane)?)
}

/// The random patch of any plane with the most energy; `None` if there is none.
pub fn worst_of_all<T: Real>(
    session: &mut dyn Session<T>,
    extents: &[Extent],
    seed: u64,
) -> Result<Option<Vec<T>>> {
    let (extent, channels) = (session.dictionary().extent(), session.dictionary().channels());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut worst: Option<Vec<T>> = None;
    for (plane, &of) in extents.iter().enumerate() {
        let residual = Signal::from_planar(of, channels, session.residual(plane)?)?;
        let patch = worst_patch(&residual, extent, &mut rng);
        worst = patch.into_iter().chain(worst).max_by(|a, b| squares(a).total_cmp(&squares(b)));
    }
    Ok(worst)
}

/// The random patch with the most energy; `None` if there is none.
pub fn worst_patch<T: Real>(
    residual: &Signal<T>,
    extent: Extent,
    rng: &mut ChaCha8Rng,
) -> Option<Vec<T>> {
    let (l, h) = (residual.extent().padded(), extent.padded());
    if (0..3).any(|a| l[a] < h[a]) {
        return None;
    }
    let tries = (0..TRIES).map(|_| {
        residual.patch(std::array::from_fn(|a| rng.random_range(0..=l[a] - h[a])), extent)
    });
    let worst = tries.max_by(|a, b| squares(a).total_cmp(&squares(b)))?;
    (squares(&worst) > 0.0).then_some(worst)
}
