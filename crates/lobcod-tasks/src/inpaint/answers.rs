//! The answers to be averaged: for dictionaries, base layers, given and learnt atoms.

use super::background::Background;
use super::blend::{self, Judged};
use super::groups;
use super::member::{Member, Start};
use super::params::InpaintParams;
use super::report::AnswerReport;
use super::scene::{Scene, Use};
use super::specific;
use super::turned::turned;
use lobcod::engine::Engine;
use lobcod::run::Run;
use lobcod::{Dictionary, Extent, Real, Result, Signal};
use std::ops::Range;

/// Answers found so far.
pub struct Answers<T>(pub Vec<Answer<T>>);

/// One of the answers.
pub struct Answer<T> {
    pub report: AnswerReport,
    image: Signal<T>,
    errors: Vec<f64>,
    /// Its atoms, if they were learnt.
    learnt: Option<Dictionary<T>>,
}

impl<T: Real> Answers<T> {
    /// Adds the answers of one dictionary for every window of the base layer.
    pub fn add(
        &mut self,
        params: &InpaintParams,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        (number, dictionary): (usize, &Dictionary<T>),
        part: Range<f64>,
        run: &mut Run,
    ) -> Result<()> {
        // Equal parts of the time, about: a base layer, learnt atoms, each variant.
        let units = params.windows.len() * (1 + 2 * usize::from(params.learn) + params.variants);
        let mut unit = 0;
        let mut next_unit = |run: &mut Run| {
            let at =
                |unit: usize| part.start + (part.end - part.start) * unit as f64 / units as f64;
            run.begin_part(at(unit)..at(unit + 1));
            unit += 1;
        };
        for &window in &params.windows {
            // There is always at least one answer.
            if run.is_over() && !self.0.is_empty() {
                return Ok(());
            }
            let size = scaled(dictionary.extent(), window);
            next_unit(run);
            let background = Background::find(engine, scene, dictionary, size, run)?;
            let (floor, trust) = (background.best_penalty(), background.trust(scene));
            let mut atoms: Vec<(usize, bool, Dictionary<T>)> = Vec::new();
            for variant in 0..params.variants {
                let copy = turned(dictionary, variant);
                // A copy of a dictionary with one axis may be the dictionary itself.
                if atoms.iter().all(|(_, _, other)| *other != copy) {
                    atoms.push((variant, false, copy));
                }
            }
            if params.learn && !run.is_over() {
                next_unit(run);
                let learnt = specific::learn(engine, scene, dictionary, &background.base, run)?;
                atoms.push((0, true, learnt));
            }
            for (variant, learnt, dictionary) in atoms {
                if run.is_over() && !self.0.is_empty() {
                    return Ok(());
                }
                let start = Start {
                    dictionary: &dictionary,
                    base: &background.base,
                    image: &background.image,
                    window: size,
                    trust,
                    floor,
                };
                next_unit(run);
                let Member { image, errors, penalty, path, nonzeros } =
                    Member::find(params, engine, scene, &start, run)?;
                let path = background.path.iter().copied().chain(path).collect();
                let report = AnswerReport {
                    dictionary: Some(number),
                    groups: false,
                    variant,
                    window,
                    trust,
                    learnt,
                    weight: 0.0,
                    penalty,
                    nonzeros,
                    path,
                };
                self.0.push(Answer { report, image, errors, learnt: learnt.then_some(dictionary) });
            }
        }
        Ok(())
    }

    /// Adds the thin plate itself, if samples are held out.
    pub fn add_plate(&mut self, scene: &Scene<T>) {
        let errors = scene.errors(scene.plate(Use::Fitted));
        if !errors.is_empty() {
            let report = AnswerReport { trust: 1.0, ..AnswerReport::default() };
            self.0.push(Answer {
                report,
                image: scene.plate(Use::Known).clone(),
                errors,
                learnt: None,
            });
        }
    }

    /// Adds the average of the answers so far, improved in some rounds over groups of similar
    /// patches. Samples must be held out.
    ///
    /// Held-out samples are missing until all rounds are done. Other missing samples start from
    /// answers that included them in the end, which is negligible where few are held out.
    pub fn add_groups(
        &mut self,
        rounds: usize,
        threads: usize,
        scene: &Scene<T>,
        run: &mut Run,
    ) -> Result<()> {
        let weights = self.weights(|_| true);
        let mut image = vec![0.0; scene.signal.data().len()];
        let mut errors = vec![0.0; scene.held_out.len()];
        for (answer, weight) in self.0.iter().zip(weights) {
            let samples = image.iter_mut().zip(answer.image.data());
            samples.for_each(|(sum, x)| *sum += weight * x.to_f64());
            errors.iter_mut().zip(&answer.errors).for_each(|(sum, e)| *sum += weight * e);
        }
        let data = image.into_iter().map(T::from_f64).collect();
        let image = Signal::from_planar(scene.signal.extent(), scene.signal.channels(), data)?;
        let (image, errors) = groups::improve(rounds, threads, scene, &image, &errors, run)?;
        let report = AnswerReport { groups: true, ..AnswerReport::default() };
        self.0.push(Answer { report, image, errors, learnt: None });
        Ok(())
    }

    /// The average in the colours of the given signal; records the weights.
    ///
    /// At known samples the plate and groups repeat the input, including noise, so there only the
    /// others are averaged.
    pub fn average(&mut self, scene: &Scene<T>) -> Result<Signal<T>> {
        let at_hidden = self.weights(|_| true);
        let at_known = self.weights(|report| report.dictionary.is_some());
        let mut sum = vec![0.0; scene.signal.data().len()];
        for ((answer, at_hidden), at_known) in self.0.iter_mut().zip(at_hidden).zip(at_known) {
            answer.report.weight = at_hidden;
            for ((s, x), w) in
                sum.iter_mut().zip(answer.image.data()).zip(scene.weights(Use::Known))
            {
                *s += x.to_f64() * if *w == T::ZERO { at_hidden } else { at_known };
            }
        }
        let samples = sum.into_iter().map(T::from_f64).collect();
        Ok(scene.as_given(&Signal::from_planar(
            scene.signal.extent(),
            scene.signal.channels(),
            samples,
        )?))
    }

    /// Weights of the answers selected by `counts`, 0 for the others.
    fn weights(&self, counts: impl Fn(&AnswerReport) -> bool) -> Vec<f64> {
        let counting = self.0.iter().filter(|answer| counts(&answer.report));
        let judged = counting.map(|answer| Judged {
            errors: &answer.errors,
            plate: answer.report.dictionary.is_none() && !answer.report.groups,
        });
        let mut found = blend::weights(&judged.collect::<Vec<_>>()).into_iter();
        self.0
            .iter()
            .map(|answer| if counts(&answer.report) { found.next().unwrap_or(0.0) } else { 0.0 })
            .collect()
    }

    /// The learnt atoms whose answer has the largest weight.
    pub fn best_learnt(&self) -> Option<Dictionary<T>> {
        let learnt = self.0.iter().filter(|answer| answer.learnt.is_some());
        learnt.max_by(|a, b| a.report.weight.total_cmp(&b.report.weight))?.learnt.clone()
    }
}

/// The extent of an atom, scaled.
fn scaled(atom: Extent, by: f64) -> Extent {
    atom.with_padded(
        atom.padded().map(|n| if n == 1 { 1 } else { ((n as f64 * by).round() as usize).max(2) }),
    )
}
