//! The four tasks of the demonstration.

use super::examples::{Examples, PEAK};
use crate::args::TellingArgs;
use crate::interrupt;
use crate::progress::Watcher;
use crate::score::Score;
use crate::synthesis::reconstruct;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::tasks::fuse::{FuseParams, Fused};
use lobcod::tasks::inpaint::{InpaintParams, Inpainted};
use lobcod::{Answer, Dictionary, Extent, LearnParams, Learnt, Penalty, PursuitParams, Signal};
use std::time::Instant;

/// Atoms that are learnt, each a patch of this many pixels in all channels.
const ATOMS: usize = 64;
const ATOM: [usize; 2] = [8, 8];
/// Passes of the learning.
const PASSES: usize = 12;
/// Share of penalty_max: a close likeness with few codes.
const PENALTY: f64 = 0.035;
/// Relative gap that the codes are proved to.
pub const TOLERANCE: f64 = 5e-4;

/// An answer and the seconds it took.
pub struct Timed<A> {
    pub answer: A,
    pub seconds: f64,
}

/// All answers, and how close each picture is to the still life.
pub struct Answers {
    /// The atoms at the start.
    pub first: Dictionary<f32>,
    /// Atoms learnt from the still life.
    pub learnt: Timed<Learnt<f32>>,
    /// Codes by those atoms.
    pub coded: Timed<Answer<f32>>,
    /// The picture that the codes stand for.
    pub reconstruction: Signal<f32>,
    /// The damaged picture, filled.
    pub filled: Timed<Inpainted<f32>>,
    /// The focus pair, fused.
    pub fused: Timed<Fused>,
    /// Scores of reconstruction, filled picture, near and far picture, fused picture.
    pub scores: [Score; 5],
}

/// Does all tasks; `None` where it was interrupted.
pub fn work(examples: &Examples, threads: usize, telling: &TellingArgs) -> Result<Option<Answers>> {
    let (original, atom) = (&examples.original, Extent::new(&ATOM)?);
    let base = Base::LocalMean.layer(original, None, atom)?;
    let details = original.minus(&base)?;
    let first = Dictionary::<f32>::random(atom, original.channels(), ATOMS, 0)?;
    let observed = [details.into()];

    let learner = LearnParams { passes: PASSES, threads, ..LearnParams::new(Penalty::Relative(PENALTY)) }.check()?;
    let learnt = timed(|| learner.run(&observed, &first, &mut Watcher::of_learning(telling, "learn: pass", PASSES)))?;
    if interrupt::asked() {
        return Ok(None);
    }
    // The same penalty as in learning, which was a share of another dictionary's largest one.
    let penalty = Penalty::Absolute(learnt.answer.report.pursuit.penalty);
    let pursuit = PursuitParams { threads, tolerance: TOLERANCE, ..PursuitParams::new(penalty) }.check()?;
    let coded = timed(|| pursuit.run(&observed, &learnt.answer.dictionary, &mut Watcher::of(telling, "encode", 1)))?;
    if interrupt::asked() {
        return Ok(None);
    }
    let reconstruction = reconstruct(&coded.answer.needles[0], &learnt.answer.dictionary, Some(&base))?;

    let inpaint = InpaintParams { threads, ..InpaintParams::default() }.check()?;
    let natural = [Dictionary::natural()];
    let filled = timed(|| inpaint.run(&examples.damaged, &examples.known, &natural, &mut Watcher::of(telling, "inpaint", 1)))?;
    if interrupt::asked() {
        return Ok(None);
    }
    let fuser = FuseParams { threads, ..FuseParams::default() }.check()?;
    let mut frames = examples.pair.to_vec();
    let fused = timed(|| fuser.run(&mut frames, &natural[0], &mut Watcher::of(telling, "fuse", 4)))?;
    if interrupt::asked() {
        return Ok(None);
    }

    let [near, far] = &examples.pair;
    let pictures = [&reconstruction, &filled.answer.picture, near, far, &fused.answer.picture];
    let mut scores = Vec::new();
    for picture in pictures {
        scores.push(Score::of(picture, original, PEAK)?);
    }
    let scores = [scores[0], scores[1], scores[2], scores[3], scores[4]];
    Ok(Some(Answers { first, learnt, coded, reconstruction, filled, fused, scores }))
}

fn timed<A>(task: impl FnOnce() -> lobcod::Result<A>) -> Result<Timed<A>> {
    let clock = Instant::now();
    let answer = task()?;
    Ok(Timed { answer, seconds: clock.elapsed().as_secs_f64() })
}
