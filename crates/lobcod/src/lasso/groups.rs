//! The problem of one needle in joint sparsity, by block coordinate descent.
//!
//! ```text
//! min over a_kc   1/2 sum_c || W_c^(1/2) (patch_c - D a_c) ||^2 + sum_k weight_k (l1 ||a_k||_1 + l2 ||a_k||_2)
//! ```
//!
//! The codes `a_k` of all channels of an atom are one block. Channels do not interact in the data
//! term, so the minimum over a block is the root of one increasing function, and a closed formula
//! where all channels have the same curvature.

use super::subtract_column;
use crate::engine::JointNorm;
use crate::real::Real;
use crate::simd::Vector;

/// Rounds after which the codes are left as they are; the next visit continues.
const MAX_ROUNDS: usize = 200;

/// Penalty of a group of codes.
#[derive(Clone, Copy)]
pub(crate) struct GroupRules {
    /// Weights of both norms, times the penalty and the weight of the position.
    l1: f64,
    l2: f64,
    nonnegative: bool,
    /// Changes below this fraction of the threshold are ignored.
    tolerance: f64,
}

/// The groups that may be non-zero while a needle is solved.
#[derive(Default)]
pub(crate) struct ActiveGroups<T> {
    pub(crate) atoms: Vec<u32>,
    /// Codes of every channel of every group, now and before the solve.
    pub(crate) values: Vec<T>,
    pub(crate) before: Vec<T>,
    curvatures: Vec<f64>,
    shrunk: Vec<f64>,
    sums: Vec<f64>,
}

/// Provides columns of the Gram matrix of a channel on demand.
pub(crate) trait GroupColumns<T> {
    /// `D^T W_c d_atom`, as long as the correlations of a channel.
    fn column(&mut self, atom: usize, channel: usize) -> &[T];
}

impl<T: Real> ActiveGroups<T> {
    pub(crate) fn clear(&mut self) {
        self.atoms.clear();
        self.values.clear();
        self.before.clear();
    }

    /// The atom, not among the active ones, whose correlations exceed `slack` times its thresholds
    /// most, if any does. `c` has the correlations of every channel, as many as there are weights.
    #[inline(always)]
    pub(crate) fn strongest(
        &mut self,
        c: &[T],
        weights: &[T],
        rules: GroupRules,
        slack: f64,
    ) -> Option<usize> {
        let sums = &mut self.sums;
        sums.clear();
        sums.resize(weights.len(), 0.0);
        let (l1, l2) = (rules.l1 * slack, rules.l2 * slack);
        for c in c.chunks_exact(weights.len()) {
            for ((sum, c), weight) in sums.iter_mut().zip(c).zip(weights) {
                let c = c.to_f64();
                let size = (if rules.nonnegative { c } else { c.abs() }) - l1 * weight.to_f64();
                // The weight of the padding is infinite, and 0 times infinity is NaN.
                let size = if size > 0.0 { size } else { 0.0 };
                *sum += size * size;
            }
        }
        let (mut best, mut most) = (None, 0.0);
        for (k, (sum, weight)) in sums.iter().zip(weights).enumerate() {
            if *sum > 0.0 {
                let excess = sum.sqrt() - l2 * weight.to_f64();
                if excess > most && !self.atoms.contains(&(k as u32)) {
                    (best, most) = (Some(k), excess);
                }
            }
        }
        best
    }

    /// Adds a group of zeros; returns its values.
    pub(crate) fn push(&mut self, atom: u32, channels: usize) -> &mut [T] {
        let first = self.values.len();
        self.atoms.push(atom);
        self.values.resize(first + channels, T::ZERO);
        self.before.resize(first + channels, T::ZERO);
        &mut self.values[first..]
    }
}

impl GroupRules {
    pub(crate) fn new(norm: JointNorm, nonnegative: bool) -> Self {
        Self { l1: norm.l1, l2: norm.l2, nonnegative, tolerance: 0.0 }
    }

    /// With both weights multiplied.
    pub(crate) fn times(self, scale: f64) -> Self {
        Self { l1: self.l1 * scale, l2: self.l2 * scale, ..self }
    }

    pub(crate) fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Threshold of a group whose codes are alone.
    pub(crate) fn threshold(&self) -> f64 {
        self.l1 + self.l2
    }

    /// Replaces `z` by the minimiser of `sum_c (q_c/2 a_c^2 - z_c a_c + l1 |a_c|) + l2 ||a||_2`.
    pub(crate) fn shrink(&self, z: &mut [f64], q: &[f64]) {
        let (mut squares, mut steepest) = (0.0, 0.0f64);
        for (z, &q) in z.iter_mut().zip(q) {
            let size = (if self.nonnegative { *z } else { z.abs() }) - self.l1;
            // An atom hidden completely by the mask has no effect: its code is zero.
            *z = if size > 0.0 && q > 0.0 { size.copysign(*z) } else { 0.0 };
            squares += *z * *z;
            steepest = steepest.max(q);
        }
        let norm = squares.sqrt();
        if norm <= self.l2 {
            return z.fill(0.0);
        }
        // The norm t of the minimiser solves sum_c (z_c / (q_c t + l2))^2 = 1: Newton's method from
        // below, exact at once where all q_c are equal.
        let mut t = (norm - self.l2) / steepest;
        let rounds = if q.iter().all(|&q| q == steepest) { 0 } else { 64 };
        for _ in 0..rounds {
            let (mut sum, mut slope) = (0.0, 0.0);
            for (z, q) in z.iter().zip(q) {
                let bottom = q * t + self.l2;
                let term = (z / bottom) * (z / bottom);
                sum += term;
                slope += 2.0 * term * q / bottom;
            }
            let next = t + (sum - 1.0) / slope;
            if next <= t * (1.0 + 4.0 * f64::EPSILON) {
                break;
            }
            t = next;
        }
        for (z, q) in z.iter_mut().zip(q) {
            *z *= t / (q * t + self.l2);
        }
    }
}

/// Solves the problem of a needle from the codes in `active`, with `c` the correlations there; both
/// are updated.
#[inline(always)]
pub(crate) fn solve<V: Vector>(
    c: &mut [V::Elem],
    active: &mut ActiveGroups<V::Elem>,
    columns: &mut impl GroupColumns<V::Elem>,
    weights: &[V::Elem],
    rules: GroupRules,
) where
    V::Elem: Real,
{
    let channels = c.len() / weights.len();
    let slack = 1.0 + rules.tolerance;
    loop {
        if !descend::<V>(c, active, columns, weights, rules) {
            return;
        }
        let Some(atom) = active.strongest(c, weights, rules, slack) else { return };
        active.push(atom as u32, channels);
    }
}

/// Block coordinate descent over the active groups; returns false if they still move.
#[inline(always)]
fn descend<V: Vector>(
    c: &mut [V::Elem],
    active: &mut ActiveGroups<V::Elem>,
    columns: &mut impl GroupColumns<V::Elem>,
    weights: &[V::Elem],
    rules: GroupRules,
) -> bool
where
    V::Elem: Real,
{
    let (stride, channels) = (weights.len(), c.len() / weights.len());
    let ActiveGroups { atoms, values, curvatures, shrunk, .. } = active;
    curvatures.resize(channels, 0.0);
    shrunk.resize(channels, 0.0);
    for _ in 0..MAX_ROUNDS {
        let mut moved = false;
        for (&atom, values) in atoms.iter().zip(values.chunks_exact_mut(channels)) {
            let k = atom as usize;
            for channel in 0..channels {
                let q = columns.column(k, channel)[k].to_f64();
                curvatures[channel] = q;
                shrunk[channel] = c[channel * stride + k].to_f64() + q * values[channel].to_f64();
            }
            let rules = rules.times(weights[k].to_f64());
            rules.shrink(shrunk, curvatures);
            for (channel, value) in values.iter_mut().enumerate() {
                let delta = V::Elem::from_f64(shrunk[channel]) - *value;
                if delta != V::Elem::ZERO {
                    let column = columns.column(k, channel);
                    let own = &mut c[channel * stride..(channel + 1) * stride];
                    subtract_column::<V>(own, column, delta);
                    *value += delta;
                    let change = delta.to_f64().abs() * curvatures[channel];
                    moved |= change > rules.tolerance * rules.threshold();
                }
            }
        }
        if !moved || atoms.len() == 1 {
            return true;
        }
    }
    false
}
