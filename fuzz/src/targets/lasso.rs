//! The LASSO of one needle with atoms that are equal, zero, tiny, huge, NaN or infinite.

use crate::bytes::Bytes;
use lobcod::Real;
use lobcod::lasso::Lasso;
use lobcod::pursuit::Local;

/// Input: sizes, atoms, a patch, thresholds.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let (n, m) = (1 + bytes.below(8), 1 + bytes.below(20));
    let mut atoms: Vec<Vec<f64>> = Vec::new();
    for k in 0..m {
        let source = if k > 0 { bytes.below(k) } else { 0 };
        atoms.push(match bytes.below(6) {
            1 if k > 0 => atoms[source].clone(),
            2 if k > 0 => atoms[source].iter().map(|x| -x).collect(),
            3 if k > 0 => atoms[source].iter().map(|x| x * (1.0 + 1e-7)).collect(),
            4 => vec![0.0; n],
            _ => (0..n).map(|_| bytes.number()).collect(),
        });
    }
    // Half of the cases have unit-norm atoms, like dictionaries.
    if bytes.byte().is_multiple_of(2) {
        for atom in &mut atoms {
            let norm = atom.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 0.0 && norm.is_finite() {
                atom.iter_mut().for_each(|x| *x /= norm);
            }
        }
    }
    let patch: Vec<f64> = (0..n).map(|_| bytes.number()).collect();
    let thresholds: Vec<f64> = (0..m).map(|_| bytes.number().abs()).collect();
    let cap = [None, Some(1), Some(3)][bytes.below(3)];
    let nonnegative = bytes.byte().is_multiple_of(2);
    let case = Case { atoms, patch, thresholds, cap, nonnegative };
    for local in [Local::Coordinate, Local::Lars] {
        case.solve::<f32>(local);
        case.solve::<f64>(local);
    }
}

struct Case {
    atoms: Vec<Vec<f64>>,
    patch: Vec<f64>,
    thresholds: Vec<f64>,
    cap: Option<usize>,
    nonnegative: bool,
}

impl Case {
    /// Solves, and checks properties of the answer, including termination.
    fn solve<T: Real>(&self, local: Local) {
        let m = self.atoms.len();
        let dot = |a: &[f64], b: &[f64]| {
            a.iter()
                .zip(b)
                .map(|(x, y)| T::from_f64(*x).to_f64() * T::from_f64(*y).to_f64())
                .sum::<f64>()
        };
        let gram: Vec<T> =
            (0..m * m).map(|i| T::from_f64(dot(&self.atoms[i / m], &self.atoms[i % m]))).collect();
        let correlation: Vec<T> =
            self.atoms.iter().map(|atom| T::from_f64(dot(atom, &self.patch))).collect();
        let thresholds: Vec<T> = self.thresholds.iter().map(|t| T::from_f64(*t)).collect();
        let lasso = Lasso {
            gram: &gram,
            correlation: &correlation,
            thresholds: &thresholds,
            nonnegative: self.nonnegative,
            max_nonzeros: self.cap,
        };
        let codes = lasso.solve(local);
        assert!(
            codes.len() <= self.cap.unwrap_or(m),
            "{} codes under a cap of {:?}",
            codes.len(),
            self.cap
        );
        let mut atoms: Vec<usize> = codes.iter().map(|(k, _)| *k).collect();
        atoms.sort_unstable();
        assert!(
            atoms.windows(2).all(|w| w[0] != w[1]) && atoms.iter().all(|k| *k < m),
            "codes {codes:?} of {m} atoms"
        );
        assert!(
            !self.nonnegative || !codes.iter().any(|(_, a)| *a < T::ZERO),
            "a negative code: {codes:?}"
        );
        let plain = |x: f64| x == 0.0 || (1e-3..1e3).contains(&x.abs());
        let all = self.atoms.iter().flatten().chain(&self.patch).all(|x| plain(*x));
        if all && self.thresholds.iter().all(|t| (1e-3..1e3).contains(t)) {
            self.no_worse_than_nothing(&codes, &format!("{local:?} of {} bytes", size_of::<T>()));
        }
    }

    fn no_worse_than_nothing<T: Real>(&self, codes: &[(usize, T)], who: &str) {
        let mut rest = self.patch.clone();
        for (k, a) in codes {
            assert!(a.is_finite(), "{who}: a code is NaN or infinite: {codes:?}");
            rest.iter_mut().zip(&self.atoms[*k]).for_each(|(r, d)| *r -= a.to_f64() * d);
        }
        let data = |r: &[f64]| 0.5 * r.iter().map(|x| x * x).sum::<f64>();
        let found = data(&rest)
            + codes.iter().map(|(k, a)| self.thresholds[*k] * a.to_f64().abs()).sum::<f64>();
        let nothing = data(&self.patch);
        assert!(
            found <= nothing * (1.0 + 1e-3) + 1e-9,
            "{who}: {found:e}, but {nothing:e} without codes: {codes:?}"
        );
    }
}
