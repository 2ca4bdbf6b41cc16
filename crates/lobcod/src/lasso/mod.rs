//! The LASSO of one needle, on correlations and Gram columns.
//!
//! ```text
//! min over a   1/2 || W^(1/2) (patch - D a) ||^2 + sum_k threshold_k |a_k|
//! ```
//!
//! `W` are the squared mask weights of the patch (all 1 for a plain one). A solver sees the
//! correlations `c = D^T W (patch - D a)` and requests columns of the Gram matrix `D^T W D` of
//! active atoms only; the whole masked Gram matrix is never formed.

mod coordinate;
mod groups;
mod lars;

pub(crate) use coordinate::solve as solve_by_coordinates;
pub(crate) use groups::{ActiveGroups, GroupColumns, GroupRules, solve as solve_groups};
pub(crate) use lars::solve as solve_by_lars;

use crate::pursuit::Local;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Provides columns of the Gram matrix on demand.
pub(crate) trait Columns<T> {
    /// `D^T W d_atom`, as long as the correlations.
    fn column(&mut self, atom: usize) -> &[T];
}

/// Columns of a stored Gram matrix.
pub(crate) struct Stored<'a, T> {
    pub(crate) gram: &'a [T],
    pub(crate) stride: usize,
}

impl<T> Columns<T> for Stored<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize) -> &[T] {
        &self.gram[atom * self.stride..(atom + 1) * self.stride]
    }
}

/// Parameters of a solver besides correlations and columns.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a, T> {
    /// Threshold of every atom before `scale`; infinite in the padding after the last atom.
    pub(crate) thresholds: &'a [T],
    /// Penalty times the weight of this position.
    pub(crate) scale: T,
    pub(crate) nonnegative: bool,
    /// Maximum number of non-zeros of the needle.
    pub(crate) cap: usize,
    /// Changes below this fraction of the threshold are ignored.
    pub(crate) tolerance: T,
}

impl<T: Real> Rules<'_, T> {
    #[inline(always)]
    pub(crate) fn threshold(&self, atom: usize) -> T {
        self.thresholds[atom] * self.scale
    }

    /// Size to which changes of a correlation are compared: the threshold, or the penalty for an
    /// unpenalised code.
    #[inline(always)]
    pub(crate) fn resolution(&self, threshold: T) -> T {
        if threshold > T::ZERO { threshold } else { self.scale }
    }

    /// Whether the correlation of an unpenalised code is too small to matter.
    #[inline(always)]
    fn is_settled(&self, c: T, atom: usize) -> bool {
        self.thresholds[atom] == T::ZERO && c.abs() <= self.tolerance * self.scale
    }

    /// Minimiser of `q/2 a^2 - z a + threshold |a|`.
    #[inline(always)]
    pub(crate) fn shrink(&self, z: T, threshold: T, q: T) -> T {
        // No branch on the sign, which is unpredictable.
        let size = (if self.nonnegative { z } else { z.abs() }) - threshold;
        let size = if size > T::ZERO { size } else { T::ZERO };
        (if self.nonnegative { size } else { size.copysign(z) }) / q
    }

    /// Whether these codes satisfy the cap and the sign constraint.
    pub(crate) fn allow(&self, codes: impl Iterator<Item = T>) -> bool {
        let mut nonzeros = 0;
        for a in codes.filter(|&a| a != T::ZERO) {
            nonzeros += 1;
            if nonzeros > self.cap || (self.nonnegative && a < T::ZERO) {
                return false;
            }
        }
        true
    }

    /// Excess of a correlation over `slack` times its threshold.
    #[inline(always)]
    pub(crate) fn excess(&self, c: T, atom: usize, slack: T) -> T {
        (if self.nonnegative { c } else { c.abs() }) - self.threshold(atom) * slack
    }
}

/// One code of a needle while it is being solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActiveCode<T> {
    pub(crate) atom: u32,
    pub(crate) value: T,
    /// Value before the solve.
    pub(crate) before: T,
}

/// Change of the needle's objective from `before` to `value`, given the correlations before and
/// after.
pub(crate) fn objective_change<T: Real>(
    active: &[ActiveCode<T>],
    before: &[T],
    after: &[T],
    rules: &Rules<'_, T>,
) -> f64 {
    let change = |code: &ActiveCode<T>| {
        let k = code.atom as usize;
        let delta = code.value.to_f64() - code.before.to_f64();
        let mean = 0.5 * (before[k].to_f64() + after[k].to_f64());
        rules.threshold(k).to_f64() * (code.value.to_f64().abs() - code.before.to_f64().abs())
            - delta * mean
    };
    active.iter().map(change).sum()
}

/// `c -= delta * column`.
#[inline(always)]
pub(crate) fn subtract_column<V: Vector>(c: &mut [V::Elem], column: &[V::Elem], delta: V::Elem)
where
    V::Elem: Real,
{
    assert!(c.len() == column.len() && c.len() % V::LANES == 0);
    let s = V::splat(-delta);
    for i in (0..c.len()).step_by(V::LANES) {
        // SAFETY: both slices hold a whole number of vectors.
        unsafe {
            let at = c.as_mut_ptr().add(i);
            V::load(column.as_ptr().add(i)).mul_add(s, V::load(at)).store(at);
        }
    }
}

/// The atom whose correlation exceeds `slack` times its threshold most, if any does.
#[inline(always)]
pub(crate) fn strongest<V: Vector>(
    c: &[V::Elem],
    rules: &Rules<'_, V::Elem>,
    slack: V::Elem,
) -> Option<usize>
where
    V::Elem: Real,
{
    assert!(c.len() == rules.thresholds.len() && c.len() % V::LANES == 0);
    let s = V::splat(-(rules.scale * slack));
    let mut most = V::splat(V::Elem::ZERO);
    let mut best = None;
    for i in (0..c.len()).step_by(V::LANES) {
        // SAFETY: both slices hold a whole number of vectors.
        let (x, t) =
            unsafe { (V::load(c.as_ptr().add(i)), V::load(rules.thresholds.as_ptr().add(i))) };
        let excess = t.mul_add(s, if rules.nonnegative { x } else { x.abs() });
        if excess.any_above(most) {
            most = V::splat(excess.largest());
            best = Some((i, excess));
        }
    }
    best.map(|(i, excess)| i + excess.lane_of_largest())
}

/// A LASSO with a full Gram matrix, for use outside a pursuit.
#[derive(Clone, Debug)]
pub struct Lasso<'a, T> {
    /// `m x m` Gram matrix.
    pub gram: &'a [T],
    /// Correlations of the atoms with the patch.
    pub correlation: &'a [T],
    /// Threshold of every atom.
    pub thresholds: &'a [T],
    /// Whether codes must be non-negative.
    pub nonnegative: bool,
    /// Maximum number of non-zeros.
    pub max_nonzeros: Option<usize>,
}

impl<T: Real> Lasso<'_, T> {
    /// Solves from zero; returns `(atom, code)` of the non-zeros.
    pub fn solve(&self, local: Local) -> Vec<(usize, T)> {
        struct Solve<'a, 'b, T>(&'a Lasso<'b, T>, Local);
        impl<T: Real> Kernel<T> for Solve<'_, '_, T> {
            type Output = Vec<(usize, T)>;
            #[inline(always)]
            fn run<V: Vector<Elem = T>>(self) -> Self::Output {
                self.0.solve_with::<V>(self.1)
            }
        }
        T::dispatch(Level::detect(), Solve(self, local))
    }

    #[inline(always)]
    fn solve_with<V: Vector<Elem = T>>(&self, local: Local) -> Vec<(usize, T)> {
        let m = self.correlation.len();
        let stride = m.next_multiple_of(V::LANES);
        let pad = |x: &[T], with: T| -> Vec<T> {
            x.iter().copied().chain(std::iter::repeat_n(with, stride - m)).collect()
        };
        let gram: Vec<T> = self.gram.chunks_exact(m).flat_map(|row| pad(row, T::ZERO)).collect();
        let thresholds = pad(self.thresholds, T::INFINITY);
        let rules = Rules {
            thresholds: &thresholds,
            scale: T::ONE,
            nonnegative: self.nonnegative,
            cap: self.max_nonzeros.unwrap_or(usize::MAX),
            tolerance: T::EPSILON * T::from_f64(16.0),
        };
        let mut c = pad(self.correlation, T::ZERO);
        let mut active = Vec::new();
        let mut columns = Stored { gram: &gram, stride };
        match local {
            Local::Coordinate => {
                solve_by_coordinates::<V>(&mut c, &mut active, &mut columns, &rules)
            }
            Local::Lars => solve_by_lars(&mut c, &mut active, &mut columns, &rules),
        }
        active.iter().filter(|a| a.value != T::ZERO).map(|a| (a.atom as usize, a.value)).collect()
    }
}
