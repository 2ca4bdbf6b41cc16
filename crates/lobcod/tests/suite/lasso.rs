//! LARS and coordinate descent agree, and both satisfy the optimality conditions, recomputed here
//! in f64.

use lobcod::Real;
use lobcod::lasso::Lasso;
use lobcod::pursuit::Local;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

struct Case<T> {
    n: usize,
    atoms: Vec<T>,
    patch: Vec<f64>,
    thresholds: Vec<T>,
    nonnegative: bool,
}

impl<T: Real> Case<T> {
    /// Random atoms; some are copies, opposites or near copies of others.
    fn random(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n, m) = (rng.random_range(1..20), rng.random_range(1..40usize));
        let mut atoms: Vec<f64> = Vec::new();
        for k in 0..m {
            let kind = if k == 0 { 0 } else { rng.random_range(0..8) };
            let source = if k == 0 { 0 } else { rng.random_range(0..k) };
            for p in 0..n {
                let fresh = rng.random_range(-1.0..1.0);
                atoms.push(match kind {
                    1 => atoms[source * n + p],
                    2 => -atoms[source * n + p],
                    3 => atoms[source * n + p] + 1e-3 * fresh,
                    _ => fresh,
                });
            }
        }
        for atom in atoms.chunks_exact_mut(n) {
            let norm = atom.iter().map(|x| x * x).sum::<f64>().sqrt();
            atom.iter_mut().for_each(|x| *x /= norm);
        }
        let weighted = rng.random_range(0..3) == 0;
        let scale = rng.random_range(0.02..1.5);
        let thresholds = (0..m)
            .map(|_| T::from_f64(scale * if weighted { rng.random_range(0.5..2.0) } else { 1.0 }))
            .collect();
        let patch = (0..n).map(|_| rng.random_range(-2.0..2.0)).collect();
        Self {
            n,
            atoms: atoms.into_iter().map(T::from_f64).collect(),
            patch,
            thresholds,
            nonnegative: rng.random_range(0..4) == 0,
        }
    }

    fn atom(&self, k: usize) -> Vec<f64> {
        self.atoms[k * self.n..(k + 1) * self.n].iter().map(|x| x.to_f64()).collect()
    }

    fn solve(&self, local: Local, max_nonzeros: Option<usize>) -> Vec<(usize, T)> {
        let m = self.thresholds.len();
        let dot = |a: &[f64], b: &[f64]| T::from_f64(a.iter().zip(b).map(|(x, y)| x * y).sum());
        let gram: Vec<T> = (0..m * m).map(|i| dot(&self.atom(i / m), &self.atom(i % m))).collect();
        let correlation: Vec<T> = (0..m).map(|k| dot(&self.atom(k), &self.patch)).collect();
        Lasso {
            gram: &gram,
            correlation: &correlation,
            thresholds: &self.thresholds,
            nonnegative: self.nonnegative,
            max_nonzeros,
        }
        .solve(local)
    }

    fn residual(&self, codes: &[(usize, T)]) -> Vec<f64> {
        let mut r = self.patch.clone();
        for &(k, value) in codes {
            r.iter_mut().zip(self.atom(k)).for_each(|(r, d)| *r -= value.to_f64() * d);
        }
        r
    }

    fn objective(&self, codes: &[(usize, T)]) -> f64 {
        let data: f64 = self.residual(codes).iter().map(|x| 0.5 * x * x).sum();
        data + codes
            .iter()
            .map(|&(k, a)| self.thresholds[k].to_f64() * a.to_f64().abs())
            .sum::<f64>()
    }

    /// Largest violation of the optimality conditions, relative to the threshold.
    fn violation(&self, codes: &[(usize, T)]) -> f64 {
        let r = self.residual(codes);
        let mut worst = 0.0f64;
        for k in 0..self.thresholds.len() {
            let c: f64 = self.atom(k).iter().zip(&r).map(|(a, b)| a * b).sum();
            let threshold = self.thresholds[k].to_f64();
            let off = match codes.iter().find(|(atom, _)| *atom == k) {
                Some(&(_, a)) => (c - threshold * a.to_f64().signum()).abs(),
                None if self.nonnegative => c - threshold,
                None => c.abs() - threshold,
            };
            worst = worst.max(off / threshold);
        }
        worst
    }
}

fn agree<T: Real>(cases: u64, tolerance: f64) {
    for seed in 0..cases {
        let case = Case::<T>::random(seed);
        let [by_coordinates, by_lars] =
            [Local::Coordinate, Local::Lars].map(|local| case.solve(local, None));
        for (name, codes) in [("coordinate", &by_coordinates), ("lars", &by_lars)] {
            let violation = case.violation(codes);
            assert!(
                violation <= 1e3 * tolerance,
                "seed {seed}: {name} violates the optimality conditions by {violation:e}"
            );
            assert!(
                !case.nonnegative || codes.iter().all(|(_, a)| *a > T::ZERO),
                "seed {seed}: {name} has a negative code"
            );
        }
        let (a, b) = (case.objective(&by_coordinates), case.objective(&by_lars));
        assert!((a - b).abs() <= tolerance * a.max(1e-3), "seed {seed}: objectives {a} and {b}");
    }
}

#[test]
fn both_solvers_reach_the_optimum_in_f64() {
    agree::<f64>(4000, 1e-9);
}

#[test]
fn both_solvers_reach_the_optimum_in_f32() {
    agree::<f32>(4000, 1e-5);
}

#[test]
fn a_cap_is_respected_and_a_loose_cap_changes_nothing() {
    for seed in 0..2000 {
        let case = Case::<f64>::random(seed);
        for local in [Local::Coordinate, Local::Lars] {
            let free = case.solve(local, None);
            for cap in [1, 2, 3] {
                let capped = case.solve(local, Some(cap));
                assert!(
                    capped.len() <= cap,
                    "seed {seed}: {} codes under a cap of {cap}",
                    capped.len()
                );
                let empty = case.objective(&[]);
                assert!(
                    case.objective(&capped) <= empty * (1.0 + 1e-12),
                    "seed {seed}: worse than no codes"
                );
            }
            let wide = case.solve(local, Some(case.thresholds.len()));
            let (a, b) = (case.objective(&free), case.objective(&wide));
            assert!(
                (a - b).abs() <= 1e-8 * a.max(1e-3),
                "seed {seed}: a wide cap changed {a} to {b}"
            );
        }
    }
}

/// Found by fuzzing: with a cap, NaN gains caused a panic.
#[test]
fn infinite_correlations_end_under_a_cap() {
    for correlation in
        [[f64::INFINITY, 2.0, 3.0], [f64::NAN, f64::INFINITY, 1.0], [f64::MAX, f64::MAX, 1.0]]
    {
        for local in [Local::Coordinate, Local::Lars] {
            let gram = [1.0, 1.0, 0.0, 1.0, 1.0, 0.5, 0.0, 0.5, 1.0];
            let thresholds = [0.1, 0.1, 0.1];
            let lasso = Lasso {
                gram: &gram,
                correlation: &correlation,
                thresholds: &thresholds,
                nonnegative: false,
                max_nonzeros: Some(1),
            };
            assert!(lasso.solve(local).len() <= 1);
        }
    }
}
