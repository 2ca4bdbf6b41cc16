//! The lowest point of a quadratic on the unit sphere, by the Lanczos method.

use super::rank_one::{dot, unit};
use super::squares;

/// Lanczos steps between two attempts at a solution.
const ATTEMPT_EVERY: usize = 8;
/// The gradient along the sphere at which the search ends, as a fraction of `||w||`.
const SETTLED: f64 = 1e-8;
/// Halvings of the interval that contains the multiplier of the norm.
const HALVINGS: usize = 60;

/// The unit vector `v` with the lowest `1/2 <v, T v> - <w, v>` in the space that `T` spans from
/// `w`; `T` is symmetric. `None` if `w` is zero or not finite.
///
/// In an orthonormal basis of that space, `T` is tridiagonal and `w` is along the first axis. The
/// solution there is `(T + x)^-1 w` with the largest `x` at which its norm is 1.
pub(super) fn lowest_on_sphere(
    w: Vec<f64>,
    turned: impl Fn(&[f64]) -> Vec<f64>,
) -> Option<Vec<f64>> {
    let size = squares(&w).sqrt();
    let mut basis = vec![unit(w)?];
    let mut matrix = Tridiagonal { diagonal: Vec::new(), beside: Vec::new() };
    loop {
        let last = &basis[basis.len() - 1];
        let mut next = turned(last);
        matrix.diagonal.push(dot(&next, last));
        // Twice, so that the basis stays orthogonal to rounding.
        for _ in 0..2 {
            for q in &basis {
                let along = dot(&next, q);
                next.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
        }
        let beside = squares(&next).sqrt();
        let scale = matrix.diagonal.iter().fold(size, |most, d| most.max(d.abs()));
        let complete = basis.len() == next.len() || beside <= 1e-13 * scale;
        if complete || basis.len().is_multiple_of(ATTEMPT_EVERY) {
            let found = matrix.lowest(size)?;
            if complete || beside * found[found.len() - 1].abs() <= SETTLED * size {
                let mut v = vec![0.0; next.len()];
                for (q, y) in basis.iter().zip(&found) {
                    v.iter_mut().zip(q).for_each(|(v, q)| *v += y * q);
                }
                return unit(v);
            }
        }
        matrix.beside.push(beside);
        basis.push(unit(next)?);
    }
}

/// A symmetric matrix with entries on and next to the diagonal.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// As many as rows, less one.
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// The unit vector `y` with the lowest `1/2 <y, T y> - size y_0`.
    fn lowest(&self, size: f64) -> Option<Vec<f64>> {
        let most = |i: usize| self.beside.get(i).copied().unwrap_or(0.0);
        let radius = |i: usize| most(i) + if i > 0 { most(i - 1) } else { 0.0 };
        let rows = || self.diagonal.iter().enumerate();
        // All eigenvalues are between these.
        let least = rows().fold(f64::INFINITY, |least, (i, d)| least.min(d - radius(i)));
        let largest = rows().fold(f64::NEG_INFINITY, |most, (i, d)| most.max(d + radius(i)));
        // The norm of `(T + x)^-1 w` is at least 1 at the lower end and at most 1 at the upper one.
        let (mut low, mut high) = (size - largest, size - least);
        let mut found = self.solve(high, size)?;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match self.solve(middle, size).filter(|y| squares(y) <= 1.0) {
                Some(y) => (high, found) = (middle, y),
                None => low = middle,
            }
        }
        Some(found)
    }

    /// `(T + x)^-1 (size, 0, ...)`; `None` unless `T + x` is positive definite.
    fn solve(&self, x: f64, size: f64) -> Option<Vec<f64>> {
        let mut pivots: Vec<f64> = Vec::with_capacity(self.diagonal.len());
        let mut right: Vec<f64> = Vec::with_capacity(self.diagonal.len());
        for (i, d) in self.diagonal.iter().enumerate() {
            let (mut pivot, mut value) = (d + x, if i == 0 { size } else { 0.0 });
            if i > 0 {
                let ratio = self.beside[i - 1] / pivots[i - 1];
                pivot -= ratio * self.beside[i - 1];
                value = -ratio * right[i - 1];
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            pivots.push(pivot);
            right.push(value);
        }
        let mut y = right;
        for i in (0..y.len()).rev() {
            let after = if i + 1 < y.len() { self.beside[i] * y[i + 1] } else { 0.0 };
            y[i] = (y[i] - after) / pivots[i];
        }
        Some(y)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank_one::convolve;
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Whether `T + x` has no negative eigenvalue beyond rounding, by elimination.
    fn is_positive(mut rows: Vec<Vec<f64>>, slack: f64) -> bool {
        (0..rows.len()).for_each(|i| rows[i][i] += slack);
        for i in 0..rows.len() {
            if rows[i][i] <= 0.0 {
                return false;
            }
            let pivot = rows[i].clone();
            for row in &mut rows[i + 1..] {
                let ratio = row[i] / pivot[i];
                row.iter_mut().zip(&pivot).skip(i).for_each(|(x, p)| *x -= ratio * p);
            }
        }
        true
    }

    #[test]
    fn the_point_satisfies_the_conditions_of_a_global_minimum() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for (size, codes, scale) in [
            ([1, 1, 40], 30, 1.0),
            ([1, 1, 40], 200, 1e-3),
            ([1, 6, 7], 60, 50.0),
            ([1, 1, 1], 3, 1.0),
        ] {
            let n = size.iter().product::<usize>();
            // The autocorrelation of random codes on a line of shifts, as in learning.
            let shifts = size.map(|h| 2 * h - 1);
            let mut c = vec![0.0; shifts.iter().product()];
            let places: Vec<([i64; 3], f64)> = (0..codes)
                .map(|_| {
                    let at =
                        size.map(|h| if h > 1 { rng.random_range(0..8 * h as i64) } else { 0 });
                    (at, rng.random_range(-1.0..2.0))
                })
                .collect();
            for (a, x) in &places {
                for (b, y) in &places {
                    let s: [i64; 3] = std::array::from_fn(|i| a[i] - b[i] + size[i] as i64 - 1);
                    if (0..3).all(|i| (0..shifts[i] as i64).contains(&s[i])) {
                        let [z, r, q] = s.map(|s| s as usize);
                        c[(z * shifts[1] + r) * shifts[2] + q] += x * y;
                    }
                }
            }
            let w: Vec<f64> = (0..n).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
            let turned = |v: &[f64]| convolve(&c, v, size);
            let v = lowest_on_sphere(w.clone(), turned).unwrap();
            assert!((squares(&v) - 1.0).abs() < 1e-12);
            let pull: Vec<f64> = w.iter().zip(turned(&v)).map(|(w, t)| w - t).collect();
            let x = dot(&pull, &v);
            let off: f64 = pull.iter().zip(&v).map(|(p, v)| (p - x * v).powi(2)).sum();
            let size_of_w = squares(&w).sqrt();
            assert!(off.sqrt() < 1e-6 * size_of_w, "{size:?} {codes}: {off:e}");
            let column =
                |i: usize| turned(&(0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>());
            let mut rows: Vec<Vec<f64>> = (0..n).map(column).collect();
            (0..n).for_each(|i| rows[i][i] += x);
            let largest =
                rows.iter().enumerate().fold(0.0f64, |most, (i, row)| most.max(row[i].abs()));
            assert!(is_positive(rows, 1e-6 * largest.max(size_of_w)), "{size:?} {codes}: {x}");
        }
    }
}
