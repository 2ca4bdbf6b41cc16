//! A smooth layer, eliminated from the oracle by dense algebra.
//!
//! The best layer `B = (A^2 + mu L)^-1 A (y - M a)` leaves `1/2 <x, S x>` of the residual
//! `x = y - M a`, with `S = I - A (A^2 + mu L)^-1 A = C C^T`. So the problem without a layer, with
//! `C^T M` and `C^T y` in place of `M` and `y`, has the same solution and objective.

use crate::matrix::Domain;
use lobcod::Extent;

/// Pivots below this are rounding errors: `S` annihilates the weights `A` themselves.
const ZERO: f64 = 1e-12;

/// The matrix `C` of one channel.
pub(crate) struct LayerFactor {
    /// Lower triangle, row by row.
    rows: Vec<Vec<f64>>,
    /// Row of the domain of every sample.
    places: Vec<usize>,
}

impl LayerFactor {
    /// For the weights `A` of the samples of a channel, in the order a signal stores them.
    pub(crate) fn new(domain: &Domain, extent: Extent, weights: &[f64], mu: f64) -> Self {
        let count = weights.len();
        let mut system = vec![vec![0.0; 2 * count]; count];
        for (i, j) in neighbours(extent.padded()) {
            for (from, to) in [(i, j), (j, i)] {
                system[from][from] += mu;
                system[from][to] -= mu;
            }
        }
        for (i, a) in weights.iter().enumerate() {
            system[i][i] += a * a;
            system[i][count + i] = *a;
        }
        if weights.iter().any(|a| *a > 0.0) {
            eliminate(&mut system);
        }
        // S = I - A K^-1 A.
        let entry =
            |i: usize, j: usize| f64::from(u8::from(i == j)) - weights[i] * system[i][count + j];
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for i in 0..count {
            let mut row: Vec<f64> = Vec::new();
            let known = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for (j, above) in rows.iter().enumerate() {
                let rest = entry(i, j) - known(&row, above);
                row.push(if above[j] == 0.0 { 0.0 } else { rest / above[j] });
            }
            let rest = entry(i, i) - known(&row, &row);
            row.push(if rest < ZERO { 0.0 } else { rest.sqrt() });
            rows.push(row);
        }
        Self { rows, places: domain.signal_rows() }
    }

    /// Replaces the samples `x` of a channel by `C^T x`.
    pub(crate) fn apply(&self, channel: &mut [f64]) {
        let samples: Vec<f64> = self.places.iter().map(|&place| channel[place]).collect();
        for (j, &place) in self.places.iter().enumerate() {
            channel[place] = (j..samples.len()).map(|i| self.rows[i][j] * samples[i]).sum();
        }
    }
}

/// Pairs of neighbouring samples.
fn neighbours(size: [usize; 3]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let strides = [size[1] * size[2], size[2], 1];
    for i in 0..size.iter().product() {
        for axis in 0..3 {
            if i / strides[axis] % size[axis] + 1 < size[axis] {
                pairs.push((i, i + strides[axis]));
            }
        }
    }
    pairs
}

/// Gauss-Jordan elimination of a positive definite matrix with right-hand sides.
fn eliminate(system: &mut [Vec<f64>]) {
    for i in 0..system.len() {
        let scale = 1.0 / system[i][i];
        system[i].iter_mut().for_each(|x| *x *= scale);
        let pivot = system[i].clone();
        for (_, row) in system.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
}
