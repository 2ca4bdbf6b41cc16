//! Orthogonal matching pursuit of one patch, down to a given residual.

/// Zero-mean atoms of unit norm, with their Gram matrix.
pub(super) struct Atoms {
    /// Length of an atom.
    pub(super) n: usize,
    /// Atom by atom.
    pub(super) data: Vec<f32>,
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
        let dot = |i: usize| {
            data[i / m * n..][..n].iter().zip(&data[i % m * n..][..n]).map(|(a, b)| a * b).sum()
        };
        let gram = (0..m * m).map(dot).collect();
        Self { n, data, gram }
    }

    /// Number of atoms.
    pub(super) fn len(&self) -> usize {
        self.data.len() / self.n
    }
}

/// Buffers and result of a pursuit.
pub(super) struct Pursuer {
    correlation: Vec<f32>,
    rest: Vec<f32>,
    /// Chosen atoms.
    pub(super) chosen: Vec<usize>,
    /// Their codes.
    pub(super) codes: Vec<f32>,
    /// The Cholesky factor of their Gram matrix, row by row.
    factor: Vec<f32>,
}

impl Pursuer {
    pub(super) fn new(atoms: &Atoms) -> Self {
        let zeros = vec![0.0; atoms.len()];
        Self {
            correlation: zeros.clone(),
            rest: zeros,
            chosen: Vec::new(),
            codes: Vec::new(),
            factor: Vec::new(),
        }
    }

    /// Codes a zero-mean patch with as few atoms as leave at most `allowed` of its energy; at most
    /// half as many as samples.
    pub(super) fn code(&mut self, patch: &[f32], atoms: &Atoms, allowed: f32) {
        let (m, energy) = (atoms.len(), patch.iter().map(|x| x * x).sum::<f32>());
        self.chosen.clear();
        self.codes.clear();
        self.factor.clear();
        if energy <= allowed {
            return;
        }
        for (c, atom) in self.correlation.iter_mut().zip(atoms.data.chunks_exact(atoms.n)) {
            *c = atom.iter().zip(patch).map(|(a, b)| a * b).sum();
        }
        self.rest.copy_from_slice(&self.correlation);
        while self.chosen.len() < atoms.n / 2 {
            let best = (0..m)
                .max_by(|&i, &j| self.rest[i].abs().total_cmp(&self.rest[j].abs()))
                .unwrap_or(0);
            if self.chosen.contains(&best) || !self.extend_factor(best, atoms) {
                break;
            }
            self.chosen.push(best);
            self.solve();
            self.rest.copy_from_slice(&self.correlation);
            for (&k, &code) in self.chosen.iter().zip(&self.codes) {
                self.rest
                    .iter_mut()
                    .zip(&atoms.gram[k * m..][..m])
                    .for_each(|(r, g)| *r -= code * g);
            }
            let coded: f32 =
                self.chosen.iter().zip(&self.codes).map(|(&k, c)| c * self.correlation[k]).sum();
            if energy - coded <= allowed {
                break;
            }
        }
    }

    /// Appends a row to the factor; false if the atom depends linearly on those chosen.
    fn extend_factor(&mut self, atom: usize, atoms: &Atoms) -> bool {
        let (m, start) = (atoms.len(), self.factor.len());
        let mut square = 1.0;
        for i in 0..self.chosen.len() {
            let row = i * (i + 1) / 2;
            let dot: f32 = (0..i).map(|j| self.factor[row + j] * self.factor[start + j]).sum();
            let entry = (atoms.gram[atom * m + self.chosen[i]] - dot) / self.factor[row + i];
            self.factor.push(entry);
            square -= entry * entry;
        }
        if square < 1e-4 {
            self.factor.truncate(start);
            return false;
        }
        self.factor.push(square.sqrt());
        true
    }

    /// The least-squares codes: two triangular systems.
    fn solve(&mut self) {
        let count = self.chosen.len();
        self.codes.clear();
        for i in 0..count {
            let row = i * (i + 1) / 2;
            let dot: f32 = (0..i).map(|j| self.factor[row + j] * self.codes[j]).sum();
            self.codes.push((self.correlation[self.chosen[i]] - dot) / self.factor[row + i]);
        }
        for i in (0..count).rev() {
            let below: f32 =
                (i + 1..count).map(|k| self.factor[k * (k + 1) / 2 + i] * self.codes[k]).sum();
            self.codes[i] = (self.codes[i] - below) / self.factor[i * (i + 1) / 2 + i];
        }
    }
}
