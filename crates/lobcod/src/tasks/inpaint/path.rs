//! The penalty path and what held-out samples say of it.

use super::scene::Scene;
use crate::real::Real;
use crate::signal::Signal;

/// A stage of the penalty path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Penalty, in units of the signal.
    pub penalty: f64,
    /// Root mean square error at the held-out samples; `None` where none are held out.
    pub held_out_error: Option<f64>,
}

impl PathPoint {
    /// What the held-out samples say of a fit.
    pub(super) fn of<T: Real>(penalty: f64, scene: &Scene<T>, fit: &Signal<T>) -> Self {
        let errors = scene.errors(fit);
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        Self { penalty, held_out_error: (!errors.is_empty()).then(|| square.sqrt()) }
    }

    /// The point with the smallest error; without errors, the last.
    pub(super) fn best(path: &[PathPoint]) -> Option<PathPoint> {
        let error = |p: &PathPoint| p.held_out_error.unwrap_or(p.penalty);
        path.iter().copied().min_by(|a, b| error(a).total_cmp(&error(b)))
    }
}
