//! Dictionary updates of patch-based learning, on the targets of the needles.

use crate::slices::{Slices, dot};
use lobcod::{Dictionary, Result};

/// How the dictionary is updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Atom by atom, with its codes: the best rank-one fit of the residual of the other atoms, by
    /// one power step (approximate K-SVD). An unused atom is replaced by the worst represented
    /// slice.
    #[default]
    Ksvd,
    /// All atoms at once by least squares (method of optimal directions).
    Mod,
}

impl Update {
    /// The dictionary that fits the slices `s_i + u_i` of all signals better with their needles;
    /// K-SVD also changes the needles.
    pub(crate) fn apply(
        self,
        all: &mut [Slices],
        dictionary: &Dictionary<f64>,
    ) -> Result<Dictionary<f64>> {
        let data = match self {
            Update::Ksvd => ksvd(all, dictionary),
            Update::Mod => optimal_directions(all, dictionary),
        };
        Dictionary::new(dictionary.extent(), 1, data)
    }
}

fn ksvd(all: &mut [Slices], dictionary: &Dictionary<f64>) -> Vec<f64> {
    let n = dictionary.atom_len();
    let mut atoms = dictionary.data().to_vec();
    // The residual of every used slice, by signal and position.
    let mut rests: Vec<Vec<(usize, Vec<f64>)>> = Vec::new();
    let mut users: Vec<Vec<(usize, usize)>> = vec![Vec::new(); dictionary.len()];
    for (signal, slices) in all.iter().enumerate() {
        let mut rest = Vec::new();
        for (position, needle) in
            slices.needles.iter().enumerate().filter(|(_, needle)| !needle.is_empty())
        {
            let mut left = slices.wanted(position);
            for &(k, value) in needle {
                left.iter_mut().zip(&atoms[k * n..]).for_each(|(l, d)| *l -= value * d);
                users[k].push((signal, rest.len()));
            }
            rest.push((position, left));
        }
        rests.push(rest);
    }
    for (k, users) in users.iter().enumerate() {
        if users.is_empty() {
            if let Some(atom) = worst(&mut rests) {
                atoms[k * n..(k + 1) * n].copy_from_slice(&atom);
            }
            continue;
        }
        let old = atoms[k * n..(k + 1) * n].to_vec();
        let mut new = vec![0.0; n];
        for &(signal, i) in users {
            let (position, left) = &rests[signal][i];
            let value = code(&all[signal], *position, k);
            new.iter_mut()
                .zip(left)
                .zip(&old)
                .for_each(|((x, l), d)| *x += value * (l + value * d));
        }
        let norm = dot(&new, &new).sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            continue;
        }
        new.iter_mut().for_each(|x| *x /= norm);
        for &(signal, i) in users {
            let (position, left) = &mut rests[signal][i];
            let value = code(&all[signal], *position, k);
            left.iter_mut().zip(&old).for_each(|(l, d)| *l += value * d);
            let refitted = dot(left, &new);
            left.iter_mut().zip(&new).for_each(|(l, d)| *l -= refitted * d);
            let needle = &mut all[signal].needles[*position];
            needle
                .iter_mut()
                .filter(|(atom, _)| *atom == k)
                .for_each(|(_, value)| *value = refitted);
        }
        atoms[k * n..(k + 1) * n].copy_from_slice(&new);
    }
    atoms
}

/// The worst represented slice, of unit norm, as replacement of an unused atom. Its residual is
/// then cleared.
fn worst(rests: &mut [Vec<(usize, Vec<f64>)>]) -> Option<Vec<f64>> {
    let left = rests
        .iter_mut()
        .flatten()
        .map(|(_, left)| left)
        .max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))?;
    let norm = dot(left, left).sqrt();
    if norm.is_nan() || norm <= 0.0 {
        return None;
    }
    let atom = left.iter().map(|x| x / norm).collect();
    left.fill(0.0);
    Some(atom)
}

fn code(slices: &Slices, position: usize, atom: usize) -> f64 {
    slices.needles[position].iter().find(|(k, _)| *k == atom).map_or(0.0, |(_, value)| *value)
}

/// `D = S A^T (A A^T)^-1`, regularised by a small multiple of the identity; columns that vanish are
/// unchanged.
fn optimal_directions(all: &[Slices], dictionary: &Dictionary<f64>) -> Vec<f64> {
    let (m, n) = (dictionary.len(), dictionary.atom_len());
    let mut square = vec![0.0; m * m];
    let mut cross = vec![0.0; m * n];
    for slices in all {
        for (position, needle) in
            slices.needles.iter().enumerate().filter(|(_, needle)| !needle.is_empty())
        {
            let wanted = slices.wanted(position);
            for &(k, a) in needle {
                cross[k * n..(k + 1) * n].iter_mut().zip(&wanted).for_each(|(c, w)| *c += a * w);
                needle.iter().for_each(|&(j, b)| square[k * m + j] += a * b);
            }
        }
    }
    let guard =
        1e-9 * (0..m).map(|k| square[k * m + k]).sum::<f64>() / m as f64 + f64::MIN_POSITIVE;
    (0..m).for_each(|k| square[k * m + k] += guard);
    let mut atoms = gauss(square, cross, m, n);
    for (k, atom) in atoms.chunks_exact_mut(n).enumerate() {
        let energy = dot(atom, atom);
        if !(energy > 1e-12 && energy.is_finite()) {
            atom.copy_from_slice(dictionary.atom(k));
        }
    }
    atoms
}

/// Solves `square x = right` for `n` right sides per row, by elimination with pivoting.
fn gauss(mut square: Vec<f64>, mut right: Vec<f64>, m: usize, n: usize) -> Vec<f64> {
    for k in 0..m {
        let pivot = (k..m)
            .max_by(|&a, &b| square[a * m + k].abs().total_cmp(&square[b * m + k].abs()))
            .expect("not empty");
        (0..m).for_each(|j| square.swap(k * m + j, pivot * m + j));
        (0..n).for_each(|j| right.swap(k * n + j, pivot * n + j));
        for i in (0..m).filter(|&i| i != k) {
            let factor = square[i * m + k] / square[k * m + k];
            if factor != 0.0 {
                (k..m).for_each(|j| square[i * m + j] -= factor * square[k * m + j]);
                (0..n).for_each(|j| right[i * n + j] -= factor * right[k * n + j]);
            }
        }
    }
    for k in 0..m {
        (0..n).for_each(|j| right[k * n + j] /= square[k * m + k]);
    }
    right
}
