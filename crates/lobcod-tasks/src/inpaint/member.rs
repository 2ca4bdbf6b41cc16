//! One answer of the average: a dictionary, a base layer, and the path of its penalty.

use super::fit::{Fit, problem};
use super::params::InpaintParams;
use super::path::PathPoint;
use super::scene::{Scene, Use};
use lobcod::engine::{Context, Engine, Measure, Session, Share};
use lobcod::run::Run;
use lobcod::{Dictionary, Extent, Real, Result, Signal};

/// Factor of the penalty from stage to stage, and maximum number of stages.
const FALL: f64 = 0.5;
const STAGES: usize = 3;
/// Support sweeps per stage.
const SUPPORTS: usize = 3;
/// Steps at the chosen penalty with the held-out samples included again.
const REFITS: usize = 2;

/// Input of an answer.
pub struct Start<'a, T> {
    pub dictionary: &'a Dictionary<T>,
    pub base: &'a Signal<T>,
    /// The image that the base layer was taken from.
    pub image: &'a Signal<T>,
    /// Window of the base layer.
    pub window: Extent,
    /// Trust in the thin plate.
    pub trust: f64,
    /// Penalty for the noise level.
    pub floor: f64,
}

/// An answer.
pub struct Member<T> {
    /// The fit with all known samples.
    pub image: Signal<T>,
    /// Its errors at the held-out samples, before they were included.
    pub errors: Vec<f64>,
    /// Its final penalty.
    pub penalty: f64,
    pub path: Vec<PathPoint>,
    pub nonzeros: usize,
}

impl<T: Real> Member<T> {
    /// Starts from dense codes and lowers the penalty: to the given one, or until held-out samples
    /// are predicted worse. Sparse codes would commit to one of many shifted atoms; the dense start
    /// keeps their average, which predicts missing samples better.
    pub fn find(
        params: &InpaintParams,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        start: &Start<T>,
        run: &mut Run,
    ) -> Result<Self> {
        if run.is_over() {
            // The best there is so far.
            return Ok(Self {
                errors: scene.errors(start.image),
                image: start.image.clone(),
                penalty: params.penalty.unwrap_or(0.0),
                path: Vec::new(),
                nonzeros: 0,
            });
        }
        let detail = scene.detail(start.base);
        let fitted = problem(scene, Use::Fitted, start.base, start.dictionary, start.trust);
        let mut fit = Fit::open(engine, fitted, start.base)?;
        let noisy = start.floor > params.density * detail;
        let dense = f64::max(params.density * detail, params.penalty.unwrap_or(start.floor));
        let mut path: Vec<PathPoint> = Vec::new();
        let mut image = start.base.clone();
        if detail > 0.0 && !run.is_over() {
            fit.spread(scene, dense, run)?;
            let mut penalty = if noisy { dense } else { FALL * dense };
            loop {
                penalty = penalty.max(params.penalty.unwrap_or(0.0));
                fit.step(scene, penalty, SUPPORTS, run)?;
                let point = PathPoint::of_fit(penalty, scene, &mut fit)?;
                path.push(point);
                run.advance(path.len() as f64 / (STAGES + REFITS) as f64);
                let ended = match params.penalty {
                    Some(given) => penalty <= given,
                    None => path.len() == STAGES || PathPoint::best(&path) != Some(point),
                };
                if ended || run.is_over() {
                    break;
                }
                penalty *= FALL;
            }
            image = fit.image()?;
        }
        let errors = scene.errors(&image);
        let penalty =
            params.penalty.or(PathPoint::best(&path).map(|point| point.penalty)).unwrap_or(0.0);
        let refit = !scene.held_out.is_empty() && detail > 0.0 && !run.is_over();
        let nonzeros = if refit {
            let base = scene.base_of(Use::Known, &image, start.window)?;
            let state = fit.session.state(Share::All)?;
            drop(fit);
            let known = problem(scene, Use::Known, &base, start.dictionary, start.trust);
            let mut fit = Fit::open(engine, known, &base)?;
            fit.session.restore(&state)?;
            for refit in 0..REFITS {
                run.advance((STAGES + refit) as f64 / (STAGES + REFITS) as f64);
                fit.step(scene, penalty, SUPPORTS, run)?;
            }
            image = fit.image()?;
            nonzeros(&mut *fit.session)?
        } else {
            nonzeros(&mut *fit.session)?
        };
        Ok(Self { image, errors, penalty, path, nonzeros })
    }
}

fn nonzeros<T: Real>(session: &mut dyn Session<T>) -> Result<usize> {
    Ok(session.measure(Measure::Progress, &Context::default())?.iter().map(|m| m.nonzeros).sum())
}
