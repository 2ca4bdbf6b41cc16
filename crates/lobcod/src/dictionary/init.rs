//! Initial dictionaries.

use super::{Dictionary, squares};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::cells;
use crate::real::Real;
use crate::signal::Signal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::StandardNormal;

impl<T: Real> Dictionary<T> {
    /// Normalised atoms of independent normal random numbers; reproducible by seed.
    pub fn random(extent: Extent, channels: usize, atoms: usize, seed: u64) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let count = atoms * channels * extent.volume();
        let data = (0..count).map(|_| T::from_f64(rng.sample(StandardNormal))).collect();
        Self::new(extent, channels, data)
    }

    /// Normalised patches of the signals at random positions; patches without energy are skipped.
    pub fn patches(signals: &[Signal<T>], extent: Extent, atoms: usize, seed: u64) -> Result<Self> {
        let fits =
            |s: &&Signal<T>| s.extent().padded().iter().zip(extent.padded()).all(|(&l, h)| l >= h);
        let sources: Vec<&Signal<T>> = signals.iter().filter(fits).collect();
        let Some(channels) = sources.first().map(|s| s.channels()) else {
            return Err(Error::Shape(format!("no signal is large enough for a {extent} patch")));
        };
        if sources.iter().any(|s| s.channels() != channels) {
            return Err(Error::Shape("the signals have different numbers of channels".into()));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut data = Vec::with_capacity(atoms * channels * extent.volume());
        let mut misses = 0;
        while data.len() < atoms * channels * extent.volume() {
            let s = sources[rng.random_range(0..sources.len())];
            let (l, h) = (s.extent().padded(), extent.padded());
            let at: [usize; 3] = std::array::from_fn(|a| rng.random_range(0..=l[a] - h[a]));
            let start = data.len();
            data.extend(s.patch(at, extent));
            let energy = squares(&data[start..]);
            if !(energy.is_finite() && energy > 1e-12) {
                data.truncate(start);
                misses += 1;
                if misses > 1000 * atoms {
                    return Err(Error::Data(
                        "the signals are constant, so no patch can serve as an atom".into(),
                    ));
                }
            }
        }
        Self::new(extent, channels, data)
    }

    /// Products of cosines of increasing frequency, the constant first; overcomplete when `atoms`
    /// exceeds the number of samples.
    pub fn dct(extent: Extent, channels: usize, atoms: usize) -> Result<Self> {
        let h = extent.padded();
        // Frequencies per axis such that their product is enough for all atoms.
        let axes = h.iter().filter(|&&l| l > 1).count().max(1) as f64;
        let share = |per_channel: usize| (per_channel as f64).powf(1.0 / axes).ceil() as usize;
        let per_channel = atoms.div_ceil(channels);
        let mut count: [usize; 3] = h.map(|l| if l > 1 { share(per_channel) } else { 1 });
        while count.iter().product::<usize>() < per_channel {
            count[2] += 1;
        }
        let mut order: Vec<[usize; 3]> = cells(count).collect();
        order.sort_by_key(|f| (f.iter().sum::<usize>(), *f));
        let cosine = |axis: usize, f: usize, i: usize| {
            (std::f64::consts::PI * f as f64 / count[axis].max(h[axis]) as f64 * (i as f64 + 0.5))
                .cos()
        };
        let mut data = vec![T::ZERO; atoms * channels * extent.volume()];
        for (k, atom) in data.chunks_exact_mut(channels * extent.volume()).enumerate() {
            let (f, c) = (order[k / channels], k % channels);
            let plane = &mut atom[c * extent.volume()..(c + 1) * extent.volume()];
            for (value, at) in plane.iter_mut().zip(cells(h)) {
                *value = T::from_f64((0..3).map(|a| cosine(a, f[a], at[a])).product());
            }
        }
        Self::new(extent, channels, data)
    }
}
