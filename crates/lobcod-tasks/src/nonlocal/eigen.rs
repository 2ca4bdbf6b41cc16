//! Eigenvalues and eigenvectors of small symmetric matrices.

/// Smallest off-diagonal entry, relative to its neighbours on the diagonal, that is not zero.
const NEGLIGIBLE: f32 = f32::EPSILON;
/// Off-diagonal entries up to this are zero: their squares would underflow. Matrices are in units of
/// the noise.
const TINY: f32 = 1e-15;
/// Steps per eigenvalue; two are usual.
const MOST_STEPS: usize = 60;

/// Scratch of decompositions of one size.
pub(crate) struct Eigen {
    n: usize,
    /// Eigenvalues, in no particular order.
    pub(crate) values: Vec<f32>,
    off_diagonal: Vec<f32>,
    /// Row `i` is eigenvector `i` of the tridiagonal matrix.
    rows: Vec<f32>,
    /// Row `k` is the vector of reflection `k`, with its factor in `factors`.
    reflections: Vec<f32>,
    factors: Vec<f32>,
    product: Vec<f32>,
}

impl Eigen {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            values: vec![0.0; n],
            off_diagonal: vec![0.0; n],
            rows: vec![0.0; n * n],
            reflections: vec![0.0; n * n],
            factors: vec![0.0; n],
            product: vec![0.0; n],
        }
    }

    /// Decomposes a matrix given in full, row by row; overwrites it.
    #[inline(always)]
    pub(crate) fn decompose(&mut self, matrix: &mut [f32]) {
        self.reduce(matrix);
        self.iterate();
    }

    /// Householder reflections to tridiagonal form.
    #[inline(always)]
    fn reduce(&mut self, matrix: &mut [f32]) {
        let n = self.n;
        for k in 0..n {
            self.values[k] = matrix[k * n + k];
            if k + 1 == n {
                break;
            }
            let first = k + 1;
            let v = &mut self.reflections[k * n..][..n];
            v.copy_from_slice(&matrix[k * n..][..n]);
            let v = &mut v[first..];
            if dot(&v[1..], &v[1..]) <= TINY * TINY {
                self.off_diagonal[k] = v[0];
                self.factors[k] = 0.0;
                continue;
            }
            let norm = dot(v, v).sqrt();
            let end = if v[0] > 0.0 { -norm } else { norm };
            self.off_diagonal[k] = end;
            v[0] -= end;
            let factor = 2.0 / dot(v, v);
            self.factors[k] = factor;
            let product = &mut self.product[first..];
            for (p, row) in product.iter_mut().zip(matrix[first * n..].chunks_exact(n)) {
                *p = factor * dot(&row[first..], v);
            }
            let half = 0.5 * factor * dot(product, v);
            product.iter_mut().zip(&*v).for_each(|(p, x)| *p -= half * x);
            for (i, row) in matrix[first * n..].chunks_exact_mut(n).enumerate() {
                let (a, b) = (v[i], product[i]);
                for ((m, p), x) in row[first..].iter_mut().zip(&*product).zip(&*v) {
                    *m -= a * p + b * x;
                }
            }
        }
    }

    /// Implicit QL steps on the tridiagonal matrix.
    #[inline(always)]
    fn iterate(&mut self) {
        let n = self.n;
        self.rows.fill(0.0);
        (0..n).for_each(|i| self.rows[i * n + i] = 1.0);
        let (d, e) = (&mut self.values, &mut self.off_diagonal);
        e[n - 1] = 0.0;
        for l in 0..n {
            for _ in 0..MOST_STEPS {
                let small = |m: &usize| {
                    e[*m].abs() <= f32::max(TINY, NEGLIGIBLE * (d[*m].abs() + d[*m + 1].abs()))
                };
                let m = (l..n - 1).find(small).unwrap_or(n - 1);
                if m == l {
                    break;
                }
                let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
                let mut r = (g * g + 1.0).sqrt();
                g = d[m] - d[l] + e[l] / (g + if g < 0.0 { -r } else { r });
                let mut s = 1.0f32;
                let mut c = 1.0f32;
                let mut p = 0.0f32;
                let mut split = false;
                for i in (l..m).rev() {
                    let (f, b) = (s * e[i], c * e[i]);
                    r = (f * f + g * g).sqrt();
                    e[i + 1] = r;
                    if r == 0.0 {
                        d[i + 1] -= p;
                        e[m] = 0.0;
                        split = true;
                        break;
                    }
                    let inverse = 1.0 / r;
                    s = f * inverse;
                    c = g * inverse;
                    g = d[i + 1] - p;
                    r = (d[i] - g) * s + 2.0 * c * b;
                    p = s * r;
                    d[i + 1] = g + p;
                    g = c * r - b;
                    let (upper, lower) = self.rows[i * n..][..2 * n].split_at_mut(n);
                    for (x, y) in upper.iter_mut().zip(lower) {
                        let f = *y;
                        *y = s * *x + c * f;
                        *x = c * *x - s * f;
                    }
                }
                if !split {
                    d[l] -= p;
                    e[l] = g;
                    e[m] = 0.0;
                }
            }
        }
    }

    /// Writes eigenvector `i`.
    #[inline(always)]
    pub(crate) fn vector(&self, i: usize, out: &mut [f32]) {
        let n = self.n;
        out.copy_from_slice(&self.rows[i * n..][..n]);
        for k in (0..n - 1).rev() {
            if self.factors[k] != 0.0 {
                let (v, x) = (&self.reflections[k * n + k + 1..][..n - k - 1], &mut out[k + 1..]);
                let scale = self.factors[k] * dot(v, x);
                x.iter_mut().zip(v).for_each(|(x, v)| *x -= scale * v);
            }
        }
    }
}

/// The sum of products, with eight accumulators.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error of `matrix * vector = value * vector` and of orthonormality.
    fn errors(matrix: &[f32], n: usize) -> [f64; 2] {
        let mut eigen = Eigen::new(n);
        eigen.decompose(&mut matrix.to_vec());
        let mut vectors = vec![0.0; n * n];
        for (i, vector) in vectors.chunks_exact_mut(n).enumerate() {
            eigen.vector(i, vector);
        }
        let product = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let (mut residual, mut skew) = (0.0f64, 0.0f64);
        for (i, vector) in vectors.chunks_exact(n).enumerate() {
            for (row, x) in matrix.chunks_exact(n).zip(vector) {
                let expected = f64::from(eigen.values[i]) * f64::from(*x);
                residual = residual.max((product(row, vector) - expected).abs());
            }
            for (j, other) in vectors.chunks_exact(n).enumerate() {
                skew = skew.max((product(vector, other) - f64::from(u8::from(i == j))).abs());
            }
        }
        [residual, skew]
    }

    fn noise(count: usize) -> impl Iterator<Item = f32> {
        (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8e6 - 1.0)
    }

    #[test]
    fn entries_whose_squares_underflow_are_zero() {
        let n = 5;
        for tiny in [1e-16f32, 1e-20, 1e-22] {
            let entry = |i: usize| if i.is_multiple_of(n + 1) { (i / n) as f32 } else { tiny };
            let mut matrix: Vec<f32> = (0..n * n).map(entry).collect();
            let mut eigen = Eigen::new(n);
            eigen.decompose(&mut matrix);
            let mut values = eigen.values.clone();
            values.sort_by(f32::total_cmp);
            for (i, value) in values.iter().enumerate() {
                assert!((value - i as f32).abs() < 1e-5, "{tiny}: {values:?}");
            }
        }
    }

    #[test]
    fn products_of_random_groups_are_decomposed() {
        for n in [1, 2, 3, 9, 36, 49, 64, 81] {
            for columns in [1, n / 2 + 1, 2 * n] {
                let group: Vec<f32> = noise(n * columns).collect();
                let row = |i: usize| &group[i * columns..][..columns];
                let matrix: Vec<f32> = (0..n * n).map(|i| dot(row(i / n), row(i % n))).collect();
                let scale = matrix.iter().fold(0.0f32, |a, x| a.max(x.abs()));
                let [residual, skew] = errors(&matrix, n);
                assert!(residual < 2e-5 * n as f64 * f64::from(scale), "{n}: {residual}");
                assert!(skew < 1e-5 * n as f64, "{n}: {skew}");
            }
        }
    }

    #[test]
    fn special_matrices_are_decomposed() {
        let n = 16;
        let of =
            |f: fn(usize, usize) -> f32| (0..n * n).map(|i| f(i / n, i % n)).collect::<Vec<_>>();
        for matrix in [
            of(|_, _| 0.0),
            of(|_, _| 1.0),
            of(|i, j| if i == j { 3.0 } else { 0.0 }),
            of(|i, j| if i == j { i as f32 } else { 0.0 }),
            of(|i, j| if i.abs_diff(j) == 1 { 1.0 } else { 0.0 }),
            // Graded over ten orders of magnitude.
            of(|i, j| 0.25f32.powi((i + j) as i32)),
        ] {
            let [residual, skew] = errors(&matrix, n);
            assert!(residual < 1e-4 && skew < 1e-4, "{residual} {skew}");
        }
    }
}
