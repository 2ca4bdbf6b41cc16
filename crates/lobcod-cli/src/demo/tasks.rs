//! The four tasks of the demo.

use super::examples::{Examples, PEAK};
use crate::args::ConsoleArgs;
use crate::interrupt;
use crate::progress::Watcher;
use crate::score::Score;
use crate::synthesis::reconstruct;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::run::Clock;
use lobcod::{Answer, Dictionary, Extent, LearnParams, Learnt, Penalty, PursuitParams, Signal};
use lobcod_tasks::fuse::{FuseParams, Fused};
use lobcod_tasks::inpaint::{InpaintParams, Inpainted};

/// Number and size of the learnt atoms, which span all channels.
const ATOMS: usize = 64;
const ATOM: [usize; 2] = [8, 8];
/// Number of learning passes.
const PASSES: usize = 12;
/// Penalty as a fraction of penalty_max: an accurate reconstruction with few codes.
const PENALTY: f64 = 0.035;
/// Target relative gap of the codes.
pub const TOLERANCE: f64 = 5e-4;

/// A result and its run time in seconds.
pub struct Timed<A> {
    pub answer: A,
    pub seconds: f64,
}

/// All results, and their scores against the still life.
pub struct Answers {
    /// The initial atoms.
    pub first: Dictionary<f32>,
    /// The atoms learnt from the still life.
    pub learnt: Timed<Learnt<f32>>,
    /// The codes of the still life with those atoms.
    pub coded: Timed<Answer<f32>>,
    /// The reconstruction from the codes.
    pub reconstruction: Signal<f32>,
    /// The inpainted image.
    pub filled: Timed<Inpainted<f32>>,
    /// The fused focus pair.
    pub fused: Timed<Fused>,
    /// Scores of reconstruction, filled image, near and far image, fused image.
    pub scores: [Score; 5],
}

/// Runs all tasks; `None` if interrupted.
pub fn work(examples: &Examples, threads: usize, console: &ConsoleArgs) -> Result<Option<Answers>> {
    let engine = CpuEngine::new(threads)?;
    let (original, atom) = (&examples.original, Extent::new(&ATOM)?);
    let base = Base::LocalMean.layer(original, None, atom)?;
    let details = original.minus(&base)?;
    let first = Dictionary::<f32>::random(atom, original.channels(), ATOMS, 0)?;
    let observed = [details.into()];

    let learner =
        LearnParams::new(Penalty::Relative(PENALTY)).with(|p| p.passes = PASSES).check()?;
    let learnt = timed(|| {
        learner.run(
            &engine,
            &observed,
            &first,
            &mut Watcher::of_learning(console, "learn: pass", PASSES),
        )
    })?;
    if interrupt::requested() {
        return Ok(None);
    }
    // The same absolute penalty as in learning, where it was a fraction of the penalty_max of
    // another dictionary.
    let penalty = Penalty::Absolute(learnt.answer.report.pursuit.penalty);
    let pursuit = PursuitParams::new(penalty).with(|p| p.tolerance = TOLERANCE).check()?;
    let coded = timed(|| {
        pursuit.run(
            &engine,
            &observed,
            &learnt.answer.dictionary,
            &mut Watcher::of(console, "encode"),
        )
    })?;
    if interrupt::requested() {
        return Ok(None);
    }
    let reconstruction =
        reconstruct(&coded.answer.needles[0], &learnt.answer.dictionary, Some(&base))?;

    let inpaint = InpaintParams::default().check()?;
    let natural = [Dictionary::natural()];
    let filled = timed(|| {
        inpaint.run(
            &engine,
            &examples.damaged,
            &examples.known,
            &natural,
            &mut Watcher::of(console, "inpaint"),
        )
    })?;
    if interrupt::requested() {
        return Ok(None);
    }
    let fuser = FuseParams::default().check()?;
    let mut frames = examples.pair.to_vec();
    let fused =
        timed(|| fuser.run(&engine, &mut frames, &natural[0], &mut Watcher::of(console, "fuse")))?;
    if interrupt::requested() {
        return Ok(None);
    }

    let [near, far] = &examples.pair;
    let images = [&reconstruction, &filled.answer.image, near, far, &fused.answer.image];
    let mut scores = Vec::new();
    for image in images {
        scores.push(Score::of(image, original, PEAK)?);
    }
    let scores = [scores[0], scores[1], scores[2], scores[3], scores[4]];
    Ok(Some(Answers { first, learnt, coded, reconstruction, filled, fused, scores }))
}

fn timed<A>(task: impl FnOnce() -> lobcod::Result<A>) -> Result<Timed<A>> {
    let clock = Clock::start();
    let answer = task()?;
    Ok(Timed { answer, seconds: clock.elapsed().as_secs_f64() })
}
