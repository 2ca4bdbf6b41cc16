//! Work that is stopped in the middle of a sweep: what it leaves is whole, honest, and can be gone on with.
//!
//! Nothing here looks at a clock: the work asks before every tile whether it is to stop, and the answer is counted.

use lobcod::tasks::inpaint::InpaintParams;
use lobcod::{
    Border, Checkpoint, Control, Dictionary, Error, Extent, LearnCheckpoint, LearnParams, Mask, Method, Observed, Observer,
    Penalty, Progress, PursuitParams, Schedule, Signal, Status, Stop,
};
use lobcod_conformance::problems::{Extra, Observation, SHAPES};
use lobcod_conformance::{Oracle, Problem};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Stops the work at its question number `last`, and keeps the checkpoints.
struct Stopper {
    asked: Arc<AtomicUsize>,
    last: usize,
    pursuit: Vec<Checkpoint>,
    learning: Vec<LearnCheckpoint>,
}

impl Stopper {
    fn at(last: usize) -> Self {
        Self { asked: Arc::default(), last, pursuit: Vec::new(), learning: Vec::new() }
    }
}

impl Observer for Stopper {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn stop(&self) -> Stop {
        let (asked, last) = (self.asked.clone(), self.last);
        Stop::when(move || asked.fetch_add(1, SeqCst) >= last)
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Checkpoint) {
        self.pursuit.push(take());
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> LearnCheckpoint) {
        self.learning.push(take());
    }
}

/// Numbers of questions to stop at, ever further apart, up to one that is never asked.
fn moments(questions: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(0), |n| Some(n + 1 + n / 3)).take_while(move |&n| n < questions)
}

#[test]
fn a_pursuit_stopped_anywhere_tells_the_truth_and_resumes_to_the_same_bits() {
    let problem = Problem::new(5, SHAPES[14], Border::Free, Observation::Full, Extra::Plain).unwrap();
    let observed = std::slice::from_ref(&problem.observed);
    for (schedule, threads) in [(Schedule::Tiles, 1), (Schedule::Tiles, 2), (Schedule::Layers, 1)] {
        let params = PursuitParams { schedule, threads, tile: Some(8), tolerance: 1e-6, ..problem.params.clone() };
        let pursuit = params.clone().check().unwrap();
        let mut patient = Stopper::at(usize::MAX);
        let whole = pursuit.run(observed, &problem.dictionary, &mut patient).unwrap();
        let questions = patient.asked.load(SeqCst);
        assert_eq!(whole.needles, pursuit.run(observed, &problem.dictionary, &mut ()).unwrap().needles, "asking changes nothing");
        let oracle = Oracle::new(&params, &problem.observed, &problem.dictionary);
        let mut resumed = 0;
        for last in moments(questions) {
            let mut stopper = Stopper::at(last);
            let answer = match pursuit.run(observed, &problem.dictionary, &mut stopper) {
                Err(Error::Stopped) => continue,
                answer => answer.unwrap(),
            };
            let codes = oracle.codes(&answer.needles[0]);
            let (total, objective) = (answer.report.total, oracle.objective(&codes));
            assert_eq!(answer.report.status, Status::Interrupted, "stopped at question {last} of {questions}, {schedule:?}");
            assert!(
                (total.objective - objective).abs() <= 1e-12 * objective,
                "objective {} told, {objective} true",
                total.objective
            );
            assert!(oracle.gap(&codes) <= total.gap + 1e-12 * objective || total.gap >= objective - whole.report.total.objective);
            assert!(
                total.objective - total.gap <= whole.report.total.objective * (1.0 + 1e-12),
                "the bound is below the optimum"
            );
            if let Some(checkpoint) = stopper.pursuit.last() {
                let again = pursuit.resume(checkpoint, observed, &problem.dictionary, &mut ()).unwrap();
                assert_eq!((again.needles, again.report.total), (whole.needles.clone(), whole.report.total));
                resumed += 1;
            }
        }
        assert!(resumed > 3, "{resumed} resumed of {questions} questions");
    }
}

#[test]
fn no_tile_is_worked_on_once_it_is_time() {
    let problem = Problem::new(5, SHAPES[14], Border::Free, Observation::Full, Extra::Plain).unwrap();
    let observed = std::slice::from_ref(&problem.observed);
    let penalty = Penalty::Absolute(0.01);
    let params = PursuitParams { penalty, threads: 1, tile: Some(8), tolerance: 0.0, ..problem.params.clone() };
    let pursuit = params.check().unwrap();
    // Stopped before the first tile the answer is zero, and nothing is claimed of it.
    let mut stopper = Stopper::at(0);
    let none = pursuit.run(observed, &problem.dictionary, &mut stopper).unwrap().report;
    assert_eq!((none.status, none.total.nonzeros), (Status::Interrupted, 0));
    // Each further tile adds its codes and no more.
    let mut before = 0;
    let mut grew = 0;
    for last in 0..40 {
        let codes = pursuit.run(observed, &problem.dictionary, &mut Stopper::at(last)).unwrap().report.total.nonzeros;
        grew += usize::from(codes > before);
        before = codes;
    }
    assert!(grew > 3, "{grew} of 40 moments had more codes than the one before");
}

fn pictures() -> (Vec<Observed<f32>>, Dictionary<f32>) {
    let picture = |phase: f32| {
        let wave =
            |i: usize| ((i % 76) as f32 * 0.9 + phase).sin() + ((i / 76) as f32 * 0.31 * phase).cos() + (i * i % 17) as f32 * 0.1;
        Signal::from_planar(Extent::new(&[70, 76]).unwrap(), 1, (0..70 * 76).map(wave).collect()).unwrap().into()
    };
    (vec![picture(1.0), picture(2.0)], Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 12, 3).unwrap())
}

#[test]
fn learning_stopped_anywhere_keeps_whole_passes_and_resumes_to_the_same_bits() {
    let (signals, first) = pictures();
    for method in [Method::Atomwise, Method::Batch] {
        let params = LearnParams { method, passes: 4, threads: 1, ..LearnParams::new(Penalty::Relative(0.05)) };
        let learner = params.check().unwrap();
        let mut patient = Stopper::at(usize::MAX);
        let whole = learner.run(&signals, &first, &mut patient).unwrap();
        let questions = patient.asked.load(SeqCst);
        let mut resumed = 0;
        for last in moments(questions) {
            let mut stopper = Stopper::at(last);
            let learnt = match learner.run(&signals, &first, &mut stopper) {
                Err(Error::Stopped) => continue,
                learnt => learnt.unwrap(),
            };
            let passes = learnt.report.passes;
            assert_eq!(learnt.report.pursuit.status, Status::Interrupted, "stopped at question {last} of {questions}");
            assert!(passes == 0 || learnt.report.history[..][passes - 1].objective == whole.report.history[passes - 1].objective);
            let moved = learnt.dictionary.data().iter().zip(first.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(passes > 0 || moved < 1e-6, "no pass was done, but the atoms moved by {moved}");
            if let Some(checkpoint) = stopper.learning.last() {
                let again = learner.resume(checkpoint, &signals, &first, &mut ()).unwrap();
                assert_eq!((again.dictionary, again.needles), (whole.dictionary.clone(), whole.needles.clone()));
                resumed += 1;
            }
        }
        assert!(resumed > 1, "{resumed} resumed of {questions} questions");
    }
}

#[test]
fn a_stream_stopped_anywhere_is_as_it_was() {
    let (signals, first) = pictures();
    let learner = LearnParams { threads: 1, ..LearnParams::new(Penalty::Relative(0.05)) }.check().unwrap();
    let mut patient = Stopper::at(usize::MAX);
    learner.stream(&first).unwrap().partial_fit(&signals, &mut patient).unwrap();
    for last in moments(patient.asked.load(SeqCst)) {
        let mut stream = learner.stream(&first).unwrap();
        assert_eq!(stream.partial_fit(&signals, &mut Stopper::at(last)).unwrap(), Control::Stop, "at question {last}");
        assert!(stream.history().is_empty() && *stream.dictionary() == first);
    }
}

#[test]
fn inpainting_stopped_anywhere_fills_every_hole() {
    let (mut signals, _) = pictures();
    let picture = signals.remove(0).signal;
    let known: Vec<bool> = (0..picture.data().len()).map(|i| i % 3 != 1).collect();
    let mask = Mask::from_known(picture.extent(), &known).unwrap();
    let inpaint = InpaintParams { threads: 1, ..InpaintParams::default() }.check().unwrap();
    let natural = [Dictionary::natural()];
    let mut patient = Stopper::at(usize::MAX);
    inpaint.run(&picture, &mask, &natural, &mut patient).unwrap();
    for last in moments(patient.asked.load(SeqCst)) {
        let filled = inpaint.run(&picture, &mask, &natural, &mut Stopper::at(last)).unwrap();
        assert_eq!(filled.report.status, Status::Interrupted, "at question {last}");
        assert!(filled.picture.data().iter().all(|x| x.is_finite()));
    }
}
