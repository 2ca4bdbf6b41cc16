//! The answers that are averaged: dictionaries, base layers, given and learnt atoms.

use super::background::Background;
use super::blend;
use super::member::{Member, Start};
use super::pace::Pace;
use super::params::InpaintParams;
use super::report::AnswerReport;
use super::scene::Scene;
use super::specific;
use super::turned::turned;
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;

/// A window must predict held-out samples better by this share than one named before it: the first fit is a rough judge.
const PREFERENCE: f64 = 0.05;

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

/// A base layer found with one window.
struct Layer<T> {
    window: f64,
    size: Extent,
    background: Background<T>,
}

impl<T: Real> Answers<T> {
    /// Adds the answers of one dictionary: for every window that is kept, its copies and what is learnt from it.
    pub(super) fn add(
        &mut self,
        params: &InpaintParams,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        (number, dictionary): (usize, &Dictionary<T>),
        pace: &mut Pace,
    ) -> Result<()> {
        for Layer { window, size, background } in self.layers(params, engine, scene, dictionary, pace)? {
            let copies = (0..params.variants).map(|variant| (variant, false, turned(dictionary, variant)));
            let mut atoms: Vec<(usize, bool, Dictionary<T>)> = copies.collect();
            if params.learn && !pace.is_over() {
                let learnt = specific::learn(engine, scene, dictionary, &background.base, params.max_memory, pace)?;
                atoms.push((0, true, learnt));
            }
            for (variant, learnt, dictionary) in atoms {
                // Whatever happens there is one answer.
                if pace.is_over() && !self.pictures.is_empty() {
                    return Ok(());
                }
                let floor = background.best_penalty();
                let start = Start { dictionary: &dictionary, base: &background.base, window: size, floor };
                let Member { picture, errors, penalty, path, nonzeros } = Member::find(params, engine, scene, &start, pace)?;
                let path = background.path.iter().copied().chain(path).collect();
                let report = AnswerReport { dictionary: number, variant, window, learnt, weight: 0.0, penalty, nonzeros, path };
                self.reports.push(report);
                self.pictures.push(picture);
                self.errors.push(errors);
                self.learnt.push(learnt.then_some(dictionary));
            }
        }
        Ok(())
    }

    /// Base layers with the windows that are kept: those whose first fit predicts held-out samples best, in that order.
    fn layers(
        &self,
        params: &InpaintParams,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        dictionary: &Dictionary<T>,
        pace: &mut Pace,
    ) -> Result<Vec<Layer<T>>> {
        let mut layers = Vec::new();
        for &window in &params.windows {
            if pace.is_over() && !(layers.is_empty() && self.pictures.is_empty()) {
                break;
            }
            let size = scaled(dictionary.extent(), window);
            let background = Background::find(engine, scene, dictionary, size, params.max_memory, pace)?;
            layers.push(Layer { window, size, background });
        }
        let judged = |(place, layer): &(usize, Layer<T>)| layer.background.error() * (1.0 + PREFERENCE * *place as f64);
        let mut layers: Vec<(usize, Layer<T>)> = layers.into_iter().enumerate().collect();
        layers.sort_by(|a, b| judged(a).total_cmp(&judged(b)));
        let mut layers: Vec<Layer<T>> = layers.into_iter().map(|(_, layer)| layer).collect();
        layers.truncate(params.kept_windows);
        Ok(layers)
    }

    /// The average in the colours of the signal as it was given; notes the weights.
    pub(super) fn average(&mut self, scene: &Scene<T>) -> Result<Signal<T>> {
        let weights = blend::weights(&self.errors.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut sum = vec![0.0; scene.signal.data().len()];
        for ((picture, report), weight) in self.pictures.iter().zip(&mut self.reports).zip(weights) {
            report.weight = weight;
            sum.iter_mut().zip(picture.data()).for_each(|(s, x)| *s += weight * x.to_f64());
        }
        let samples = sum.into_iter().map(T::from_f64).collect();
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
