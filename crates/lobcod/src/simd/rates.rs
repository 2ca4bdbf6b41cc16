//! How fast this machine correlates, against the most it could.

use super::{Kernel, Level, PackedAtoms, PatchSamples, Reach, Vector};
use crate::dictionary::Dictionary;
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use std::hint::black_box;
use std::time::Instant;

/// Rates of one core, in GFLOP/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Multiply-adds in registers alone: the ceiling.
    pub peak: f64,
    /// Largest correlation of patches with all atoms, padding not counted.
    pub correlation: f64,
}

/// Measures both rates on one thread (best of `repeats` short runs each), for atoms of `extent` and layers of `needles` patches.
pub fn measure_rates<T: Real>(level: Level, extent: Extent, atoms: usize, needles: usize, repeats: usize) -> Result<Rates> {
    let dictionary = Dictionary::<T>::random(extent, 1, atoms, 0)?;
    let best = |mut run: Box<dyn FnMut() -> f64>| (0..repeats).map(|_| run()).fold(0.0, f64::max);
    let peak = best(Box::new(move || T::dispatch(level, Peak)));
    let correlation = best(Box::new(move || correlation(level, &dictionary, needles)));
    Ok(Rates { peak, correlation })
}

struct Peak;

impl<T: Real> Kernel<T> for Peak {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) -> f64 {
        const CHAINS: usize = 12;
        let rounds = 200_000;
        let (x, y) = (V::Wide::splat(black_box(T::from_f64(0.999))), V::Wide::splat(black_box(T::from_f64(1e-3))));
        let mut chains = [V::Wide::splat(T::ONE); CHAINS];
        let clock = Instant::now();
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = chain.mul_add(x, y);
            }
        }
        let seconds = clock.elapsed().as_secs_f64();
        black_box(chains.map(V::Wide::sum));
        (2 * CHAINS * V::Wide::LANES * rounds) as f64 / seconds / 1e9
    }
}

/// Rate at which the reach of layers of `needles` patches is found, in GFLOP/s.
fn correlation<T: Real>(level: Level, dictionary: &Dictionary<T>, needles: usize) -> f64 {
    let (n, m) = (dictionary.atom_len(), dictionary.len());
    let atoms = PackedAtoms::new(dictionary, level);
    let patch = PatchSamples::straight(n);
    let offsets: Vec<u32> = (0..needles as u32).map(|i| i * n as u32).collect();
    let field: Vec<T> = (0..n * needles).map(|i| T::from_f64((i as f64 * 0.37).sin())).collect();
    let inverse_weights = vec![T::ONE; atoms.stride];
    let mut out = vec![T::ZERO; needles];
    let flops = 2 * n * m * needles;
    let rounds = (20_000_000 / flops).max(1);
    let clock = Instant::now();
    for _ in 0..rounds {
        let rule = Reach { inverse_weights: &inverse_weights, nonnegative: false };
        atoms.reach(&field, &patch, &offsets, rule, &mut out);
        black_box(&mut out);
    }
    (flops * rounds) as f64 / clock.elapsed().as_secs_f64() / 1e9
}
