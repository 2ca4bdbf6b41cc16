//! Atoms of rank 1 over their channels: `u` over the channels times `v` over the box.

use super::{Dictionary, squares};
use crate::geometry::{cell, volume};
use crate::real::Real;

/// Power iterations at most, and the change that ends them.
const MOST_ITERATIONS: usize = 200;
const SETTLED: f64 = 1e-14;

/// The factors of a dictionary whose atoms all have rank 1: atom `k` is `u_k v_k^T`.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors<T> {
    /// One unit vector over the channels per atom.
    pub u: Vec<T>,
    /// One unit vector over the box per atom.
    pub v: Vec<T>,
}

impl<T: Real> Dictionary<T> {
    /// The factors of atoms of several channels that all have rank 1, up to rounding; the largest
    /// entry of every `u` is positive.
    pub fn factors(&self) -> Option<Factors<T>> {
        let channels = self.channels();
        if channels == 1 {
            return None;
        }
        // Sums in f64 round too, which matters if the atoms are f64.
        let terms = (self.atom_len() / channels + channels) as f64;
        let tolerance = (8.0 * T::EPSILON.to_f64() + terms * f64::EPSILON).powi(2);
        let (mut u, mut v) = (Vec::new(), Vec::new());
        for k in 0..self.len() {
            let atom: Vec<f64> = self.atom(k).iter().map(|x| x.to_f64()).collect();
            let factor = Factor::after(&atom, channels, 2)?;
            let rest = factor.product();
            let off: f64 = atom.iter().zip(&rest).map(|(a, b)| (a - b) * (a - b)).sum();
            if off > tolerance {
                return None;
            }
            u.extend(factor.u.into_iter().map(T::from_f64));
            v.extend(factor.v.into_iter().map(T::from_f64));
        }
        Some(Factors { u, v })
    }
}

/// One atom of rank 1: unit vectors over the channels and over the box.
pub(super) struct Factor {
    pub u: Vec<f64>,
    pub v: Vec<f64>,
}

impl Factor {
    /// The atom of rank 1 nearest to this one in direction: its leading singular vectors. `None` if
    /// it is zero or not finite.
    pub fn nearest(atom: &[f64], channels: usize) -> Option<Self> {
        Self::after(atom, channels, MOST_ITERATIONS)
    }

    /// What this many power iterations find; two find the factors of an atom of rank 1.
    fn after(atom: &[f64], channels: usize, iterations: usize) -> Option<Self> {
        let samples = atom.len() / channels;
        let strongest = atom
            .chunks_exact(samples)
            .max_by(|a, b| squares(a).total_cmp(&squares(b)))
            .expect("an atom has a channel");
        let mut v = unit(strongest.to_vec())?;
        let mut u = unit(along_box(atom, &v))?;
        for _ in 0..iterations {
            v = unit(along_channels(atom, &u))?;
            let next = unit(along_box(atom, &v))?;
            let moved: f64 = u.iter().zip(&next).map(|(a, b)| (a - b) * (a - b)).sum();
            u = next;
            if moved < SETTLED {
                break;
            }
        }
        let largest = u.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
        if largest < 0.0 {
            u.iter_mut().chain(&mut v).for_each(|x| *x = -*x);
        }
        Some(Self { u, v })
    }

    /// The samples of the atom.
    pub fn product(&self) -> Vec<f64> {
        self.u.iter().flat_map(|u| self.v.iter().map(move |v| u * v)).collect()
    }
}

/// `X^T u` of a matrix of channels by samples.
pub(super) fn along_channels(matrix: &[f64], u: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; matrix.len() / u.len()];
    for (row, u) in matrix.chunks_exact(sum.len()).zip(u) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += u * x);
    }
    sum
}

/// `X v` of a matrix of channels by samples.
pub(super) fn along_box(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(v.len()).map(|row| row.iter().zip(v).map(|(x, v)| x * v).sum()).collect()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The vector scaled to unit norm; `None` if it is zero or not finite.
pub(super) fn unit(mut vector: Vec<f64>) -> Option<Vec<f64>> {
    let norm = squares(&vector).sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    (norm.is_finite() && norm > 0.0).then_some(vector)
}

/// `sum_q C(p - q) x_q` over a box, where `C` is given for all shifts, last axis fastest.
pub(super) fn convolve(shifts: &[f64], x: &[f64], size: [usize; 3]) -> Vec<f64> {
    let [_, rows, columns] = size.map(|h| 2 * h - 1);
    let mut out = vec![0.0; volume(size)];
    for (p, sum) in out.iter_mut().enumerate() {
        let to = cell(p, size);
        for (line, x) in x.chunks_exact(size[2]).enumerate() {
            let z = to[0] + size[0] - 1 - line / size[1];
            let y = to[1] + size[1] - 1 - line % size[1];
            let line = &shifts[(z * rows + y) * columns..][..columns];
            // Sample q of the line is at shift p - q.
            let line = line[to[2]..to[2] + size[2]].iter().rev();
            *sum += line.zip(x).map(|(c, x)| c * x).sum::<f64>();
        }
    }
    out
}
