//! The local dictionary `D`: atoms of unit norm, all of one size.
//!
//! Atoms are learnt, read from a file (crate `lobcod-io`), random, cosines, or embedded in this
//! crate ([`Embedded`]):
//!
//! ```
//! use lobcod::{Dictionary, Extent};
//!
//! let natural: Dictionary<f32> = Dictionary::natural();
//! let cosines: Dictionary<f32> = Dictionary::dct(Extent::new(&[8, 8])?, 1, 64)?;
//! assert!(cosines.len() == 64 && natural.channels() == 1);
//! # Ok::<(), lobcod::Error>(())
//! ```

mod constraints;
mod embedded;
mod init;
mod rank_one;
mod sphere;
mod window;

pub(crate) use constraints::AtomStatistics;
pub use constraints::Constraints;
pub use embedded::Embedded;
pub use rank_one::Factors;
pub use window::Window;

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// The local dictionary `D`: `m` atoms of unit norm, each a box that spans all channels.
///
/// Atoms are stored consecutively, each as `c`, then `dhw`, last axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary<T> {
    extent: Extent,
    channels: usize,
    atoms: usize,
    data: Vec<T>,
    normalised: usize,
}

impl<T: Real> Dictionary<T> {
    /// Creates a dictionary and scales all atoms to unit norm. Atoms whose norm is off by more than
    /// 1e-4 are counted in [`Dictionary::normalised`].
    pub fn new(extent: Extent, channels: usize, mut data: Vec<T>) -> Result<Self> {
        let n = extent.volume() * channels;
        if n == 0 || data.is_empty() || !data.len().is_multiple_of(n) {
            return Err(Error::Shape(format!(
                "a dictionary of {extent} atoms with {channels} channels needs a multiple of {n} \
                 numbers, but has {}",
                data.len()
            )));
        }
        let mut normalised = 0;
        for (k, atom) in data.chunks_exact_mut(n).enumerate() {
            let norm = squares(atom).sqrt();
            if !norm.is_finite() || norm == 0.0 {
                let what = if norm == 0.0 { "is all zeros" } else { "is not finite" };
                return Err(Error::Data(format!("atom {k} of the dictionary {what}; remove it")));
            }
            normalised += usize::from((norm - 1.0).abs() > 1e-4);
            // Atoms of unit norm are unchanged, so saving and loading is lossless.
            if (norm - 1.0).abs() <= 8.0 * T::EPSILON.to_f64() {
                continue;
            }
            atom.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() / norm));
        }
        Ok(Self { extent, channels, atoms: data.len() / n, data, normalised })
    }

    /// Extent of an atom, without channels.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of channels an atom spans.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of atoms, `m`.
    pub fn len(&self) -> usize {
        self.atoms
    }

    /// Returns an error unless atoms span one channel or all channels of a signal.
    pub fn check_channels(&self, signal: usize) -> Result<()> {
        if self.channels == 1 || self.channels == signal {
            return Ok(());
        }
        Err(Error::Shape(format!(
            "the atoms have {} channels but the signal has {signal}; use a dictionary of one \
             channel or of as many as the signal",
            self.channels
        )))
    }

    /// Never true: a dictionary has at least one atom.
    pub fn is_empty(&self) -> bool {
        self.atoms == 0
    }

    /// Length of an atom, `n`: volume times channels.
    pub fn atom_len(&self) -> usize {
        self.extent.volume() * self.channels
    }

    /// Atom `k`.
    pub fn atom(&self, k: usize) -> &[T] {
        &self.data[k * self.atom_len()..(k + 1) * self.atom_len()]
    }

    /// Adds `change` to atom `k`; the caller must preserve its norm.
    pub(crate) fn move_atom(&mut self, k: usize, change: &[T]) {
        let n = self.atom_len();
        self.data[k * n..(k + 1) * n].iter_mut().zip(change).for_each(|(d, &c)| *d += c);
    }

    /// The same shape with other samples; `None` unless they have the same length and unit norm.
    pub(crate) fn with_data(&self, data: Vec<T>) -> Option<Self> {
        let unit =
            data.chunks(self.atom_len()).all(|atom| (squares(atom).sqrt() - 1.0).abs() < 1e-3);
        (data.len() == self.data.len() && unit).then_some(Self { data, normalised: 0, ..*self })
    }

    /// The dictionary minus `step` times `along`, normalised; an atom that would vanish or overflow
    /// is left unchanged.
    pub(crate) fn stepped(&self, step: f64, along: &[f64]) -> Self {
        let mut moved = self.clone();
        let atom_len = self.atom_len();
        T::dispatch(Level::detect(), TakeStep { atoms: &mut moved.data, atom_len, step, along });
        moved
    }

    /// The atoms of this dictionary, followed by those of another one of the same shape.
    pub fn followed_by(&self, other: &Self) -> Result<Self> {
        if (self.extent, self.channels) != (other.extent, other.channels) {
            return Err(Error::Shape(format!(
                "atoms of {} with {} channels and of {} with {} channels cannot be in one \
                 dictionary",
                self.extent, self.channels, other.extent, other.channels
            )));
        }
        let data = [&self.data[..], &other.data].concat();
        let normalised = self.normalised + other.normalised;
        Ok(Self { atoms: self.atoms + other.atoms, data, normalised, ..*self })
    }

    /// The atoms with these indices, in their order.
    pub(crate) fn selected(&self, order: impl IntoIterator<Item = usize>) -> Self {
        let data: Vec<T> = order.into_iter().flat_map(|k| self.atom(k).iter().copied()).collect();
        Self { atoms: data.len() / self.atom_len(), data, ..*self }
    }

    /// All atoms, consecutively.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// Number of atoms that did not have unit norm on creation.
    pub fn normalised(&self) -> usize {
        self.normalised
    }

    /// The Gram matrix `D^T D`, `m` x `m`, summed in `f64`.
    pub fn gram(&self) -> Vec<T> {
        let m = self.atoms;
        let mut gram = vec![T::ZERO; m * m];
        for i in 0..m {
            for j in 0..=i {
                let dot: f64 = self
                    .atom(i)
                    .iter()
                    .zip(self.atom(j))
                    .map(|(a, b)| a.to_f64() * b.to_f64())
                    .sum();
                gram[i * m + j] = T::from_f64(dot);
                gram[j * m + i] = gram[i * m + j];
            }
        }
        gram
    }

    /// Converts to another precision.
    pub fn cast<U: Real>(&self) -> Dictionary<U> {
        let data = self.data.iter().map(|x| U::from_f64(x.to_f64())).collect();
        Dictionary {
            normalised: self.normalised,
            ..Dictionary::new(self.extent, self.channels, data).expect("atoms are valid")
        }
    }
}

/// A dictionary step, compiled for the widest vectors.
struct TakeStep<'a, T> {
    atoms: &'a mut [T],
    atom_len: usize,
    step: f64,
    along: &'a [f64],
}

impl<T: Real> Kernel<T> for TakeStep<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let mut new = vec![0.0; self.atom_len];
        for (atom, along) in
            self.atoms.chunks_exact_mut(self.atom_len).zip(self.along.chunks_exact(self.atom_len))
        {
            for ((new, d), x) in new.iter_mut().zip(&*atom).zip(along) {
                *new = d.to_f64() - self.step * x;
            }
            let scale = 1.0 / energy(&new).sqrt();
            if scale.is_finite() && scale > 0.0 {
                for (d, x) in atom.iter_mut().zip(&new) {
                    *d = T::from_f64(x * scale);
                }
            }
        }
    }
}

/// Sum of squares, added sequentially.
pub(crate) fn squares<T: Real>(numbers: &[T]) -> f64 {
    numbers.iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

/// Sum of squares with independent accumulators, which the compiler vectorises.
#[inline(always)]
pub(crate) fn energy(numbers: &[f64]) -> f64 {
    let mut chains = [0.0; 8];
    let (blocks, rest) = numbers.as_chunks::<8>();
    for block in blocks {
        for (chain, x) in chains.iter_mut().zip(block) {
            *chain += x * x;
        }
    }
    chains.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}
