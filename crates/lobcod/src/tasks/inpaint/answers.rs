//! The answers that are averaged: dictionaries, base layers, given and learnt atoms.

use super::background::Background;
use super::blend;
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
            let background = Background::find(engine, scene, dictionary, size, params.max_memory, pace)?;
            let copies = (0..params.variants).map(|variant| (variant, false, turned(dictionary, variant)));
            let mut atoms: Vec<(usize, bool, Dictionary<T>)> = copies.collect();
            if params.learn && !pace.is_over() {
                let learnt = specific::learn(engine, scene, dictionary, &background.base, params.max_memory, pace)?;
                atoms.push((0, true, learnt));
            }
            for (variant, learnt, dictionary) in atoms {
                if pace.is_over() && !self.pictures.is_empty() {
                    return Ok(());
                }
                let (floor, trust) = (background.best_penalty(), background.trust(scene));
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
    pub(super) fn average(&mut self, scene: &Scene<T>) -> Result<Signal<T>> {
        let judged: Vec<blend::Judged> = self
            .errors
            .iter()
            .zip(&self.reports)
            .map(|(errors, report)| blend::Judged { errors, plate: report.dictionary.is_none() })
            .collect();
        let weights = blend::weights(&judged);
        let mut sum = vec![0.0; scene.signal.data().len()];
        let mut shares = sum.clone();
        for ((picture, report), weight) in self.pictures.iter().zip(&mut self.reports).zip(weights) {
            report.weight = weight;
            for (i, x) in picture.data().iter().enumerate() {
                // At known samples the plate is what was given, noise and all: there it says nothing.
                if report.dictionary.is_some() || scene.weights(Use::Known)[i] == T::ZERO {
                    sum[i] += weight * x.to_f64();
                    shares[i] += weight;
                }
            }
        }
        let given = scene.signal.data().iter();
        let samples =
            sum.into_iter().zip(shares).zip(given).map(|((s, share), &x)| if share > 0.0 { T::from_f64(s / share) } else { x });
        let samples = samples.collect();
        Ok(scene.as_given(&Signal::from_planar(scene.signal.extent(), scene.signal.channels(), samples)?))
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
