//! The order of atoms by the variance they explain.

use crate::dictionary::{Dictionary, squares};
use crate::error::Result;
use crate::needles::{Code, Needles};
use crate::real::Real;

/// Orders the atoms after the frozen ones by the energy of what each adds to the signals, largest
/// first, and renumbers the codes.
pub fn sort_by_variance<T: Real>(
    dictionary: &mut Dictionary<T>,
    needles: &mut [Needles<T>],
    frozen: usize,
) -> Result<()> {
    let mut energies = vec![0.0; dictionary.len()];
    for signal in needles.iter() {
        let mut own = vec![Vec::new(); dictionary.len()];
        signal.codes().iter().for_each(|&code| own[code.atom as usize].push(code));
        for (energy, codes) in energies.iter_mut().zip(own).filter(|(_, own)| !own.is_empty()) {
            let part = Needles::new(signal.extent(), signal.channels(), signal.border(), codes);
            *energy += squares(part.synthesise(dictionary)?.data());
        }
    }
    let mut order: Vec<usize> = (0..dictionary.len()).collect();
    order[frozen..].sort_by(|&a, &b| energies[b].total_cmp(&energies[a]));
    let mut numbers = vec![0; order.len()];
    order.iter().enumerate().for_each(|(number, &k)| numbers[k] = number as u32);
    *dictionary = dictionary.selected(order);
    for signal in needles {
        let renumbered = |&code: &Code<T>| Code { atom: numbers[code.atom as usize], ..code };
        let codes = signal.codes().iter().map(renumbered).collect();
        *signal = Needles::new(signal.extent(), signal.channels(), signal.border(), codes);
    }
    Ok(())
}
