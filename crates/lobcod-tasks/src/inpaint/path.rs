//! The penalty path and its errors at held-out samples.

use super::fit::Fit;
use super::scene::Scene;
use lobcod::{Real, Result, Signal};
use std::iter::successors;

/// Relative differences of held-out errors below this are insignificant.
const HARDLY: f64 = 0.01;

/// First penalty, in standard deviations of the details.
const FIRST: f64 = 8.0;

/// The stages of a path that falls to `last` by this factor, in standard deviations of the details.
pub(super) fn falling_to(last: f64, factor: f64) -> impl Iterator<Item = f64> {
    successors(Some(FIRST), move |&stage| (stage > last).then(|| f64::max(factor * stage, last)))
}

/// A stage of the penalty path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathPoint {
    /// Penalty, in units of the signal.
    pub penalty: f64,
    /// Root mean square error at the held-out samples; `None` if none are held out.
    pub held_out_error: Option<f64>,
}

impl PathPoint {
    /// Measures the current fit; its image is computed only if samples are held out.
    pub(super) fn of_fit<T: Real>(
        penalty: f64,
        scene: &Scene<T>,
        fit: &mut Fit<T>,
    ) -> Result<Self> {
        if scene.held_out.is_empty() {
            return Ok(Self { penalty, held_out_error: None });
        }
        Ok(Self::of(penalty, scene, &fit.image()?))
    }

    /// Measures the image of a fit.
    pub(super) fn of<T: Real>(penalty: f64, scene: &Scene<T>, fit: &Signal<T>) -> Self {
        let errors = scene.errors(fit);
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        Self { penalty, held_out_error: (!errors.is_empty()).then(|| square.sqrt()) }
    }

    /// The smallest penalty whose error is close to the smallest, and which is closest to the known
    /// samples. Without errors, the smallest penalty.
    pub(super) fn best(path: &[PathPoint]) -> Option<PathPoint> {
        let error = |p: &PathPoint| p.held_out_error.unwrap_or(0.0);
        let least = path.iter().map(error).fold(f64::INFINITY, f64::min);
        let good = path.iter().filter(|p| error(p) <= (1.0 + HARDLY) * least);
        good.copied().min_by(|a, b| a.penalty.total_cmp(&b.penalty))
    }
}
