//! Orthogonal matching pursuit of one patch, down to a given residual.

use lobcod_simd::{Dispatch, Kernel, Level, Vector};

/// Rows of matrices are padded with zeros to a multiple of this length.
const LANES: usize = 16;
/// Squared distance of a unit atom from the span of those chosen below which it counts as one of
/// their linear combinations.
const LEAST_DISTANCE: f32 = 1e-4;

/// Zero-mean atoms of unit norm, with their Gram matrix.
pub(super) struct Atoms {
    /// Length of an atom.
    pub(super) n: usize,
    /// Atom by atom.
    pub(super) data: Vec<f32>,
    /// Length of the rows below.
    stride: usize,
    /// Row `i`: sample `i` of all atoms.
    samples: Vec<f32>,
    /// Row `k`: products of atom `k` with all atoms.
    gram: Vec<f32>,
}

impl Atoms {
    /// Constant atoms are dropped.
    pub(super) fn new(atoms: &[f32], n: usize) -> Self {
        let mut data = Vec::with_capacity(atoms.len());
        for atom in atoms.chunks_exact(n) {
            let mean = atom.iter().sum::<f32>() / n as f32;
            let norm = atom.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>().sqrt();
            if norm > 0.05 {
                data.extend(atom.iter().map(|x| (x - mean) / norm));
            }
        }
        let m = data.len() / n;
        let stride = m.next_multiple_of(LANES);
        let mut samples = vec![0.0; n * stride];
        for (k, atom) in data.chunks_exact(n).enumerate() {
            samples.iter_mut().skip(k).step_by(stride).zip(atom).for_each(|(x, d)| *x = *d);
        }
        let mut gram = vec![0.0; m * stride];
        for (row, atom) in gram.chunks_exact_mut(stride).zip(data.chunks_exact(n)) {
            add_rows(row, &samples, atom);
        }
        Self { n, data, stride, samples, gram }
    }

    /// Number of atoms.
    pub(super) fn len(&self) -> usize {
        self.data.len() / self.n
    }
}

/// Buffers and result of a pursuit.
pub(super) struct Pursuer {
    level: Level,
    /// Products of the residual with all atoms.
    rest: Vec<f32>,
    /// Chosen atoms.
    pub(super) chosen: Vec<usize>,
    /// Their codes.
    pub(super) codes: Vec<f32>,
    /// The chosen atoms, made orthonormal one after the other: products of each with all atoms.
    directions: Vec<f32>,
    /// Products of these with the patch.
    along: Vec<f32>,
}

impl Pursuer {
    pub(super) fn new(atoms: &Atoms) -> Self {
        Self {
            level: Level::detect(),
            rest: vec![0.0; atoms.stride],
            chosen: Vec::new(),
            codes: Vec::new(),
            directions: Vec::new(),
            along: Vec::new(),
        }
    }

    /// Codes a zero-mean patch with as few atoms as leave at most `allowed` of its energy; at most
    /// half as many as samples.
    pub(super) fn code(&mut self, patch: &[f32], atoms: &Atoms, allowed: f32) {
        f32::dispatch(self.level, Coding { pursuer: self, patch, atoms, allowed });
    }

    /// The codes, from the products along the directions: a triangular system.
    #[inline(always)]
    fn solve(&mut self, stride: usize) {
        let product = |k: usize, i: usize| self.directions[i * stride + self.chosen[k]];
        let count = self.chosen.len();
        self.codes.clear();
        self.codes.resize(count, 0.0);
        for i in (0..count).rev() {
            let later: f32 = (i + 1..count).map(|k| product(k, i) * self.codes[k]).sum();
            self.codes[i] = (self.along[i] - later) / product(i, i);
        }
    }
}

/// The pursuit of a patch.
struct Coding<'a> {
    pursuer: &'a mut Pursuer,
    patch: &'a [f32],
    atoms: &'a Atoms,
    allowed: f32,
}

impl Kernel<f32> for Coding<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = f32>>(self) {
        let Self { pursuer, patch, atoms, allowed } = self;
        let stride = atoms.stride;
        pursuer.chosen.clear();
        pursuer.directions.clear();
        pursuer.along.clear();
        let mut energy = patch.iter().map(|x| x * x).sum::<f32>();
        if energy > allowed {
            pursuer.rest.fill(0.0);
            add_rows(&mut pursuer.rest, &atoms.samples, patch);
        }
        while energy > allowed && pursuer.chosen.len() < atoms.n / 2 {
            let best = largest(&pursuer.rest);
            if pursuer.chosen.contains(&best) {
                break;
            }
            // The atom less its part in the span of the directions, normalised.
            let start = pursuer.directions.len();
            pursuer.directions.extend_from_slice(&atoms.gram[best * stride..][..stride]);
            let (before, direction) = pursuer.directions.split_at_mut(start);
            for other in before.chunks_exact(stride) {
                let part = other[best];
                direction.iter_mut().zip(other).for_each(|(x, o)| *x -= part * o);
            }
            let distance = direction[best];
            if distance < LEAST_DISTANCE {
                break;
            }
            let scale = 1.0 / distance.sqrt();
            let along = scale * pursuer.rest[best];
            for (rest, x) in pursuer.rest.iter_mut().zip(direction) {
                *x *= scale;
                *rest -= along * *x;
            }
            pursuer.chosen.push(best);
            pursuer.along.push(along);
            energy -= along * along;
        }
        pursuer.solve(stride);
    }
}

/// Adds the rows of a matrix, each times its factor.
#[inline(always)]
fn add_rows(sum: &mut [f32], rows: &[f32], factors: &[f32]) {
    for (row, factor) in rows.chunks_exact(sum.len()).zip(factors) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
    }
}

/// Place of the number of largest magnitude.
#[inline(always)]
fn largest(numbers: &[f32]) -> usize {
    let mut most = [0.0f32; LANES];
    for some in numbers.chunks_exact(LANES) {
        for (most, x) in most.iter_mut().zip(some) {
            *most = if x.abs() > *most { x.abs() } else { *most };
        }
    }
    let most = most.into_iter().fold(0.0, f32::max);
    numbers.iter().position(|x| x.abs() == most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 12;
    const M: usize = 21;

    fn random(state: &mut u32) -> f32 {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*state >> 8) as f32 / (1 << 24) as f32 - 0.5
    }

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
    }

    #[test]
    fn each_atom_correlates_most_and_codes_are_least_squares() {
        let mut state = 3;
        let given: Vec<f32> = (0..M * N).map(|_| random(&mut state)).collect();
        let atoms = Atoms::new(&given, N);
        let atom = |k: usize| &atoms.data[k * N..][..N];
        let mut pursuer = Pursuer::new(&atoms);
        for _ in 0..20 {
            let mut patch: Vec<f32> = (0..N).map(|_| random(&mut state)).collect();
            let mean = patch.iter().sum::<f32>() / N as f32;
            patch.iter_mut().for_each(|x| *x -= mean);
            let energy = dot(&patch, &patch) as f32;
            let mut before = patch.clone();
            for part in [1.1, 0.6, 0.4, 0.2, 0.1] {
                pursuer.code(&patch, &atoms, part * energy);
                let mut residual = patch.clone();
                for (&k, &code) in pursuer.chosen.iter().zip(&pursuer.codes) {
                    residual.iter_mut().zip(atom(k)).for_each(|(r, d)| *r -= code * d);
                }
                // Least squares: the residual is orthogonal to all chosen atoms.
                assert!(pursuer.chosen.iter().all(|&k| dot(&residual, atom(k)).abs() < 1e-5));
                let few = pursuer.chosen.len() == N / 2;
                assert!(few || dot(&residual, &residual) as f32 <= 1.001 * part * energy);
                assert_eq!(pursuer.chosen.is_empty(), part > 1.0);
                // Atoms chosen since the last residual begin with the one closest to it.
                if let Some(&next) = pursuer.chosen.get(chosen_before(&before, &atoms, &pursuer)) {
                    let most = (0..M).map(|k| dot(&before, atom(k)).abs()).fold(0.0, f64::max);
                    assert!(dot(&before, atom(next)).abs() > most - 1e-5);
                }
                before = residual;
            }
        }
    }

    /// How many of the first chosen atoms a residual is orthogonal to.
    fn chosen_before(residual: &[f32], atoms: &Atoms, pursuer: &Pursuer) -> usize {
        let orthogonal = |&&k: &&usize| dot(residual, &atoms.data[k * N..][..N]).abs() < 1e-5;
        pursuer.chosen.iter().take_while(orthogonal).count()
    }

    #[test]
    fn a_combination_of_two_atoms_is_found() {
        let mut state = 5;
        let given: Vec<f32> = (0..M * N).map(|_| random(&mut state)).collect();
        let atoms = Atoms::new(&given, N);
        let patch: Vec<f32> =
            (0..N).map(|i| 3.0 * atoms.data[2 * N + i] - 0.2 * atoms.data[9 * N + i]).collect();
        let mut pursuer = Pursuer::new(&atoms);
        pursuer.code(&patch, &atoms, 1e-6);
        let code = |k: usize| {
            let place = pursuer.chosen.iter().position(|&chosen| chosen == k);
            place.map_or(0.0, |i| pursuer.codes[i])
        };
        assert!((code(2) - 3.0).abs() < 1e-3 && (code(9) + 0.2).abs() < 1e-3);
    }
}
