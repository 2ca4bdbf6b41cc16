//! Data terms that are too small for the precision of the residual.
//!
//! The residual carries rounding errors of `y` and of the largest terms subtracted from it. A data
//! term of that size may consist of rounding errors only, and a certificate must not rely on it.

use super::params::Observed;
use crate::border::Border;
use crate::dictionary::{Dictionary, squares};
use crate::needles::{Code, Needles};
use crate::real::Real;
use crate::report::Certificate;
use crate::signal::Signal;

/// Assumed rounding error of a residual sample, in units of the machine epsilon.
const ERRORS: f64 = 512.0;

/// Recomputes a small data term of a signal and its layer in double precision and corrects the certificate; returns the
/// correction.
pub fn check_data_term<T: Real>(
    certificate: &mut Certificate,
    observed: (&Observed<T>, Option<&Signal<T>>),
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
) -> f64 {
    let terms: f64 = needles.codes().iter().map(|c| 0.5 * c.value.to_f64().powi(2)).sum();
    let rounding = (ERRORS * T::EPSILON.to_f64()).powi(2) * (half_energy(observed, None) + terms);
    if needles.nonzeros() == 0 || certificate.data_term > rounding {
        return 0.0;
    }
    let Some(meant) = data_term(observed, needles, dictionary) else { return 0.0 };
    let missed = (meant - certificate.data_term).max(0.0);
    certificate.data_term += missed;
    certificate.objective += missed;
    certificate.gap += missed;
    missed
}

/// `1/2 || A (Y - sum P_i^T D a_i) ||^2` in double precision.
fn data_term<T: Real>(
    observed: (&Observed<T>, Option<&Signal<T>>),
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
) -> Option<f64> {
    let sum = needles.synthesise_exactly(dictionary).ok()?;
    let mut term = half_energy(observed, Some(&sum));
    if needles.border() == Border::Zero {
        // Outside the domain: the energy of everything minus the energy inside.
        let margin = dictionary.extent().padded().map(|h| h - 1);
        let l = needles.extent().padded();
        let extent = needles.extent().with_padded(std::array::from_fn(|a| l[a] + 2 * margin[a]));
        let moved = |c: &Code<T>| Code {
            position: std::array::from_fn(|a| c.position[a] + margin[a] as i32),
            ..*c
        };
        let all = Needles::new(
            extent,
            needles.channels(),
            Border::Free,
            needles.codes().iter().map(moved).collect(),
        );
        term += (0.5 * squares(&all.synthesise_exactly(dictionary).ok()?) - 0.5 * squares(&sum))
            .max(0.0);
    }
    Some(term)
}

/// `1/2 || A (Y - B - sum) ||^2`, with the layer `B` if it is not part of the signal.
fn half_energy<T: Real>(
    (observed, layer): (&Observed<T>, Option<&Signal<T>>),
    sum: Option<&[f64]>,
) -> f64 {
    let (mut energy, volume) = (0.0, observed.signal.extent().volume());
    for c in 0..observed.signal.channels() {
        for (i, y) in observed.signal.channel(c).iter().enumerate() {
            let weight = observed.mask.as_ref().map_or(1.0, |mask| mask.channel(c)[i].to_f64());
            // Masked samples may hold any value.
            if weight > 0.0 {
                let known = y.to_f64() - layer.map_or(0.0, |layer| layer.channel(c)[i].to_f64());
                let rest = weight * (known - sum.map_or(0.0, |sum| sum[c * volume + i]));
                energy += 0.5 * rest * rest;
            }
        }
    }
    energy
}
