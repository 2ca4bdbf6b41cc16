//! Atoms learnt on the damaged signal itself (eq. 15 of the paper: only known samples count).
//!
//! The penalty falls from stage to stage; once it is small enough for texture to be coded, each stage alternates support sweeps with
//! passes over the atoms. Learning ends well above the penalty the picture is coded at: further down, atoms would learn the pattern
//! of the holes.

use super::fit::{Fit, problem};
use super::pace::Pace;
use super::scene::{Scene, Use};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Problem};
use crate::error::Result;
use crate::real::Real;
use crate::signal::Signal;

/// Penalties in standard deviations of the details: where the path begins, where learning begins and where it ends.
const FIRST: f64 = 8.0;
const LEARN_FROM: f64 = 1.2;
const LAST: f64 = 0.15;
const FALL: f64 = 0.6;
/// Support sweeps at a stage, and alternations with passes over the atoms.
const SUPPORTS: usize = 2;
const ALTERNATIONS: usize = 4;

/// The dictionary after learning on the scene less its base layer.
pub(super) fn learn<T: Real>(
    engine: &dyn Engine<T>,
    scene: &Scene<T>,
    dictionary: &Dictionary<T>,
    base: &Signal<T>,
    pace: &mut Pace,
) -> Result<Dictionary<T>> {
    let detail = scene.detail(base);
    let problem = Problem { learning: true, ..problem(scene, Use::Fitted, base, dictionary, 0.0) };
    let mut fit = Fit::open(engine, problem, base, pace)?;
    let mut share = FIRST;
    while !pace.is_over() {
        fit.step(share * detail, SUPPORTS, pace);
        for _ in 0..if share <= LEARN_FROM { ALTERNATIONS } else { 0 } {
            if pace.is_over() {
                break;
            }
            fit.session.improve_atoms();
            fit.support(share * detail, pace);
        }
        if share <= LAST {
            break;
        }
        share = f64::max(FALL * share, LAST);
    }
    Ok(fit.session.dictionary().clone())
}
