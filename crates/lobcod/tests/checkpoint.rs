//! A run broken off between any two passes and resumed gives the answer of the unbroken run, bit for bit.

use lobcod::{
    Border, Checkpoint, Control, Dictionary, Error, Extent, Observed, Observer, Penalty, Progress, Pursuit, PursuitParams,
    Schedule, Signal,
};

/// Keeps every checkpoint.
#[derive(Default)]
struct Keeper(Vec<Checkpoint>);

impl Observer for Keeper {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Checkpoint) {
        self.0.push(take());
    }
}

fn problem() -> (Vec<Observed<f32>>, Dictionary<f32>) {
    let signal = |h: usize, w: usize, phase: f32| {
        let wave =
            |i: usize| ((i % w) as f32 * 0.9 + phase).sin() + ((i / w) as f32 * 0.31 * phase).cos() + (i * i % 17) as f32 * 0.1;
        Signal::from_planar(Extent::new(&[h, w]).unwrap(), 1, (0..h * w).map(wave).collect()).unwrap()
    };
    let dictionary = Dictionary::random(Extent::new(&[4, 5]).unwrap(), 1, 24, 3).unwrap();
    (vec![signal(29, 41, 1.0).into(), signal(17, 23, 2.0).into()], dictionary)
}

fn pursuit(schedule: Schedule, border: Border) -> Pursuit {
    let params = PursuitParams::new(Penalty::Relative(0.03));
    PursuitParams { schedule, border, tile: Some(9), tolerance: 1e-5, max_sweeps: 60, threads: 2, ..params }.check().unwrap()
}

#[test]
fn resumed_runs_end_with_the_same_bits() {
    let (signals, dictionary) = problem();
    for (schedule, border) in
        [(Schedule::Tiles, Border::Free), (Schedule::Tiles, Border::Periodic), (Schedule::Layers, Border::Zero)]
    {
        let pursuit = pursuit(schedule, border);
        let mut keeper = Keeper::default();
        let whole = pursuit.run(&signals, &dictionary, &mut keeper).unwrap();
        assert!(keeper.0.len() >= 4, "{schedule:?}: {} passes are too few to test anything", keeper.0.len());
        for checkpoint in keeper.0.iter().step_by(3) {
            let resumed = pursuit.resume(checkpoint, &signals, &dictionary, &mut ()).unwrap();
            assert_eq!(resumed.needles, whole.needles, "{schedule:?} after {} sweeps", checkpoint.discovery_sweeps);
            assert_eq!(resumed.report.total, whole.report.total);
            assert_eq!(resumed.report.discovery_sweeps, whole.report.discovery_sweeps);
            assert_eq!(resumed.report.history.len(), whole.report.history.len());
        }
    }
}

#[test]
fn a_checkpoint_of_another_problem_is_refused() {
    let (mut signals, dictionary) = problem();
    let pursuit = pursuit(Schedule::Tiles, Border::Free);
    let mut keeper = Keeper::default();
    pursuit.run(&signals, &dictionary, &mut keeper).unwrap();
    signals[0].signal.data_mut()[7] += 1.0;
    let refused = pursuit.resume(&keeper.0[0], &signals, &dictionary, &mut ());
    assert!(matches!(refused, Err(Error::Data(_))), "{refused:?}");
}
