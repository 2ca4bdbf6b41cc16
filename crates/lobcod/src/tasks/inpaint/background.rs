//! The base layer, re-estimated from the filled picture.
//!
//! The mean over known samples alone wavers with the pattern of the holes. So the first base layer is taken from the thin plate
//! through them, the picture is filled by a quick pursuit that follows the penalty from high to low, and the base layer is taken anew
//! from what was filled.

use super::fit::{Fit, problem};
use super::pace::Pace;
use super::path::PathPoint;
use super::scene::{Scene, Use};
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::Result;
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;

/// Penalties in standard deviations of the details: where the path begins, and where it ends in either round.
const FIRST: f64 = 8.0;
const LAST: [f64; 2] = [0.6, 0.2];
/// Fall of the penalty from stage to stage.
const FALL: f64 = 0.6;
/// Support sweeps (of two rounds) at a stage.
const SUPPORTS: usize = 2;
/// Trust in the thin plate while the base layer is found, and trust where the plate predicts held-out samples as well as atoms do.
const FIRST_TRUST: f64 = 0.03;
const EQUAL_TRUST: f64 = 0.1;
const MOST_TRUST: f64 = 0.3;
const LEAST_TRUST: f64 = 1e-6;

/// The base layer, and the penalty path of the pursuit that filled the picture.
pub(super) struct Background<T> {
    pub(super) base: Signal<T>,
    pub(super) path: Vec<PathPoint>,
}

impl<T: Real> Background<T> {
    pub(super) fn find(
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        dictionary: &Dictionary<T>,
        window: Extent,
        pace: &mut Pace,
    ) -> Result<Self> {
        let mut base = scene.base_of(Use::Fitted, scene.plate(Use::Fitted), window)?;
        let mut path = Vec::new();
        for last in LAST {
            let detail = scene.detail(&base);
            if detail == 0.0 || pace.is_over() {
                break;
            }
            path.clear();
            let mut fit = Fit::open(engine, problem(scene, Use::Fitted, &base, dictionary, FIRST_TRUST), &base, pace)?;
            let mut share = FIRST;
            while !pace.is_over() {
                fit.step(share * detail, SUPPORTS, pace);
                path.push(PathPoint::of_fit(share * detail, scene, &mut fit));
                if share <= last {
                    break;
                }
                share = f64::max(FALL * share, last);
            }
            base = scene.base_of(Use::Fitted, &fit.picture(), window)?;
        }
        Ok(Self { base, path })
    }

    /// The penalty that predicted the held-out samples best: that of the noise, or the smallest where there is none.
    pub(super) fn best_penalty(&self) -> f64 {
        PathPoint::best(&self.path).map_or(0.0, |point| point.penalty)
    }

    /// Trust in the thin plate that its error at the held-out samples earns beside that of this fit.
    pub(super) fn trust(&self, scene: &Scene<T>) -> f64 {
        let plate = PathPoint::of(0.0, scene, scene.plate(Use::Fitted)).held_out_error;
        let earned = |plate: f64| EQUAL_TRUST * (self.error() / plate).powi(4);
        plate.map_or(FIRST_TRUST, |plate| if plate > 0.0 { earned(plate).clamp(LEAST_TRUST, MOST_TRUST) } else { MOST_TRUST })
    }

    /// Smallest error at the held-out samples on the path; 0 where none are held out.
    pub(super) fn error(&self) -> f64 {
        self.path.iter().filter_map(|p| p.held_out_error).reduce(f64::min).unwrap_or(0.0)
    }
}
