//! The penalty path and what held-out samples say of it.

use super::fit::Fit;
use super::scene::Scene;
use crate::real::Real;
use crate::signal::Signal;

/// A share by which held-out errors differ without meaning anything.
const HARDLY: f64 = 0.01;

/// A stage of the penalty path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Penalty, in units of the signal.
    pub penalty: f64,
    /// Root mean square error at the held-out samples; `None` where none are held out.
    pub held_out_error: Option<f64>,
}

impl PathPoint {
    /// What the held-out samples say of a fit that is under way; its picture is made only where there are any.
    pub(super) fn of_fit<T: Real>(penalty: f64, scene: &Scene<T>, fit: &mut Fit<T>) -> Self {
        if scene.held_out.is_empty() { Self { penalty, held_out_error: None } } else { Self::of(penalty, scene, &fit.picture()) }
    }

    /// What the held-out samples say of a fit.
    pub(super) fn of<T: Real>(penalty: f64, scene: &Scene<T>, fit: &Signal<T>) -> Self {
        let errors = scene.errors(fit);
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        Self { penalty, held_out_error: (!errors.is_empty()).then(|| square.sqrt()) }
    }

    /// The smallest penalty whose error is the smallest or hardly larger: of two that predict missing samples alike, the one that is
    /// closer to the known ones. Without errors, the smallest penalty.
    pub(super) fn best(path: &[PathPoint]) -> Option<PathPoint> {
        let error = |p: &PathPoint| p.held_out_error.unwrap_or(0.0);
        let least = path.iter().map(error).fold(f64::INFINITY, f64::min);
        let good = path.iter().filter(|p| error(p) <= (1.0 + HARDLY) * least);
        good.copied().min_by(|a, b| a.penalty.total_cmp(&b.penalty))
    }
}
