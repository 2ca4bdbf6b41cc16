//! One answer among those that are averaged: a dictionary, a base layer, and the path of its penalty.

use super::fit::{Fit, problem};
use super::pace::Pace;
use super::params::InpaintParams;
use super::path::PathPoint;
use super::scene::{Scene, Use};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Measure, Session};
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;

/// Fall of the penalty from stage to stage, and stages at most.
const FALL: f64 = 0.5;
const STAGES: usize = 4;
/// Support sweeps at a stage.
const SUPPORTS: usize = 3;
/// Steps at the chosen penalty once the held-out samples are known again.
const REFITS: usize = 2;

/// What an answer starts from.
pub(super) struct Start<'a, T> {
    pub(super) dictionary: &'a Dictionary<T>,
    pub(super) base: &'a Signal<T>,
    /// Window of the base layer.
    pub(super) window: Extent,
    /// Trust in the thin plate.
    pub(super) trust: f64,
    /// Penalty that the noise asks for.
    pub(super) floor: f64,
}

/// An answer.
pub(super) struct Member<T> {
    /// The fit with all known samples.
    pub(super) picture: Signal<T>,
    /// Its errors at the held-out samples, before they were known.
    pub(super) errors: Vec<f64>,
    /// Penalty it ended at.
    pub(super) penalty: f64,
    pub(super) path: Vec<PathPoint>,
    pub(super) nonzeros: usize,
}

impl<T: Real> Member<T> {
    /// Dense first codes at one penalty, then the path below it: to the penalty asked for, or until the held-out samples are
    /// predicted worse. Sparse codes alone would commit to one of many shifted atoms that explain the same samples; the
    /// dense start keeps their average, which predicts missing samples better than any of them.
    pub(super) fn find(
        params: &InpaintParams,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        start: &Start<T>,
        pace: &mut Pace,
    ) -> Result<Self> {
        if pace.is_over() {
            let (picture, penalty) = (start.base.clone(), params.penalty.unwrap_or(0.0));
            return Ok(Self { errors: scene.errors(&picture), picture, penalty, path: Vec::new(), nonzeros: 0 });
        }
        let detail = scene.detail(start.base);
        let fitted = problem(scene, Use::Fitted, start.base, start.dictionary, start.trust);
        let mut fit = Fit::open(engine, fitted, start.base, pace)?;
        let noisy = start.floor > params.density * detail;
        let dense = f64::max(params.density * detail, params.penalty.unwrap_or(start.floor));
        let mut path: Vec<PathPoint> = Vec::new();
        let mut picture = start.base.clone();
        if detail > 0.0 && !pace.is_over() {
            fit.spread(dense, pace);
            let mut penalty = if noisy { dense } else { FALL * dense };
            loop {
                penalty = penalty.max(params.penalty.unwrap_or(0.0));
                fit.step(penalty, SUPPORTS, pace);
                let point = PathPoint::of_fit(penalty, scene, &mut fit);
                path.push(point);
                let ended = match params.penalty {
                    Some(asked) => penalty <= asked,
                    None => path.len() == STAGES || PathPoint::best(&path) != Some(point),
                };
                if ended || pace.is_over() {
                    break;
                }
                penalty *= FALL;
            }
            picture = fit.picture();
        }
        let errors = scene.errors(&picture);
        let penalty = params.penalty.or(PathPoint::best(&path).map(|point| point.penalty)).unwrap_or(0.0);
        let refit = !scene.held_out.is_empty() && detail > 0.0 && !pace.is_over();
        let nonzeros = if refit {
            let base = scene.base_of(Use::Known, &picture, start.window)?;
            let state = fit.session.fetch();
            drop(fit);
            let known = problem(scene, Use::Known, &base, start.dictionary, start.trust);
            let mut fit = Fit::open(engine, known, &base, pace)?;
            fit.resume(&state);
            (0..REFITS).for_each(|_| fit.step(penalty, SUPPORTS, pace));
            picture = fit.picture();
            nonzeros(&mut *fit.session)
        } else {
            nonzeros(&mut *fit.session)
        };
        Ok(Self { picture, errors, penalty, path, nonzeros })
    }
}

fn nonzeros<T: Real>(session: &mut dyn Session<T>) -> usize {
    session.measure(Measure::Objective).iter().map(|m| m.nonzeros).sum()
}
