//! The base layer, re-estimated from the filled image.
//!
//! The mean over known samples depends on the pattern of the holes. Therefore the base layer starts
//! from the thin plate, a quick pursuit fills the image, and the base layer is computed from that.

use super::fit::{Fit, problem};
use super::path::{PathPoint, falling_to};
use super::scene::{Scene, Use};
use lobcod::engine::Engine;
use lobcod::run::Run;
use lobcod::{Dictionary, Extent, Real, Result, Signal};

/// Final penalty of the path in each round, in standard deviations of the details.
const LAST: [f64; 2] = [0.6, 0.2];
/// Factor of the penalty from stage to stage.
const FALL: f64 = 0.36;
/// Support sweeps (of two rounds) per stage.
const SUPPORTS: usize = 2;
/// Initial trust in the thin plate, trust if it predicts held-out samples as well as atoms, and
/// limits.
const FIRST_TRUST: f64 = 0.03;
const EQUAL_TRUST: f64 = 0.1;
const MOST_TRUST: f64 = 0.3;
const LEAST_TRUST: f64 = 1e-6;

/// The base layer, and the penalty path of the pursuit that filled the image.
pub struct Background<T> {
    pub base: Signal<T>,
    /// The image that the pursuit filled, as far as it came.
    pub image: Signal<T>,
    pub path: Vec<PathPoint>,
}

impl<T: Real> Background<T> {
    pub fn find(
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        dictionary: &Dictionary<T>,
        window: Extent,
        run: &mut Run,
    ) -> Result<Self> {
        let mut base = scene.base_of(Use::Fitted, scene.plate(Use::Fitted), window)?;
        let mut image = scene.plate(Use::Fitted).clone();
        let mut path = Vec::new();
        let steps = LAST.iter().map(|&last| falling_to(last, FALL).count()).sum::<usize>();
        let mut step = 0;
        for last in LAST {
            let detail = scene.detail(&base);
            if detail == 0.0 || run.is_over() {
                break;
            }
            path.clear();
            let mut fit = Fit::open(
                engine,
                problem(scene, Use::Fitted, &base, dictionary, FIRST_TRUST),
                &base,
            )?;
            for stage in falling_to(last, FALL) {
                if run.is_over() {
                    break;
                }
                fit.step(scene, stage * detail, SUPPORTS, run)?;
                step += 1;
                run.advance(step as f64 / steps as f64);
                path.push(PathPoint::of_fit(stage * detail, scene, &mut fit)?);
            }
            image = fit.image()?;
            base = scene.base_of(Use::Fitted, &image, window)?;
        }
        Ok(Self { base, image, path })
    }

    /// The penalty that predicted the held-out samples best.
    pub fn best_penalty(&self) -> f64 {
        PathPoint::best(&self.path).map_or(0.0, |point| point.penalty)
    }

    /// Trust in the thin plate, from its error at the held-out samples relative to this fit.
    pub fn trust(&self, scene: &Scene<T>) -> f64 {
        let plate = PathPoint::of(0.0, scene, scene.plate(Use::Fitted)).held_out_error;
        let earned = |plate: f64| EQUAL_TRUST * (self.error() / plate).powi(4);
        plate.map_or(FIRST_TRUST, |plate| {
            if plate > 0.0 { earned(plate).clamp(LEAST_TRUST, MOST_TRUST) } else { MOST_TRUST }
        })
    }

    /// Smallest error at the held-out samples on the path; 0 if none are held out.
    pub fn error(&self) -> f64 {
        self.path.iter().filter_map(|p| p.held_out_error).reduce(f64::min).unwrap_or(0.0)
    }
}
