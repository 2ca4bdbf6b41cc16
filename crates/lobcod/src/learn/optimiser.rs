//! What a step rule remembers, and the steps it takes.

use super::step::Step;
use crate::checkpoint::Memory;
use crate::dictionary::energy;

/// A step rule at work on the numbers of a dictionary.
pub(super) struct Optimiser {
    step: Step,
    /// Numbers of an atom.
    atom_len: usize,
    /// Fading sum of gradients, or the last steps, by rule.
    first: Vec<f64>,
    /// Sums of squares, by rule.
    second: Vec<f64>,
    /// Steps since the rule began.
    steps: f64,
}

impl Optimiser {
    pub(super) fn new(step: Step, numbers: usize, atom_len: usize) -> Self {
        Self { step, atom_len, first: vec![0.0; numbers], second: vec![0.0; numbers], steps: 0.0 }
    }

    /// Gets ready for a pass (from 1): the paper's schedule starts its second rule from nothing.
    pub(super) fn begin(&mut self, pass: usize) {
        if matches!(self.step, Step::Paper { adam_passes, .. } if pass == adam_passes + 1) {
            *self = Self::new(self.step, self.first.len(), self.atom_len);
        }
    }

    /// Forgets what is known of an atom that was replaced.
    pub(super) fn forget(&mut self, atom: usize) {
        let range = atom * self.atom_len..(atom + 1) * self.atom_len;
        self.first[range.clone()].fill(0.0);
        self.second[range].fill(0.0);
    }

    /// Turns a gradient into what is to be taken off the dictionary, in place; `factor` scales the step size.
    pub(super) fn step(&mut self, pass: usize, factor: f64, gradient: &mut [f64]) {
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
            Step::SgdLiteral { size } => {
                let scale = factor * size * energy(gradient).sqrt();
                gradient.iter_mut().for_each(|g| *g *= scale);
            }
            Step::Momentum { size, momentum } => self.momentum(gradient, factor * size, momentum),
            Step::Adagrad { size, guard } => {
                let size = factor * size;
                for (g, s) in gradient.iter_mut().zip(&mut self.second) {
                    *s += *g * *g;
                    *g = size * *g / (s.sqrt() + guard);
                }
            }
            Step::Adadelta { size, memory, guard } => {
                let size = factor * size;
                for ((g, u), s) in gradient.iter_mut().zip(&mut self.first).zip(&mut self.second) {
                    *s = memory * *s + (1.0 - memory) * *g * *g;
                    let x = ((*u + guard) / (*s + guard)).sqrt() * *g;
                    *u = memory * *u + (1.0 - memory) * x * x;
                    *g = size * x;
                }
            }
            Step::Adam { size, momentum, memory, guard } => self.adam(gradient, factor * size, momentum, memory, guard),
        }
    }

    fn momentum(&mut self, gradient: &mut [f64], size: f64, momentum: f64) {
        for (g, v) in gradient.iter_mut().zip(&mut self.first) {
            *v = momentum * *v + size * *g;
            *g = *v;
        }
    }

    fn adam(&mut self, gradient: &mut [f64], size: f64, momentum: f64, memory: f64, guard: f64) {
        // Both averages began at zero; divided by what they have seen so far they are freed of it.
        let size = size / (1.0 - momentum.powf(self.steps));
        let freed = (1.0 / (1.0 - memory.powf(self.steps))).sqrt();
        for ((g, v), s) in gradient.iter_mut().zip(&mut self.first).zip(&mut self.second) {
            *v = momentum * *v + (1.0 - momentum) * *g;
            *s = memory * *s + (1.0 - memory) * *g * *g;
            *g = size * *v / (s.sqrt() * freed + guard);
        }
    }

    /// Adam with one average square, that of the norm of the whole gradient: a step is at most about `size` long in all.
    fn whole_adam(&mut self, gradient: &mut [f64], size: f64) {
        let Step::Adam { momentum, memory, guard, .. } = Step::ADAM else { unreachable!("it is that step") };
        let square = &mut self.second[0];
        *square = memory * *square + (1.0 - memory) * energy(gradient);
        let norm = (*square / (1.0 - memory.powf(self.steps))).sqrt();
        let size = size / ((1.0 - momentum.powf(self.steps)) * (norm + guard));
        for (g, v) in gradient.iter_mut().zip(&mut self.first) {
            *v = momentum * *v + (1.0 - momentum) * *g;
            *g = size * *v;
        }
    }

    pub(super) fn remember(&self) -> Memory {
        let named = [("first", &self.first), ("second", &self.second)];
        let mut memory: Memory = named.map(|(name, numbers)| (name.into(), numbers.clone())).into();
        memory.insert("steps".into(), vec![self.steps]);
        memory
    }

    pub(super) fn recall(&mut self, memory: &Memory) -> Option<()> {
        let (first, second) = (memory.get("first")?, memory.get("second")?);
        let &[steps] = &memory.get("steps")?[..] else { return None };
        if first.len() != self.first.len() || second.len() != self.second.len() {
            return None;
        }
        (self.first, self.second, self.steps) = (first.clone(), second.clone(), steps);
        Some(())
    }
}
