//! Learns atoms on the damaged signal itself (eq. 15: only known samples count).
//!
//! Once the falling penalty is small enough for texture, stages alternate support sweeps with
//! passes over the atoms. Learning ends well above the final penalty: below, atoms would learn the
//! pattern of the holes.

use super::fit::{Fit, problem};
use super::path::falling_to;
use super::scene::{Scene, Use};
use lobcod::dictionary::Constraints;
use lobcod::engine::{Engine, Problem};
use lobcod::run::Run;
use lobcod::{Dictionary, Real, Result, Signal};

/// Penalties in standard deviations of the details at which learning begins and ends.
const LEARN_FROM: f64 = 1.2;
const LAST: f64 = 0.15;
/// Factor of the penalty from stage to stage.
const FALL: f64 = 0.6;
/// Support sweeps per stage, and alternations with passes over the atoms.
const SUPPORTS: usize = 2;
const ALTERNATIONS: usize = 4;

/// Learns the dictionary on the scene minus its base layer.
pub fn learn<T: Real>(
    engine: &dyn Engine<T>,
    scene: &Scene<T>,
    dictionary: &Dictionary<T>,
    base: &Signal<T>,
    run: &mut Run,
) -> Result<Dictionary<T>> {
    let detail = scene.detail(base);
    let problem = Problem { learning: true, ..problem(scene, Use::Fitted, base, dictionary, 0.0) };
    let mut fit = Fit::open(engine, problem, base)?;
    let stages = falling_to(LAST, FALL).count();
    for (number, stage) in falling_to(LAST, FALL).enumerate() {
        run.advance(number as f64 / stages as f64);
        fit.step(scene, stage * detail, SUPPORTS, run)?;
        for _ in 0..if stage <= LEARN_FROM { ALTERNATIONS } else { 0 } {
            if run.is_over() {
                break;
            }
            fit.session.learning().improve_atoms(&Constraints::default(), run.context())?;
            fit.support(scene, stage * detail, run)?;
        }
        if run.is_over() {
            break;
        }
    }
    Ok(fit.session.dictionary().clone())
}
