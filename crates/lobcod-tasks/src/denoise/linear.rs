//! Small dense matrices.

/// Solves `A X = B` in place for a positive definite `A` of `n` x `n` and `B` with `n` rows.
pub(super) fn solve_positive(mut a: Vec<f64>, n: usize, b: &mut [f64]) {
    let columns = b.len() / n;
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let rest = a[i * n + j] - dot;
            a[i * n + j] =
                if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / a[j * n + j] };
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
    fn a_system_is_solved() {
        let (a, x) =
            (vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0], [1.0, -2.0, 3.0, 0.5, 7.0, -1.0]);
        let mut b: Vec<f64> =
            (0..6).map(|i| (0..3).map(|k| a[i / 2 * 3 + k] * x[k * 2 + i % 2]).sum()).collect();
        solve_positive(a, 3, &mut b);
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-12), "{b:?}");
    }
}
