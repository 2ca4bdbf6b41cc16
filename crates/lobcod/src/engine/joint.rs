//! The norm of joint sparsity.

/// `Omega(a) = l1 ||a||_1 + l2 ||a||_2` of the codes `a` of all channels of an atom at a position.
/// The weights are not negative and add up to 1, so `Omega(a) >= ||a||_2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointNorm {
    /// Weight of the l1 norm.
    pub l1: f64,
    /// Weight of the Euclidean norm.
    pub l2: f64,
}

impl JointNorm {
    /// The norm.
    pub fn of(&self, values: impl Iterator<Item = f64>) -> f64 {
        let (sum, squares) = values.fold((0.0, 0.0), |(s, q), a| (s + a.abs(), q + a * a));
        self.l1 * sum + self.l2 * squares.sqrt()
    }

    /// The dual norm of correlations: the smallest `p` for which
    ///
    /// ```text
    /// || max(|c| - p l1, 0) ||_2 <= p l2
    /// ```
    ///
    /// Correlations of a sign that is not allowed are given as 0. At most `||c||_2`.
    pub fn dual(&self, sizes: &[f64]) -> f64 {
        let (sum, squares) = sizes.iter().fold((0.0, 0.0), |(s, q), c| (s + c, q + c * c));
        if squares == 0.0 {
            return 0.0;
        }
        if self.l2 == 0.0 {
            return sizes.iter().copied().fold(0.0, f64::max);
        }
        // Newton's method on a convex decreasing function, from below: `<c, c> / Omega(c)`.
        let mut p = squares / (self.l1 * sum + self.l2 * f64::sqrt(squares));
        for _ in 0..64 {
            let above = sizes.iter().map(|c| (c - p * self.l1).max(0.0));
            let (sum, squares) = above.fold((0.0, 0.0), |(s, q), c| (s + c, q + c * c));
            let norm = f64::sqrt(squares);
            let slope = self.l2 + if norm > 0.0 { self.l1 * sum / norm } else { 0.0 };
            let next = p + (norm - p * self.l2) / slope;
            if next <= p * (1.0 + f64::EPSILON) {
                break;
            }
            p = next;
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dual_norm_is_the_smallest_feasible_scale() {
        for (l1, l2) in [(0.0, 1.0), (0.3, 0.7), (0.95, 0.05), (1.0, 0.0)] {
            let norm = JointNorm { l1, l2 };
            for c in [&[3.0, 1.0, 0.2][..], &[2.0, 2.0], &[0.0, 5.0], &[1e-9], &[0.0]] {
                let p = norm.dual(c);
                let left = |p: f64| {
                    c.iter().map(|c| (c - p * l1).max(0.0).powi(2)).sum::<f64>().sqrt() - p * l2
                };
                assert!(
                    left(p * (1.0 + 1e-12)) <= 0.0 && left(p * (1.0 - 1e-9)) >= 0.0,
                    "{c:?} {p}"
                );
                assert!(p <= c.iter().map(|c| c * c).sum::<f64>().sqrt() * (1.0 + 1e-12));
            }
        }
    }
}
