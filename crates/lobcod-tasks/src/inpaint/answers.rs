//! The answers to be averaged: for dictionaries, base layers, given and learnt atoms.

use super::background::Background;
use super::blend::{self, Judged};
use super::groups::{self, Improvement};
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

/// Held-out samples of a channel that suffice to weight its answers separately.
const FEW: usize = 150;

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
                    held_out_error: None,
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
        improvement: (Improvement, usize),
        threads: usize,
        scene: &Scene<T>,
        run: &mut Run,
    ) -> Result<()> {
        let weights = self.weights(scene, |_| true);
        let volume = scene.signal.extent().volume();
        let mut image = vec![0.0; scene.signal.data().len()];
        let mut errors = vec![0.0; scene.held_out.len()];
        for (number, answer) in self.0.iter().enumerate() {
            let weight = |i: usize| weights[i / volume][number];
            let samples = image.iter_mut().zip(answer.image.data()).enumerate();
            samples.for_each(|(i, (sum, x))| *sum += weight(i) * x.to_f64());
            let held_out = errors.iter_mut().zip(&answer.errors).zip(&scene.held_out);
            held_out.for_each(|((sum, e), &i)| *sum += weight(i) * e);
        }
        let data = image.into_iter().map(T::from_f64).collect();
        let image = Signal::from_planar(scene.signal.extent(), scene.signal.channels(), data)?;
        let (image, errors) = groups::improve(improvement, threads, scene, &image, &errors, run)?;
        let report = AnswerReport { groups: true, ..AnswerReport::default() };
        self.0.push(Answer { report, image, errors, learnt: None });
        Ok(())
    }

    /// The average in the colours of the given signal; records the weights.
    ///
    /// At known samples the plate and groups repeat the input, including noise, so there only the
    /// others are averaged, if there are any.
    pub fn average(&mut self, scene: &Scene<T>) -> Result<Signal<T>> {
        let at_hidden = self.weights(scene, |_| true);
        let any_coded = self.0.iter().any(|answer| answer.report.dictionary.is_some());
        let at_known = self.weights(scene, |report| report.dictionary.is_some() || !any_coded);
        let (channels, volume) = (scene.signal.channels(), scene.signal.extent().volume());
        let mut sum = vec![0.0; scene.signal.data().len()];
        for (number, answer) in self.0.iter_mut().enumerate() {
            let total: f64 = at_hidden.iter().map(|weights| weights[number]).sum();
            answer.report.weight = total / channels as f64;
            let squares: f64 = answer.errors.iter().map(|e| e * e).sum();
            answer.report.held_out_error =
                (!answer.errors.is_empty()).then(|| (squares / answer.errors.len() as f64).sqrt());
            let samples = sum.iter_mut().zip(answer.image.data()).zip(scene.weights(Use::Known));
            for (i, ((sum, x), w)) in samples.enumerate() {
                let weights = if *w == T::ZERO { &at_hidden } else { &at_known };
                *sum += x.to_f64() * weights[i / volume][number];
            }
        }
        let samples = sum.into_iter().map(T::from_f64).collect();
        Ok(scene.as_given(&Signal::from_planar(
            scene.signal.extent(),
            scene.signal.channels(),
            samples,
        )?))
    }

    /// Weights of the answers selected by `counts`, 0 for the others, for every channel: colours
    /// are smoother than brightness. Channels with few held-out samples share their weights.
    fn weights(&self, scene: &Scene<T>, counts: impl Fn(&AnswerReport) -> bool) -> Vec<Vec<f64>> {
        let parts = scene.held_out_by_channel();
        let together = parts.iter().any(|part| part.len() < FEW);
        let of_part = |part: &Range<usize>| {
            let part = if together { 0..scene.held_out.len() } else { part.clone() };
            let counting = self.0.iter().filter(|answer| counts(&answer.report));
            let judged = counting.map(|answer| Judged {
                errors: &answer.errors[part.clone()],
                plate: answer.report.dictionary.is_none() && !answer.report.groups,
            });
            let mut found = blend::weights(&judged.collect::<Vec<_>>()).into_iter();
            let weight = |answer: &Answer<T>| {
                if counts(&answer.report) { found.next().unwrap_or(0.0) } else { 0.0 }
            };
            self.0.iter().map(weight).collect()
        };
        parts.iter().map(of_part).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::Mask;
    use lobcod::run::Stop;

    /// The weights of two answers, each of which is right in one of two channels.
    fn weights(held_out: f64) -> Vec<Vec<f64>> {
        let extent = Extent::new(&[64, 64]).unwrap();
        let known: Vec<bool> = (0..4096).map(|i| (i * 7919) % 10_007 >= 4500).collect();
        let mask = Mask::from_known(extent, &known).unwrap();
        let params = InpaintParams::default().with(|p| p.held_out = held_out);
        let signal = Signal::<f64>::zeros(extent, 2);
        let atoms = [Dictionary::natural()];
        let scene = Scene::new(&params, 1, &signal, &mask, &atoms, None, Stop::default()).unwrap();
        let answer = |right: usize| {
            let error = |&i: &usize| if i / 4096 == right { 0.1 } else { 1.0 };
            let report = AnswerReport { dictionary: Some(right), ..AnswerReport::default() };
            let errors = scene.held_out.iter().map(error).collect();
            Answer { report, image: signal.clone(), errors, learnt: None }
        };
        Answers(vec![answer(0), answer(1)]).weights(&scene, |_| true)
    }

    #[test]
    fn channels_have_weights_of_their_own_if_enough_is_held_out() {
        assert_eq!(weights(0.2), [[1.0, 0.0], [0.0, 1.0]]);
        let few = weights(0.02);
        assert_eq!(few[0], few[1]);
    }
}
