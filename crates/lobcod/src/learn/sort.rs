//! The order of atoms by the variance they explain.

use super::params::LearnParams;
use crate::dictionary::{Dictionary, squares};
use crate::error::Result;
use crate::extent::Extent;
use crate::needles::{Code, Needles};
use crate::real::Real;

/// The atoms by falling energy of what each adds to the signals, after the frozen ones.
pub fn by_variance<T: Real>(
    params: &LearnParams,
    dictionary: &Dictionary<T>,
    extents: &[Extent],
    planes: &[Vec<Code<T>>],
) -> Result<Vec<usize>> {
    let mut energies = vec![0.0; dictionary.len()];
    for (&extent, codes) in extents.iter().zip(planes) {
        let mut own = vec![Vec::new(); dictionary.len()];
        codes.iter().for_each(|&code| own[code.atom as usize].push(code));
        for (energy, codes) in energies.iter_mut().zip(own).filter(|(_, own)| !own.is_empty()) {
            let needles = Needles::new(extent, dictionary.channels(), params.border, codes);
            *energy += squares(needles.synthesise(dictionary)?.data());
        }
    }
    let mut order: Vec<usize> = (0..dictionary.len()).collect();
    order[params.frozen..].sort_by(|&a, &b| energies[b].total_cmp(&energies[a]));
    Ok(order)
}
