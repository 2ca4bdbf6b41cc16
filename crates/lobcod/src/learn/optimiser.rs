//! State and steps of a step rule.

use super::step::Step;
use crate::checkpoint::LearnerState;
use crate::dictionary::energy;
use crate::simd::{Dispatch, Kernel, Level, Vector};

/// A step rule with its state for a dictionary.
pub struct Optimiser {
    step: Step,
    /// Length of an atom.
    atom_len: usize,
    /// Decaying sum of gradients, or the last steps, depending on the rule.
    first: Vec<f64>,
    /// Sums of squares, depending on the rule.
    second: Vec<f64>,
    /// Decaying average of the squared norm of the whole gradient.
    whole: f64,
    /// Steps since the rule began.
    steps: f64,
}

impl Optimiser {
    pub fn new(step: Step, numbers: usize, atom_len: usize) -> Self {
        Self {
            step,
            atom_len,
            first: vec![0.0; numbers],
            second: vec![0.0; numbers],
            whole: 0.0,
            steps: 0.0,
        }
    }

    /// Prepares a pass (from 1): the second rule of the paper starts with fresh state.
    pub fn begin(&mut self, pass: usize) {
        if matches!(self.step, Step::Paper { adam_passes, .. } if pass == adam_passes + 1) {
            *self = Self::new(self.step, self.first.len(), self.atom_len);
        }
    }

    /// Resets the state of an atom that was replaced.
    pub fn forget(&mut self, atom: usize) {
        let range = atom * self.atom_len..(atom + 1) * self.atom_len;
        self.first[range.clone()].fill(0.0);
        self.second[range].fill(0.0);
    }

    /// Turns a gradient into the step to subtract, in place; `factor` scales the step size.
    pub fn step(&mut self, pass: usize, factor: f64, gradient: &mut [f64]) {
        self.steps += 1.0;
        match self.step {
            Step::Paper { adam_passes, size, momentum_size, momentum } => {
                if pass <= adam_passes {
                    self.whole_adam(gradient, factor * size);
                } else {
                    self.momentum(gradient, factor * momentum_size, momentum);
                }
            }
            Step::Sgd { size } => {
                for atom in gradient.chunks_exact_mut(self.atom_len) {
                    let norm = energy(atom).sqrt();
                    if norm > 0.0 {
                        let scale = factor * size / norm;
                        atom.iter_mut().for_each(|g| *g *= scale);
                    }
                }
            }
            Step::Momentum { size, momentum } => self.momentum(gradient, factor * size, momentum),
            Step::Adagrad { size, guard } => {
                let size = factor * size;
                for (g, s) in gradient.iter_mut().zip(&mut self.second) {
                    *s += *g * *g;
                    *g = size * *g / (s.sqrt() + guard);
                }
            }
            Step::Adadelta { size, forgetting, guard } => {
                let size = factor * size;
                for ((g, u), s) in gradient.iter_mut().zip(&mut self.first).zip(&mut self.second) {
                    *s = forgetting * *s + (1.0 - forgetting) * *g * *g;
                    let x = ((*u + guard) / (*s + guard)).sqrt() * *g;
                    *u = forgetting * *u + (1.0 - forgetting) * x * x;
                    *g = size * x;
                }
            }
            Step::Adam { size, momentum, forgetting, guard } => {
                self.adam(gradient, factor * size, momentum, forgetting, guard)
            }
        }
    }

    fn momentum(&mut self, gradient: &mut [f64], size: f64, momentum: f64) {
        for (g, v) in gradient.iter_mut().zip(&mut self.first) {
            *v = momentum * *v + size * *g;
            *g = *v;
        }
    }

    fn adam(
        &mut self,
        gradient: &mut [f64],
        size: f64,
        momentum: f64,
        forgetting: f64,
        guard: f64,
    ) {
        // Corrects for the zero start of both averages.
        let size = size / (1.0 - momentum.powf(self.steps));
        let freed = (1.0 / (1.0 - forgetting.powf(self.steps))).sqrt();
        for ((g, v), s) in gradient.iter_mut().zip(&mut self.first).zip(&mut self.second) {
            *v = momentum * *v + (1.0 - momentum) * *g;
            *s = forgetting * *s + (1.0 - forgetting) * *g * *g;
            *g = size * *v / (s.sqrt() * freed + guard);
        }
    }

    /// Adam with a single average square, that of the whole gradient: a step has a length of at
    /// most about `size`.
    fn whole_adam(&mut self, gradient: &mut [f64], size: f64) {
        f64::dispatch(Level::detect(), WholeAdam { optimiser: self, gradient, size });
    }

    pub fn remember(&self) -> LearnerState {
        let named = [("first", &self.first), ("second", &self.second)];
        let mut state: LearnerState =
            named.map(|(name, numbers)| (name.into(), numbers.clone())).into();
        state.insert("steps".into(), vec![self.steps, self.whole]);
        state
    }

    pub fn recall(&mut self, state: &LearnerState) -> Option<()> {
        let (first, second) = (state.get("first")?, state.get("second")?);
        let &[steps, whole] = &state.get("steps")?[..] else { return None };
        if first.len() != self.first.len() || second.len() != self.second.len() {
            return None;
        }
        *self = Self { first: first.clone(), second: second.clone(), whole, steps, ..*self };
        Some(())
    }
}

/// The step of the paper, compiled for the widest vectors.
struct WholeAdam<'a> {
    optimiser: &'a mut Optimiser,
    gradient: &'a mut [f64],
    size: f64,
}

impl Kernel<f64> for WholeAdam<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = f64>>(self) {
        let Step::Adam { momentum, forgetting, guard, .. } = Step::ADAM else {
            unreachable!("always the step of the paper")
        };
        let Optimiser { first, whole, steps, .. } = self.optimiser;
        *whole = forgetting * *whole + (1.0 - forgetting) * energy(self.gradient);
        let norm = (*whole / (1.0 - forgetting.powf(*steps))).sqrt();
        let size = self.size / ((1.0 - momentum.powf(*steps)) * (norm + guard));
        for (g, v) in self.gradient.iter_mut().zip(first) {
            *v = momentum * *v + (1.0 - momentum) * *g;
            *g = size * *v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of two atoms with two values each, for the gradient (3, 4 | 0, -2) and then half
    /// of it.
    fn two_steps(step: Step, pass: usize) -> [[f64; 4]; 2] {
        let mut optimiser = Optimiser::new(step, 4, 2);
        optimiser.begin(pass);
        [1.0, 0.5].map(|scale| {
            let mut gradient = [3.0, 4.0, 0.0, -2.0].map(|g| g * scale);
            optimiser.step(pass, 1.0, &mut gradient);
            gradient
        })
    }

    fn near(step: Step, pass: usize, wanted: [[f64; 4]; 2]) {
        let got = two_steps(step, pass);
        let off = got
            .iter()
            .flatten()
            .zip(wanted.iter().flatten())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(off < 1e-8, "{step}: {got:?} instead of {wanted:?}");
    }

    #[test]
    fn sgd_moves_each_atom_by_a_fraction_of_its_norm() {
        // Unit gradients (0.6, 0.8) and (0, -1), whatever their length.
        let step = [0.06, 0.08, 0.0, -0.1];
        near(Step::Sgd { size: 0.1 }, 1, [step, step]);
    }

    #[test]
    fn momentum_keeps_a_part_of_the_last_step() {
        // v1 = 0.1 g; v2 = 0.8 v1 + 0.1 g / 2 = 0.13 g.
        near(
            Step::Momentum { size: 0.1, momentum: 0.8 },
            1,
            [[0.3, 0.4, 0.0, -0.2], [0.39, 0.52, 0.0, -0.26]],
        );
    }

    #[test]
    fn adagrad_divides_by_the_root_of_all_squares() {
        // s1 = g^2: every step is 0.1 sign(g). s2 = 1.25 g^2: 0.1 (g / 2) / (|g| sqrt(1.25)) =
        // 0.0447213595 sign(g).
        let later = 0.044_721_359_55;
        near(
            Step::Adagrad { size: 0.1, guard: 1e-12 },
            1,
            [[0.1, 0.1, 0.0, -0.1], [later, later, 0.0, -later]],
        );
    }

    #[test]
    fn adadelta_steps_in_units_of_its_steps() {
        // Forgetting 0.5, guard 1. g = 3: s = 4.5, x = sqrt(1 / 5.5) 3 = 1.2792042981, u
        // = x^2 / 2 = 0.8181818182. Then g = 1.5: s = 2.25 + 1.125 = 3.375, x =
        // sqrt(1.8181818182 / 4.375) 1.5 = 0.9669875568. g = 4: s = 8, x = 4 / 3, u = 8 /
        // 9; then g = 2: s = 6, x = sqrt((17 / 9) / 7) 2 = 1.0389249633. g = -2: s = 2, x =
        // -2 / sqrt(3), u = 2 / 3; then g = -1: s = 1.5, x = -sqrt((5 / 3) / 2.5) = -0.8164965809.
        let first = [1.279_204_298_133_7, 4.0 / 3.0, 0.0, -1.154_700_538_379_3];
        let second = [0.966_987_556_830_5, 1.038_924_963_298_6, 0.0, -0.816_496_580_927_7];
        near(Step::Adadelta { size: 1.0, forgetting: 0.5, guard: 1.0 }, 1, [first, second]);
    }

    #[test]
    fn adam_corrects_the_bias_of_its_averages() {
        // momentum 0.5, forgetting 0.75. After one step both averages are g and g^2: 0.1 sign(g).
        // Then v = 0.25 g + 0.25 g = 0.5 g, freed 0.5 g / 0.75 = 2/3 g; s = 0.1875 g^2 + 0.0625 g^2
        // = 0.25 g^2, freed 0.25 / 0.4375 g^2 = 4/7 g^2: 0.1 (2/3) / sqrt(4/7) =
        // 0.0881917104 sign(g).
        let later = 0.088_191_710_368_8;
        let step = Step::Adam { size: 0.1, momentum: 0.5, forgetting: 0.75, guard: 1e-12 };
        near(step, 1, [[0.1, 0.1, 0.0, -0.1], [later, later, 0.0, -later]]);
    }

    #[test]
    fn the_papers_schedule_is_adam_of_the_norm_then_momentum() {
        let step = Step::Paper { adam_passes: 30, size: 0.1, momentum_size: 0.01, momentum: 0.8 };
        // First step: freed averages g and |g|^2 = 29, so 0.1 g / sqrt(29).
        // Then v = 0.9 * 0.1 g + 0.1 * 0.5 g = 0.14 g, freed 0.14 / 0.19 g; s = 0.999 * 0.029 +
        // 0.001 * 7.25 = 0.036221, freed 0.036221 / 0.001999 = 18.1195597799: 0.1 *
        // 0.7368421053 g / 4.2567075986 = 0.0173101413 g, the guard of 1e-8 aside.
        let g = [3.0, 4.0, 0.0, -2.0];
        near(step, 30, [g.map(|g| 0.1 * g / 29f64.sqrt()), g.map(|g| 0.017_310_141_327 * g)]);
        // Momentum from pass 31 on: 0.01 g, then 0.8 * 0.01 g + 0.005 g.
        near(step, 31, [g.map(|g| 0.01 * g), g.map(|g| 0.013 * g)]);
        // Switching rules discards Adam's averages.
        let mut optimiser = Optimiser::new(step, 4, 2);
        optimiser.step(30, 1.0, &mut g.clone());
        optimiser.begin(31);
        let mut gradient = g;
        optimiser.step(31, 0.5, &mut gradient);
        assert_eq!(gradient, g.map(|g| 0.005 * g));
    }

    #[test]
    fn a_replaced_atom_starts_with_fresh_state() {
        let mut optimiser = Optimiser::new(Step::Momentum { size: 1.0, momentum: 0.5 }, 4, 2);
        optimiser.step(1, 1.0, &mut [8.0; 4]);
        optimiser.forget(1);
        let mut gradient = [0.0; 4];
        optimiser.step(1, 1.0, &mut gradient);
        assert_eq!(gradient, [4.0, 4.0, 0.0, 0.0]);
        // The average square of the whole gradient does not belong to any atom.
        let [plain, replaced] = [false, true].map(|replaced| {
            let mut optimiser = Optimiser::new(Step::PAPER, 4, 2);
            optimiser.step(1, 1.0, &mut [0.0, 0.0, 3.0, 4.0]);
            if replaced {
                optimiser.forget(0);
            }
            let mut gradient = [1.0; 4];
            optimiser.step(1, 1.0, &mut gradient);
            gradient
        });
        assert_eq!(plain, replaced);
    }
}
