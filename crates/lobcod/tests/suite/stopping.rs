//! Runs that are stopped in the middle of a sweep: the result is consistent, its report is true,
//! and it can be resumed.
//!
//! No test depends on a clock: the stop condition is checked before every tile, and the checks are
//! counted.

use lobcod::checkpoint::{Checkpoint, LearnCheckpoint};
use lobcod::learn::Method;
use lobcod::pursuit::Schedule;
use lobcod::run::Stop;
use lobcod::{
    Border, Control, Dictionary, Error, Extent, LearnParams, Mask, Observed, Observer, Penalty,
    Progress, Result, Signal, Status,
};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{Extra, Observation, SHAPES};
use lobcod_conformance::{Oracle, Problem};
use lobcod_tasks::inpaint::InpaintParams;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Stops the run at check number `last`, and stores the checkpoints.
struct Stopper {
    checked: Arc<AtomicUsize>,
    last: usize,
    pursuit: Vec<Checkpoint>,
    learning: Vec<LearnCheckpoint>,
}

impl Stopper {
    fn at(last: usize) -> Self {
        Self { checked: Arc::default(), last, pursuit: Vec::new(), learning: Vec::new() }
    }
}

impl Observer for Stopper {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn stop(&self) -> Stop {
        let checked = self.checked.clone();
        let last = self.last;
        Stop::when(move || checked.fetch_add(1, SeqCst) >= last)
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Result<Checkpoint>) {
        self.pursuit.extend(take());
    }

    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        self.learning.extend(take());
    }
}

/// Increasingly distant numbers of checks at which to stop, up to one that is never reached.
fn stops(checks: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(0), |n| Some(n + 1 + n / 3)).take_while(move |&n| n < checks)
}

#[test]
fn a_pursuit_stopped_anywhere_reports_truthfully_and_resumes_bit_identically() {
    let problem =
        Problem::new(5, SHAPES[14], Border::Free, Observation::Full, Extra::Plain).unwrap();
    let observed = std::slice::from_ref(&problem.observed);
    for (schedule, threads) in [(Schedule::Tiles, 1), (Schedule::Tiles, 2), (Schedule::Layers, 1)] {
        let params = problem.params.clone().with(|p| {
            p.schedule = schedule;
            p.tile = Some(8);
            p.tolerance = 1e-6;
        });
        let pursuit = params.clone().check().unwrap();
        let mut patient = Stopper::at(usize::MAX);
        let whole =
            pursuit.run(&cpu(threads), observed, &problem.dictionary, &mut patient).unwrap();
        let checks = patient.checked.load(SeqCst);
        assert_eq!(
            whole.needles,
            pursuit.run(&cpu(threads), observed, &problem.dictionary, &mut ()).unwrap().needles,
            "checking the stop condition changed the answer"
        );
        let oracle = Oracle::new(&params, &problem.observed, &problem.dictionary);
        let mut resumed = 0;
        for last in stops(checks) {
            let mut stopper = Stopper::at(last);
            let answer =
                match pursuit.run(&cpu(threads), observed, &problem.dictionary, &mut stopper) {
                    Err(Error::Stopped) => continue,
                    answer => answer.unwrap(),
                };
            let codes = oracle.codes(&answer.needles[0]);
            let (total, objective) = (answer.report.total, oracle.objective(&codes));
            assert_eq!(
                answer.report.status,
                Status::Interrupted,
                "stopped at check {last} of {checks}, {schedule:?}"
            );
            assert!(
                (total.objective - objective).abs() <= 1e-12 * objective,
                "objective {} reported, {objective} true",
                total.objective
            );
            assert!(
                oracle.gap(&codes) <= total.gap + 1e-12 * objective
                    || total.gap >= objective - whole.report.total.objective
            );
            assert!(
                total.objective - total.gap <= whole.report.total.objective * (1.0 + 1e-12),
                "the bound is below the optimum"
            );
            if let Some(checkpoint) = stopper.pursuit.last() {
                let again = pursuit
                    .resume(&cpu(0), checkpoint, observed, &problem.dictionary, &mut ())
                    .unwrap();
                assert_eq!(
                    (again.needles, again.report.total),
                    (whole.needles.clone(), whole.report.total)
                );
                resumed += 1;
            }
        }
        assert!(resumed > 3, "{resumed} resumed of {checks} checks");
    }
}

#[test]
fn no_tile_is_processed_after_a_stop() {
    let problem =
        Problem::new(5, SHAPES[14], Border::Free, Observation::Full, Extra::Plain).unwrap();
    let observed = std::slice::from_ref(&problem.observed);
    let penalty = Penalty::Absolute(0.01);
    let params = problem.params.clone().with(|p| {
        p.penalty = penalty;
        p.tile = Some(8);
        p.tolerance = 0.0;
    });
    let pursuit = params.check().unwrap();
    // Stopped before the first tile, the answer is zero and nothing is certified.
    let mut stopper = Stopper::at(0);
    let none = pursuit.run(&cpu(1), observed, &problem.dictionary, &mut stopper).unwrap().report;
    assert_eq!((none.status, none.total.nonzeros), (Status::Interrupted, 0));
    // Each further tile adds only its codes.
    let mut before = 0;
    let mut grew = 0;
    for last in 0..40 {
        let codes = pursuit
            .run(&cpu(1), observed, &problem.dictionary, &mut Stopper::at(last))
            .unwrap()
            .report
            .total
            .nonzeros;
        grew += usize::from(codes > before);
        before = codes;
    }
    assert!(grew > 3, "{grew} of 40 stops had more codes than the previous one");
}

fn images() -> (Vec<Observed<f32>>, Dictionary<f32>) {
    let image = |phase: f32| {
        let wave = |i: usize| {
            ((i % 76) as f32 * 0.9 + phase).sin()
                + ((i / 76) as f32 * 0.31 * phase).cos()
                + (i * i % 17) as f32 * 0.1
        };
        Signal::from_planar(Extent::new(&[70, 76]).unwrap(), 1, (0..70 * 76).map(wave).collect())
            .unwrap()
            .into()
    };
    (
        vec![image(1.0), image(2.0)],
        Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 12, 3).unwrap(),
    )
}

#[test]
fn learning_stopped_anywhere_keeps_whole_passes_and_resumes_bit_identically() {
    let (signals, first) = images();
    for method in [Method::Atomwise, Method::Batch] {
        let params = LearnParams::new(Penalty::Relative(0.05)).with(|p| {
            p.method = method;
            p.passes = 4;
        });
        let learner = params.check().unwrap();
        let mut patient = Stopper::at(usize::MAX);
        let whole = learner.run(&cpu(1), &signals, &first, &mut patient).unwrap();
        let checks = patient.checked.load(SeqCst);
        let mut resumed = 0;
        for last in stops(checks) {
            let mut stopper = Stopper::at(last);
            let learnt = match learner.run(&cpu(1), &signals, &first, &mut stopper) {
                Err(Error::Stopped) => continue,
                learnt => learnt.unwrap(),
            };
            let passes = learnt.report.passes;
            assert_eq!(
                learnt.report.pursuit.status,
                Status::Interrupted,
                "stopped at check {last} of {checks}"
            );
            assert!(
                passes == 0
                    || learnt.report.history[..][passes - 1].objective
                        == whole.report.history[passes - 1].objective
            );
            let moved = learnt
                .dictionary
                .data()
                .iter()
                .zip(first.data())
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(passes > 0 || moved < 1e-6, "no pass was done, but the atoms moved by {moved}");
            if let Some(checkpoint) = stopper.learning.last() {
                let again = learner.resume(&cpu(0), checkpoint, &signals, &first, &mut ()).unwrap();
                assert_eq!(
                    (again.dictionary, again.needles),
                    (whole.dictionary.clone(), whole.needles.clone())
                );
                resumed += 1;
            }
        }
        assert!(resumed > 1, "{resumed} resumed of {checks} checks");
    }
}

#[test]
fn a_stream_stopped_anywhere_is_unchanged() {
    let (signals, first) = images();
    let learner = LearnParams::new(Penalty::Relative(0.05)).check().unwrap();
    let mut patient = Stopper::at(usize::MAX);
    learner.stream(&first).unwrap().partial_fit(&cpu(1), &signals, &mut patient).unwrap();
    for last in stops(patient.checked.load(SeqCst)) {
        let mut stream = learner.stream(&first).unwrap();
        assert_eq!(
            stream.partial_fit(&cpu(1), &signals, &mut Stopper::at(last)).unwrap(),
            Control::Stop,
            "at check {last}"
        );
        assert!(stream.history().is_empty() && *stream.dictionary() == first);
    }
}

#[test]
fn inpainting_stopped_anywhere_fills_every_hole() {
    let (mut signals, _) = images();
    let image = signals.remove(0).signal;
    let known: Vec<bool> = (0..image.data().len()).map(|i| i % 3 != 1).collect();
    let mask = Mask::from_known(image.extent(), &known).unwrap();
    let inpaint = InpaintParams::default().check().unwrap();
    let natural = [Dictionary::natural()];
    let mut patient = Stopper::at(usize::MAX);
    inpaint.run(&cpu(1), &image, &mask, &natural, &mut patient).unwrap();
    for last in stops(patient.checked.load(SeqCst)) {
        let filled = inpaint.run(&cpu(1), &image, &mask, &natural, &mut Stopper::at(last)).unwrap();
        assert_eq!(filled.report.status, Status::Interrupted, "at check {last}");
        assert!(filled.image.data().iter().all(|x| x.is_finite()));
    }
}
