//! The local dictionary `D`.

mod embedded;
mod init;

pub use embedded::Embedded;

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// The local dictionary `D`: `m` atoms of unit norm, each a box that spans all channels.
///
/// Atoms are stored one after the other, each as `c`, then `dhw`, last axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary<T> {
    extent: Extent,
    channels: usize,
    atoms: usize,
    data: Vec<T>,
    normalised: usize,
}

impl<T: Real> Dictionary<T> {
    /// A dictionary from `data.len() / (channels * extent.volume())` atoms. Atoms whose norm is off by more than 1e-4 are
    /// counted in [`Dictionary::normalised`]; all are scaled to unit norm.
    pub fn new(extent: Extent, channels: usize, mut data: Vec<T>) -> Result<Self> {
        let n = extent.volume() * channels;
        if n == 0 || data.is_empty() || !data.len().is_multiple_of(n) {
            return Err(Error::Shape(format!(
                "a dictionary of {extent} atoms with {channels} channels needs a multiple of {n} numbers, but has {}",
                data.len()
            )));
        }
        let mut normalised = 0;
        for (k, atom) in data.chunks_exact_mut(n).enumerate() {
            let norm = atom.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
            if !norm.is_finite() || norm == 0.0 {
                let what = if norm == 0.0 { "is all zeros" } else { "is not finite" };
                return Err(Error::Data(format!("atom {k} of the dictionary {what}; remove it")));
            }
            normalised += usize::from((norm - 1.0).abs() > 1e-4);
            // An atom that is already of unit norm keeps its bits, so that a dictionary survives being saved and read.
            if (norm - 1.0).abs() <= 8.0 * T::EPSILON.to_f64() {
                continue;
            }
            atom.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() / norm));
        }
        Ok(Self { extent, channels, atoms: data.len() / n, data, normalised })
    }

    /// Box of an atom, channels not counted.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Channels an atom spans.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of atoms, `m`.
    pub fn len(&self) -> usize {
        self.atoms
    }

    /// Never true: a dictionary has at least one atom.
    pub fn is_empty(&self) -> bool {
        self.atoms == 0
    }

    /// Numbers in one atom, `n`: box volume times channels.
    pub fn atom_len(&self) -> usize {
        self.extent.volume() * self.channels
    }

    /// Atom `k`.
    pub fn atom(&self, k: usize) -> &[T] {
        &self.data[k * self.atom_len()..(k + 1) * self.atom_len()]
    }

    /// Adds `change` to atom `k`; the caller keeps its norm.
    pub(crate) fn move_atom(&mut self, k: usize, change: &[T]) {
        let n = self.atom_len();
        self.data[k * n..(k + 1) * n].iter_mut().zip(change).for_each(|(d, &c)| *d += c);
    }

    /// The same shape with other samples, taken bit for bit; `None` unless they are as many atoms of unit norm.
    pub(crate) fn with_data(&self, data: Vec<T>) -> Option<Self> {
        let norm = |atom: &[T]| atom.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
        let unit = data.chunks(self.atom_len()).all(|atom| (norm(atom) - 1.0).abs() < 1e-3);
        (data.len() == self.data.len() && unit).then_some(Self { data, normalised: 0, ..*self })
    }

    /// The dictionary less `step` times `along`, each atom scaled to unit norm; one that would vanish or not be finite stays as it is.
    pub(crate) fn stepped(&self, step: f64, along: &[f64]) -> Self {
        let mut moved = self.clone();
        let atom_len = self.atom_len();
        T::dispatch(Level::detect(), TakeStep { atoms: &mut moved.data, atom_len, step, along });
        moved
    }

    /// All atoms, one after the other.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// How many atoms were not of unit norm when the dictionary was made.
    pub fn normalised(&self) -> usize {
        self.normalised
    }

    /// The Gram matrix `D^T D`, `m` x `m`, summed in `f64`.
    pub fn gram(&self) -> Vec<T> {
        let m = self.atoms;
        let mut gram = vec![T::ZERO; m * m];
        for i in 0..m {
            for j in 0..=i {
                let dot: f64 = self.atom(i).iter().zip(self.atom(j)).map(|(a, b)| a.to_f64() * b.to_f64()).sum();
                gram[i * m + j] = T::from_f64(dot);
                gram[j * m + i] = gram[i * m + j];
            }
        }
        gram
    }

    /// The same dictionary in another precision.
    pub fn cast<U: Real>(&self) -> Dictionary<U> {
        let data = self.data.iter().map(|x| U::from_f64(x.to_f64())).collect();
        Dictionary {
            normalised: self.normalised,
            ..Dictionary::new(self.extent, self.channels, data).expect("atoms were checked")
        }
    }
}

/// A step of a dictionary, compiled for the widest vectors.
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
        for (atom, along) in self.atoms.chunks_exact_mut(self.atom_len).zip(self.along.chunks_exact(self.atom_len)) {
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

/// Sum of squares, in chains that the compiler can vectorise and that do not wait for each other.
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
