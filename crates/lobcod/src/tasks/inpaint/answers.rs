//! The answers that are averaged: dictionaries, base layers, given and learnt atoms.

use super::background::Background;
use super::blend::{self, Judged};
use super::member::{Member, Start};
use super::pace::Pace;
use super::params::InpaintParams;
use super::report::AnswerReport;
use super::scene::{Scene, Use};
use super::specific;
use super::turned::turned;
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;

/// Answers found so far.
pub(super) struct Answers<T> {
    pictures: Vec<Signal<T>>,
    errors: Vec<Vec<f64>>,
    /// What there is to tell of each.
    pub(super) reports: Vec<AnswerReport>,
    /// Atoms of those that were learnt.
    learnt: Vec<Option<Dictionary<T>>>,
}

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self { pictures: Vec::new(), errors: Vec::new(), reports: Vec::new(), learnt: Vec::new() }
    }
}

impl<T: Real> Answers<T> {
    /// Adds the answers of one dictionary: for every window of the base layer, its copies and what is learnt from it.
    pub(super) fn add(
        &mut self,
        params: &InpaintParams,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        (number, dictionary): (usize, &Dictionary<T>),
        pace: &mut Pace,
    ) -> Result<()> {
        for &window in &params.windows {
            // Whatever happens there is one answer.
            if pace.is_over() && !self.pictures.is_empty() {
                return Ok(());
            }
            let size = scaled(dictionary.extent(), window);
            let background = Background::find(engine, scene, dictionary, size, pace)?;
            let (floor, trust) = (background.best_penalty(), background.trust(scene));
            let copies = (0..params.variants).map(|variant| (variant, false, turned(dictionary, variant)));
            let mut atoms: Vec<(usize, bool, Dictionary<T>)> = copies.collect();
            if params.learn && !pace.is_over() {
                let learnt = specific::learn(engine, scene, dictionary, &background.base, pace)?;
                atoms.push((0, true, learnt));
            }
            for (variant, learnt, dictionary) in atoms {
                if pace.is_over() && !self.pictures.is_empty() {
                    return Ok(());
                }
                let start = Start { dictionary: &dictionary, base: &background.base, window: size, trust, floor };
                let Member { picture, errors, penalty, path, nonzeros } = Member::find(params, engine, scene, &start, pace)?;
                let path = background.path.iter().copied().chain(path).collect();
                let report = AnswerReport {
                    dictionary: Some(number),
                    variant,
                    window,
                    trust,
                    learnt,
                    weight: 0.0,
                    penalty,
                    nonzeros,
                    path,
                };
                self.push(report, picture, errors, learnt.then_some(dictionary));
            }
        }
        Ok(())
    }

    /// Adds the thin plate itself, where held-out samples can tell what it is worth.
    pub(super) fn add_plate(&mut self, scene: &Scene<T>) {
        let errors = scene.errors(scene.plate(Use::Fitted));
        if !errors.is_empty() {
            self.push(AnswerReport::of_plate(), scene.plate(Use::Known).clone(), errors, None);
        }
    }

    fn push(&mut self, report: AnswerReport, picture: Signal<T>, errors: Vec<f64>, learnt: Option<Dictionary<T>>) {
        self.reports.push(report);
        self.pictures.push(picture);
        self.errors.push(errors);
        self.learnt.push(learnt);
    }

    /// The average in the colours of the signal as it was given; notes the weights.
    ///
    /// At known samples the plate is what was given, noise and all, so there the others are averaged among themselves.
    pub(super) fn average(&mut self, scene: &Scene<T>) -> Result<Signal<T>> {
        let at_hidden = self.weights(|_| true);
        let at_known = self.weights(|report| report.dictionary.is_some());
        let mut sum = vec![0.0; scene.signal.data().len()];
        for (number, picture) in self.pictures.iter().enumerate() {
            self.reports[number].weight = at_hidden[number];
            for ((s, x), w) in sum.iter_mut().zip(picture.data()).zip(scene.weights(Use::Known)) {
                *s += x.to_f64() * if *w == T::ZERO { at_hidden[number] } else { at_known[number] };
            }
        }
        let samples = sum.into_iter().map(T::from_f64).collect();
        Ok(scene.as_given(&Signal::from_planar(scene.signal.extent(), scene.signal.channels(), samples)?))
    }

    /// Weights of the answers that count, 0 for the others.
    fn weights(&self, counts: impl Fn(&AnswerReport) -> bool) -> Vec<f64> {
        let counting: Vec<usize> = (0..self.reports.len()).filter(|&i| counts(&self.reports[i])).collect();
        let judged = |&i: &usize| Judged { errors: &self.errors[i], plate: self.reports[i].dictionary.is_none() };
        let mut weights = vec![0.0; self.reports.len()];
        let found = blend::weights(&counting.iter().map(judged).collect::<Vec<_>>());
        counting.iter().zip(found).for_each(|(&i, weight)| weights[i] = weight);
        weights
    }

    /// The learnt atoms whose answer has the largest share.
    pub(super) fn best_learnt(&self) -> Option<Dictionary<T>> {
        let learnt = self.reports.iter().zip(&self.learnt).filter(|(_, atoms)| atoms.is_some());
        learnt.max_by(|a, b| a.0.weight.total_cmp(&b.0.weight)).and_then(|(_, atoms)| atoms.clone())
    }
}

/// The box of an atom, stretched.
fn scaled(atom: Extent, by: f64) -> Extent {
    atom.with_padded(atom.padded().map(|n| if n == 1 { 1 } else { ((n as f64 * by).round() as usize).max(2) }))
}
