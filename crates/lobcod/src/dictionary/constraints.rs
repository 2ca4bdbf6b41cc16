//! Constraints on learnt atoms besides unit norm, and the steps that respect them.
//!
//! With codes fixed, the objective in one atom `d'` is at most
//!
//! ```text
//! f(d) - <g, d' - d> + 1/2 <d' - d, T (d' - d)>,     T: convolution with the autocorrelation of the codes
//! ```
//!
//! and `T` is at most `L`, the sum of its absolute values. Every step below minimises one of the
//! two bounds over atoms that satisfy the constraints, so the objective cannot rise.

use super::rank_one::{Factor, along_box, along_channels, convolve, dot, unit};
use super::sphere::lowest_on_sphere;
use super::{Dictionary, Window, squares};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::geometry::{cells, index};
use crate::real::Real;

/// Alternations of steps in `v` and `u`, and steps in `v` of each where there is a window.
const ALTERNATIONS: usize = 3;
const STEPS: usize = 4;
/// Halvings of the interval that contains the multiplier of the norm.
const HALVINGS: usize = 100;

/// Constraints on learnt atoms besides unit norm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// Number of leading atoms that stay as they are.
    pub(crate) frozen: usize,
    /// Whether every channel of an atom has mean zero.
    zero_mean: bool,
    /// The number of channels if atoms have rank 1 over them.
    rank_one: Option<usize>,
    /// Squared windows over the box of an atom: none, one for all atoms, or one for every size of
    /// atoms, 0 outside it.
    tapers: Vec<Vec<f64>>,
    /// The window of every atom, where atoms have several sizes.
    taper_of: Vec<usize>,
    /// Whether all windows are 0 or 1.
    only_sizes: bool,
    /// Samples of the box of an atom.
    samples: usize,
}

/// What the codes of an atom say about it.
pub(crate) struct AtomStatistics {
    /// `g = sum_i a_i P_i R`.
    pub gradient: Vec<f64>,
    /// Autocorrelation of the codes for all shifts within the box, last axis fastest.
    pub autocorrelation: Vec<f64>,
    /// Box of the atom.
    pub size: [usize; 3],
}

impl Constraints {
    /// The constraints on atoms of this shape.
    pub(crate) fn new(
        extent: Extent,
        channels: usize,
        frozen: usize,
        (zero_mean, rank_one): (bool, bool),
        window: Option<Window>,
        sizes: &[Extent],
    ) -> Result<Self> {
        let mut different: Vec<Extent> = Vec::new();
        for &size in sizes {
            if !different.contains(&size) {
                different.push(size);
            }
        }
        if different.is_empty() && window.is_some() {
            different.push(extent);
        }
        let taper = |&size: &Extent| -> Result<Vec<f64>> {
            let own = window.map_or(Ok(vec![1.0; size.volume()]), |window| window.over(size))?;
            let mut taper = vec![0.0; extent.volume()];
            for (at, w) in cells(size.padded()).zip(own) {
                taper[index(at, extent.padded())] = w * w;
            }
            Ok(taper)
        };
        let tapers = different.iter().map(taper).collect::<Result<Vec<_>>>()?;
        let frozen_of = std::iter::repeat_n(0, if sizes.is_empty() { 0 } else { frozen });
        let place = |size: &Extent| different.iter().position(|other| other == size).unwrap_or(0);
        Ok(Self {
            frozen,
            zero_mean,
            rank_one: rank_one.then_some(channels),
            tapers,
            taper_of: frozen_of.chain(sizes.iter().map(place)).collect(),
            only_sizes: window.is_none(),
            samples: extent.volume(),
        })
    }

    /// The squared window of an atom.
    fn taper(&self, k: usize) -> Option<&[f64]> {
        self.tapers.get(self.taper_of.get(k).copied().unwrap_or(0)).map(|taper| &taper[..])
    }

    /// Sets samples outside the size of an atom to 0.
    pub(crate) fn zero_outside(&self, k: usize, samples: &mut [f64]) {
        if let Some(taper) = self.taper(k).filter(|_| !self.taper_of.is_empty()) {
            let each = samples.chunks_exact_mut(self.samples).flat_map(|c| c.iter_mut().zip(taper));
            each.filter(|(_, t)| **t == 0.0).for_each(|(x, _)| *x = 0.0);
        }
    }

    /// Whether atoms have unit norm and are free otherwise.
    pub fn is_none(&self) -> bool {
        self.frozen == 0 && !self.shapes()
    }

    /// Whether atoms have rank 1 over their channels.
    pub(crate) fn has_rank_one(&self) -> bool {
        self.rank_one.is_some()
    }

    /// Whether the samples of an atom are constrained.
    fn shapes(&self) -> bool {
        self.zero_mean || self.rank_one.is_some() || !self.tapers.is_empty()
    }

    /// The initial dictionary with its free atoms made to satisfy the constraints.
    pub(crate) fn first<T: Real>(&self, first: &Dictionary<T>) -> Result<Dictionary<T>> {
        if self.frozen >= first.len() {
            return Err(Error::parameter(
                "the number of frozen atoms",
                self.frozen,
                "below the number of atoms: there must be one to learn",
            ));
        }
        if self.rank_one == Some(1) {
            return Err(Error::Shape(
                "atoms of rank 1 need several channels, but these have one; learn without the rank"
                    .into(),
            ));
        }
        if !self.shapes() {
            return Ok(first.clone());
        }
        let mut data = first.data().to_vec();
        let n = first.atom_len();
        for k in self.frozen..first.len() {
            let atom = self.new_atom(k, first.atom(k)).ok_or_else(|| {
                Error::Data(format!(
                    "nothing of initial atom {k} satisfies the constraints (zero mean, window); \
                     use other initial atoms"
                ))
            })?;
            data[k * n..(k + 1) * n].copy_from_slice(&atom);
        }
        Dictionary::new(first.extent(), first.channels(), data)
    }

    /// A new atom `k` from these samples; `None` if nothing of them satisfies the constraints.
    pub(crate) fn new_atom<T: Real>(&self, k: usize, samples: &[T]) -> Option<Vec<T>> {
        if !self.shapes() {
            return Some(samples.to_vec());
        }
        let before = squares(samples);
        let mut atom: Vec<f64> = samples.iter().map(|x| x.to_f64()).collect();
        if let Some(taper) = self.taper(k) {
            let each = atom.chunks_exact_mut(self.samples).flat_map(|c| c.iter_mut().zip(taper));
            each.for_each(|(x, t)| *x *= t.sqrt());
        }
        let atom = self.nearest(k, atom).filter(|_| before > 0.0)?;
        Some(atom.into_iter().map(T::from_f64).collect())
    }

    /// The unit atom that satisfies the constraints near this one; `None` if there is none.
    fn nearest(&self, k: usize, mut atom: Vec<f64>) -> Option<Vec<f64>> {
        let before = squares(&atom);
        self.project(k, &mut atom);
        // What remains of a constant is rounding.
        if squares(&atom) <= 1e-12 * before {
            return None;
        }
        match self.rank_one {
            None => unit(atom),
            Some(channels) => {
                let mut factor = Factor::nearest(&atom, channels)?;
                self.project(k, &mut factor.v);
                factor.v = unit(factor.v)?;
                Some(factor.product())
            }
        }
    }

    /// Removes the mean of every channel, and what is where the window is 0.
    fn project(&self, k: usize, atom: &mut [f64]) {
        let taper = self.taper(k);
        if let Some(taper) = taper {
            let each = atom.chunks_exact_mut(self.samples).flat_map(|c| c.iter_mut().zip(taper));
            each.filter(|(_, t)| **t == 0.0).for_each(|(x, _)| *x = 0.0);
        }
        if self.zero_mean {
            for channel in atom.chunks_exact_mut(self.samples) {
                let sum: f64 = channel.iter().sum();
                match taper {
                    None => {
                        let mean = sum / channel.len() as f64;
                        channel.iter_mut().for_each(|x| *x -= mean);
                    }
                    Some(taper) => {
                        let level = sum / taper.iter().sum::<f64>();
                        channel.iter_mut().zip(taper).for_each(|(x, t)| *x -= level * t);
                    }
                }
            }
        }
    }

    /// A dictionary that moved a little, with its atoms returned to the constraints; atoms that
    /// would vanish, and frozen ones, are those before the move.
    pub(crate) fn returned<T: Real>(
        &self,
        moved: Dictionary<T>,
        before: &Dictionary<T>,
    ) -> Dictionary<T> {
        if self.is_none() {
            return moved;
        }
        let mut data = before.data().to_vec();
        let n = before.atom_len();
        for k in self.frozen..before.len() {
            let atom = moved.atom(k).iter().map(|x| x.to_f64()).collect();
            if let Some(atom) = self.nearest(k, atom) {
                let into = data[k * n..(k + 1) * n].iter_mut();
                into.zip(atom).for_each(|(d, x)| *d = T::from_f64(x));
            }
        }
        before.with_data(data).unwrap_or_else(|| before.clone())
    }

    /// Replaces the gradient of all atoms, orthogonal to them, by a direction that keeps the
    /// constraints to first order and along which the objective falls as well.
    pub(crate) fn direction<T: Real>(&self, dictionary: &Dictionary<T>, gradient: &mut [f64]) {
        let n = dictionary.atom_len();
        for (k, g) in gradient.chunks_exact_mut(n).enumerate() {
            if k < self.frozen {
                g.fill(0.0);
            } else if self.shapes() {
                let atom: Vec<f64> = dictionary.atom(k).iter().map(|x| x.to_f64()).collect();
                self.tangent(k, &atom, g);
            }
        }
    }

    fn tangent(&self, k: usize, atom: &[f64], g: &mut [f64]) {
        match self.rank_one.and_then(|channels| Factor::nearest(atom, channels)) {
            None => self.precondition(k, g),
            Some(Factor { u, v }) => {
                // The tangent space of rank 1: changes of v for this u, and of u for this v.
                let mut over_box = along_channels(g, &u);
                let (over_channels, both) = (along_box(g, &v), dot(&over_box, &v));
                self.precondition(k, &mut over_box);
                for ((row, u), du) in g.chunks_exact_mut(v.len()).zip(&u).zip(&over_channels) {
                    for ((x, v), dv) in row.iter_mut().zip(&v).zip(&over_box) {
                        *x = u * dv + (du - both * u) * v;
                    }
                }
            }
        }
    }

    /// Weights a gradient by the squared window, less its mean where that must be zero.
    fn precondition(&self, k: usize, g: &mut [f64]) {
        let taper = self.taper(k);
        for channel in g.chunks_exact_mut(self.samples) {
            let weight = |i: usize| taper.map_or(1.0, |taper| taper[i]);
            let sum: f64 = channel.iter().enumerate().map(|(i, g)| weight(i) * g).sum();
            let whole: f64 = (0..channel.len()).map(weight).sum();
            let level = if self.zero_mean { sum / whole } else { 0.0 };
            channel.iter_mut().enumerate().for_each(|(i, g)| *g = weight(i) * (*g - level));
        }
    }

    /// Atom `k` that minimises a bound of the objective, given the codes; `None` where numbers
    /// overflow or the codes say nothing.
    pub(crate) fn best_atom(
        &self,
        k: usize,
        atom: Vec<f64>,
        seen: &AtomStatistics,
    ) -> Option<Vec<f64>> {
        let bound: f64 = seen.autocorrelation.iter().map(|c| c.abs()).sum();
        if bound == 0.0 {
            return None;
        }
        let Some(channels) = self.rank_one else {
            return self.lowest_point(k, &atom, &seen.gradient, bound);
        };
        let Factor { mut u, mut v } = Factor::nearest(&atom, channels)?;
        let turned = |v: &[f64]| convolve(&seen.autocorrelation, v, seen.size);
        // The bound is -<h, u v^T> + 1/2 <v, T v> with h = g + u (T v)^T at the start.
        let mut pull = seen.gradient.clone();
        let start = turned(&v);
        for (row, u) in pull.chunks_exact_mut(v.len()).zip(&u) {
            row.iter_mut().zip(&start).for_each(|(h, s)| *h += u * s);
        }
        let tapered = !self.tapers.is_empty() && !self.only_sizes;
        for _ in 0..ALTERNATIONS {
            let wanted = along_channels(&pull, &u);
            if tapered {
                for _ in 0..STEPS {
                    let gradient: Vec<f64> =
                        wanted.iter().zip(turned(&v)).map(|(w, t)| w - t).collect();
                    v = self.lowest_point(k, &v, &gradient, bound)?;
                }
            } else {
                v = self.lowest_factor(k, v, wanted, &turned);
            }
            u = unit(along_box(&pull, &v))?;
        }
        Some(Factor { u, v }.product())
    }

    /// Minimiser of `1/2 <v, T v> - <w, v>` over unit factors that satisfy the constraints; the
    /// given one where nothing lower is found.
    fn lowest_factor(
        &self,
        k: usize,
        v: Vec<f64>,
        mut wanted: Vec<f64>,
        turned: &dyn Fn(&[f64]) -> Vec<f64>,
    ) -> Vec<f64> {
        self.project(k, &mut wanted);
        let height = |v: &[f64]| 0.5 * dot(v, &turned(v)) - dot(&wanted, v);
        let within = |v: &[f64]| {
            let mut turned = turned(v);
            self.project(k, &mut turned);
            turned
        };
        match lowest_on_sphere(wanted.clone(), within) {
            Some(lowest) if height(&lowest) < height(&v) => lowest,
            _ => v,
        }
    }

    /// Minimiser of `-<g, d' - d> + L/2 ||d' - d||^2` over unit atoms (or factors `v`) that satisfy
    /// the constraints. With a window `w`, the last norm is that of `(d' - d) / w`, which is
    /// larger: atoms move less where the window is small.
    fn lowest_point(
        &self,
        k: usize,
        atom: &[f64],
        gradient: &[f64],
        bound: f64,
    ) -> Option<Vec<f64>> {
        if let Some(taper) = self.taper(k).filter(|_| !self.only_sizes) {
            return self.lowest_tapered(taper, atom, gradient, bound);
        }
        let mut lowest: Vec<f64> = atom.iter().zip(gradient).map(|(d, g)| d + g / bound).collect();
        self.project(k, &mut lowest);
        unit(lowest)
    }

    /// The minimiser is `(d + t (g - level) / L) / (1 + t x)` with the squared window `t`; `x` is
    /// such that its norm is 1, which falls as `x` rises.
    fn lowest_tapered(
        &self,
        taper: &[f64],
        atom: &[f64],
        gradient: &[f64],
        bound: f64,
    ) -> Option<Vec<f64>> {
        let most = taper.iter().copied().fold(0.0, f64::max);
        let at = |x: f64| -> Vec<f64> {
            let mut out = Vec::with_capacity(atom.len());
            for (d, g) in atom.chunks_exact(taper.len()).zip(gradient.chunks_exact(taper.len())) {
                let sums = d.iter().zip(g).zip(taper).map(|((d, g), t)| {
                    let scale = 1.0 / (1.0 + t * x);
                    [(d + t * g / bound) * scale, t / bound * scale]
                });
                let [sum, whole] = sums.fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
                let level = if self.zero_mean { sum / whole } else { 0.0 };
                out.extend(d.iter().zip(g).zip(taper).map(|((d, g), t)| {
                    if *t == 0.0 { 0.0 } else { (d + t * (g - level) / bound) / (1.0 + t * x) }
                }));
            }
            out
        };
        let long = |x: f64| squares(&at(x)) > 1.0;
        let (mut low, mut high) = (-1.0 / most * (1.0 - 1e-9), 1.0);
        if !long(low) {
            return None;
        }
        while long(high) {
            high *= 2.0;
            if !high.is_finite() {
                return None;
            }
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if long(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        unit(at(high))
    }
}
