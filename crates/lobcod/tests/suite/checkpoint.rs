//! A run interrupted between any two passes and resumed gives a bit-identical answer.

use lobcod::checkpoint::Checkpoint;
use lobcod::pursuit::Schedule;
use lobcod::{
    Border, Control, Dictionary, Error, Extent, Observed, Observer, Penalty, Progress, Pursuit,
    PursuitParams, Result, Signal,
};
use lobcod_conformance::cpu;

/// Stores every checkpoint.
#[derive(Default)]
struct Keeper(Vec<Checkpoint>);

impl Observer for Keeper {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Result<Checkpoint>) {
        self.0.extend(take());
    }
}

fn problem() -> (Vec<Observed<f32>>, Dictionary<f32>) {
    let signal = |h: usize, w: usize, phase: f32| {
        let wave = |i: usize| {
            ((i % w) as f32 * 0.9 + phase).sin()
                + ((i / w) as f32 * 0.31 * phase).cos()
                + (i * i % 17) as f32 * 0.1
        };
        Signal::from_planar(Extent::new(&[h, w]).unwrap(), 1, (0..h * w).map(wave).collect())
            .unwrap()
    };
    let dictionary = Dictionary::random(Extent::new(&[4, 5]).unwrap(), 1, 24, 3).unwrap();
    (vec![signal(29, 41, 1.0).into(), signal(17, 23, 2.0).into()], dictionary)
}

fn pursuit(schedule: Schedule, border: Border, smooth_layer: f64) -> Pursuit {
    let params = PursuitParams::new(Penalty::Relative(0.03));
    params
        .with(|p| {
            p.schedule = schedule;
            p.border = border;
            p.smooth_layer = smooth_layer;
            p.tile = Some(9);
            p.tolerance = 1e-5;
            p.max_sweeps = 60;
        })
        .check()
        .unwrap()
}

#[test]
fn resumed_runs_are_bit_identical() {
    let (signals, dictionary) = problem();
    for (schedule, border, smooth_layer) in [
        (Schedule::Tiles, Border::Free, 0.0),
        (Schedule::Tiles, Border::Periodic, 0.0),
        (Schedule::Layers, Border::Zero, 0.0),
        (Schedule::Tiles, Border::Free, 5.0),
        (Schedule::Layers, Border::Free, 5.0),
    ] {
        let pursuit = pursuit(schedule, border, smooth_layer);
        let mut keeper = Keeper::default();
        let whole = pursuit.run(&cpu(0), &signals, &dictionary, &mut keeper).unwrap();
        assert!(
            keeper.0.len() >= 4,
            "{schedule:?}: {} passes are too few to test anything",
            keeper.0.len()
        );
        for checkpoint in keeper.0.iter().step_by(3) {
            let resumed =
                pursuit.resume(&cpu(0), checkpoint, &signals, &dictionary, &mut ()).unwrap();
            assert_eq!(
                resumed.needles, whole.needles,
                "{schedule:?} after {} sweeps",
                checkpoint.discovery_sweeps
            );
            assert_eq!(resumed.report.total, whole.report.total);
            assert_eq!(resumed.layers, whole.layers);
            assert_eq!(resumed.report.discovery_sweeps, whole.report.discovery_sweeps);
            assert_eq!(resumed.report.history.len(), whole.report.history.len());
        }
    }
}

#[test]
fn runs_with_fits_of_all_codes_resume_bit_identically() {
    let (signals, dictionary) = problem();
    let plain = pursuit(Schedule::Tiles, Border::Free, 0.0);
    for (nonnegative, elastic) in [(true, 0.0), (false, 0.05)] {
        let params =
            plain.params().clone().with(|p| (p.nonnegative, p.elastic) = (nonnegative, elastic));
        let pursuit = params.with(|p| (p.max_sweeps, p.tolerance) = (200, 1e-7)).check().unwrap();
        let mut keeper = Keeper::default();
        let whole = pursuit.run(&cpu(0), &signals, &dictionary, &mut keeper).unwrap();
        // After a fit, every tile is swept again.
        let fitted = |c: &Checkpoint| c.state.pending.concat().iter().all(|p| p.is_infinite());
        assert!(keeper.0.iter().any(fitted), "no codes were fitted");
        for checkpoint in &keeper.0 {
            let resumed =
                pursuit.resume(&cpu(0), checkpoint, &signals, &dictionary, &mut ()).unwrap();
            assert_eq!(
                resumed.needles, whole.needles,
                "after {} sweeps",
                checkpoint.discovery_sweeps
            );
            assert_eq!(resumed.report.total, whole.report.total);
        }
    }
}

#[test]
fn a_checkpoint_of_another_problem_is_rejected() {
    let (mut signals, dictionary) = problem();
    let pursuit = pursuit(Schedule::Tiles, Border::Free, 0.0);
    let mut keeper = Keeper::default();
    pursuit.run(&cpu(0), &signals, &dictionary, &mut keeper).unwrap();
    signals[0].signal.data_mut()[7] += 1.0;
    let refused = pursuit.resume(&cpu(0), &keeper.0[0], &signals, &dictionary, &mut ());
    assert!(matches!(refused, Err(Error::Data(_))), "{refused:?}");
}
