//! Online learning by projected stochastic gradients in the spatial domain.

use crate::geometry::Target;
use lobcod::engine::CpuEngine;
use lobcod::{Border, Dictionary, Needles, Observed, Penalty, PursuitParams, Result};

/// Online convolutional dictionary learning by stochastic gradients, spatial sparse-matrix variant
/// (Liu, Garcia-Cardona, Wohlberg, Yin 2018): for every image the codes with the current
/// dictionary, then one step
///
/// ```text
/// D <- Proj( D - size * X^T (X D - Y) ),   size = gain / (delay + t),   Proj onto { |d_k| <= 1 }
/// ```
///
/// `X` is the sparse matrix of the codes: the step costs `n` multiply-adds per non-zero code, and
/// borders need no Fourier transform. Atoms may be shorter than 1; the pursuit, which needs unit
/// atoms, uses their lengths as penalty weights: `|x| = |a| / |d|`.
#[derive(Clone, Debug)]
pub struct SpatialSgd {
    /// Weight of the l1 norm.
    pub penalty: f64,
    /// Border condition; periodic is an error.
    pub border: Border,
    /// `gain` of the step size; suitable for signals of range 1.
    pub gain: f64,
    /// `delay` of the step size.
    pub delay: f64,
    /// Relative duality gap of the codes.
    pub tolerance: f64,
    /// Worker threads of the pursuit; 0 means all cores.
    pub threads: usize,
    /// Unit atoms.
    directions: Dictionary<f64>,
    /// Their lengths, at most 1.
    lengths: Vec<f64>,
    seen: usize,
}

impl SpatialSgd {
    /// Starts from this dictionary: free border, step size 10 / (5 + t), codes to a gap of 1e-3.
    pub fn new(penalty: f64, first: &Dictionary<f64>) -> Self {
        Self {
            penalty,
            border: Border::Free,
            gain: 10.0,
            delay: 5.0,
            tolerance: 1e-3,
            threads: 0,
            directions: first.clone(),
            lengths: vec![1.0; first.len()],
            seen: 0,
        }
    }

    /// The current atoms, scaled to unit norm.
    pub fn dictionary(&self) -> &Dictionary<f64> {
        &self.directions
    }

    /// Learns from one image; returns the objective of its codes before the step.
    pub fn step(&mut self, image: &Observed<f64>) -> Result<f64> {
        let params = PursuitParams::new(Penalty::Absolute(self.penalty)).with(|p| {
            p.border = self.border;
            p.tolerance = self.tolerance;
            p.atom_weights = Some(self.lengths.iter().map(|l| 1.0 / l).collect());
        });
        let answer = params.check()?.run(
            &CpuEngine::new(self.threads)?,
            std::slice::from_ref(image),
            &self.directions,
            &mut (),
        )?;
        self.seen += 1;
        let size = self.gain / (self.delay + self.seen as f64);
        let gradient = gradient(image, &answer.needles[0], &self.directions)?;
        let n = self.directions.atom_len();
        let mut atoms = vec![0.0; gradient.len()];
        for k in 0..self.directions.len() {
            // The gradient refers to the codes `a = |d| x` of unit atoms; for those of the atoms
            // themselves it is 1 / |d| as large.
            let length = self.lengths[k];
            let own = k * n..(k + 1) * n;
            let moved: Vec<f64> = self
                .directions
                .atom(k)
                .iter()
                .zip(&gradient[own.clone()])
                .map(|(d, g)| length * d - size * g / length)
                .collect();
            let norm = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 0.0 && norm.is_finite() {
                self.lengths[k] = norm.min(1.0);
                atoms[own].copy_from_slice(&moved);
            } else {
                atoms[own].copy_from_slice(self.directions.atom(k));
            }
        }
        self.directions = Dictionary::new(self.directions.extent(), 1, atoms)?;
        Ok(answer.report.total.objective)
    }
}

/// Gradient of the data term in the atoms, with codes fixed: `-sum_i a_ik P_i A^2 (Y - X)` for
/// every atom `k`.
pub(crate) fn gradient(
    image: &Observed<f64>,
    needles: &Needles<f64>,
    dictionary: &Dictionary<f64>,
) -> Result<Vec<f64>> {
    let target = Target::new(image, needles.border(), dictionary)?;
    let n = dictionary.atom_len();
    let mut residual = target.samples.clone();
    for code in needles.codes() {
        let atom = dictionary.atom(code.atom as usize);
        let position = target.geometry.number(code.position);
        target.geometry.covered(position, |i, sample| residual[sample] -= code.value * atom[i]);
    }
    residual.iter_mut().zip(&target.weights).for_each(|(r, w)| *r *= w);
    let mut gradient = vec![0.0; dictionary.data().len()];
    for code in needles.codes() {
        let own = code.atom as usize * n;
        let position = target.geometry.number(code.position);
        target
            .geometry
            .covered(position, |i, sample| gradient[own + i] -= code.value * residual[sample]);
    }
    Ok(gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::{Code, Extent, Signal};

    #[test]
    fn the_gradient_is_that_of_the_data_term() {
        let extent = Extent::new(&[7, 9]).unwrap();
        let samples = (0..63).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
        let image: Observed<f64> = Signal::from_planar(extent, 1, samples).unwrap().into();
        let dictionary = Dictionary::random(Extent::new(&[3, 4]).unwrap(), 1, 3, 0).unwrap();
        let place = |i: i32| Code {
            position: [0, i % 9 - 2, i % 12 - 3],
            atom: i as u32 % 3,
            channel: 0,
            value: f64::from(i % 5) - 1.5,
        };
        let needles = Needles::new(extent, 1, Border::Free, (0..14).map(place).collect());
        let cost = |data: &[f64]| {
            let target = Target::new(&image, Border::Free, &dictionary).unwrap();
            let mut synthesis = vec![0.0; 63];
            for code in needles.codes() {
                let position = target.geometry.number(code.position);
                target.geometry.covered(position, |i, s| {
                    synthesis[s] += code.value * data[code.atom as usize * 12 + i]
                });
            }
            target.data_term(&synthesis)
        };
        let found = gradient(&image, &needles, &dictionary).unwrap();
        for i in 0..36 {
            let moved = |by: f64| {
                let mut data = dictionary.data().to_vec();
                data[i] += by;
                cost(&data)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (slope - found[i]).abs() < 1e-6 * (1.0 + slope.abs()),
                "number {i}: {slope} and {}",
                found[i]
            );
        }
    }
}
