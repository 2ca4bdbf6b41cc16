//! Small dense matrices.

/// Eigenvalues of a symmetric matrix by Jacobi's rotations.
pub(super) fn eigenvalues(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let size: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..50 {
        let off: f64 = (0..n * n).filter(|i| i / n != i % n).map(|i| a[i] * a[i]).sum();
        if off <= 1e-20 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..n).map(|i| a[i * n + i]).collect()
}

/// Solves `A X = B` for a positive definite `A` of `n` x `n`, `B` of `n` rows, in place of `B`.
pub(super) fn solve_positive(mut a: Vec<f64>, n: usize, b: &mut [f64]) {
    let columns = b.len() / n;
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let rest = a[i * n + j] - dot;
            a[i * n + j] = if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / a[j * n + j] };
        }
    }
    for c in 0..columns {
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| a[i * n + k] * b[k * columns + c]).sum();
            b[i * columns + c] = (b[i * columns + c] - dot) / a[i * n + i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k * columns + c]).sum();
            b[i * columns + c] = (b[i * columns + c] - dot) / a[i * n + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_spectrum_is_found() {
        // The second difference with fixed ends has the eigenvalues 2 - 2 cos(pi k / (n + 1)).
        let n = 9;
        let entry = |i: usize| {
            if i / n == i % n {
                2.0
            } else if (i / n).abs_diff(i % n) == 1 {
                -1.0
            } else {
                0.0
            }
        };
        let mut values = eigenvalues((0..n * n).map(entry).collect(), n);
        values.sort_by(f64::total_cmp);
        for (k, value) in values.iter().enumerate() {
            let known = 2.0 - 2.0 * (std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64).cos();
            assert!((value - known).abs() < 1e-9, "{value} {known}");
        }
    }

    #[test]
    fn a_system_is_solved() {
        let (a, x) = (vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0], [1.0, -2.0, 3.0, 0.5, 7.0, -1.0]);
        let mut b: Vec<f64> = (0..6).map(|i| (0..3).map(|k| a[i / 2 * 3 + k] * x[k * 2 + i % 2]).sum()).collect();
        solve_positive(a, 3, &mut b);
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-12), "{b:?}");
    }
}
