//! Learning lowers the objective, recovers planted atoms, and is bit-identical for any number of
//! threads.

use lobcod::{
    Border, Control, Dictionary, Extent, LearnParams, Mask, Needles, Observed, Penalty, Progress,
    Signal, Status,
};
use lobcod::{Code, Learnt};
use lobcod_conformance::cpu;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::StandardNormal;

/// Signals synthesised from known atoms at random positions, with noise.
fn planted(
    truth: &Dictionary<f32>,
    axes: &[usize],
    signals: usize,
    density: f64,
    noise: f32,
) -> Vec<Observed<f32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let extent = Extent::new(axes).unwrap();
    let (l, h) = (extent.padded(), truth.extent().padded());
    let signal = |_| {
        let count = (density * extent.volume() as f64) as usize;
        let codes = (0..count).map(|_| Code {
            position: std::array::from_fn(|a| rng.random_range(1 - h[a] as i32..l[a] as i32)),
            atom: rng.random_range(0..truth.len() as u32),
            channel: 0,
            value: (1.0 + rng.random_range(0.0..2.0f32))
                * if rng.random_range(0..2) == 0 { 1.0 } else { -1.0 },
        });
        let codes: Vec<Code<f32>> = codes.collect();
        let mut signal =
            Needles::new(extent, truth.channels(), Border::Free, codes).synthesise(truth).unwrap();
        signal
            .data_mut()
            .iter_mut()
            .for_each(|x| *x += noise * rng.sample::<f32, _>(StandardNormal));
        signal.into()
    };
    (0..signals).map(signal).collect()
}

/// Largest correlation of a true atom with a learnt one over all shifts and signs: 1 if it was
/// recovered.
fn recovery(truth: &Dictionary<f32>, learnt: &Dictionary<f32>) -> Vec<f32> {
    let h = truth.extent().padded();
    let reach = h.map(|l| l as i32 - 1);
    let overlap = |a: &[f32], b: &[f32], s: [i32; 3]| -> f32 {
        let volume: usize = h.iter().product();
        let at = |i: usize| [i / volume, i / (h[1] * h[2]) % h[0], i / h[2] % h[1], i % h[2]];
        let shifted = |i: usize| {
            let [c, z, y, x] = at(i);
            let p: [i32; 3] = std::array::from_fn(|a| [z, y, x][a] as i32 + s[a]);
            let inside = (0..3).all(|a| (0..h[a] as i32).contains(&p[a]));
            inside
                .then(|| ((c * h[0] + p[0] as usize) * h[1] + p[1] as usize) * h[2] + p[2] as usize)
        };
        (0..a.len()).filter_map(|i| shifted(i).map(|j| a[i] * b[j])).sum::<f32>().abs()
    };
    let best = |k: usize| {
        let mut most = 0.0f32;
        for j in 0..learnt.len() {
            for z in -reach[0]..=reach[0] {
                for y in -reach[1]..=reach[1] {
                    for x in -reach[2]..=reach[2] {
                        most = most.max(overlap(truth.atom(k), learnt.atom(j), [z, y, x]));
                    }
                }
            }
        }
        most
    };
    (0..truth.len()).map(best).collect()
}

fn learn(params: LearnParams, signals: &[Observed<f32>], first: &Dictionary<f32>) -> Learnt<f32> {
    learn_on(1, params, signals, first)
}

fn learn_on(
    threads: usize,
    params: LearnParams,
    signals: &[Observed<f32>],
    first: &Dictionary<f32>,
) -> Learnt<f32> {
    params.check().unwrap().run(&cpu(threads), signals, first, &mut ()).unwrap()
}

fn params() -> LearnParams {
    LearnParams::new(Penalty::Absolute(0.3)).with(|p| p.passes = 100)
}

#[test]
fn planted_atoms_are_recovered_from_any_start() {
    for (axes, atom, atoms, signals, density) in
        [(&[1500][..], &[12][..], 4, 3, 0.03), (&[90, 90], &[5, 5], 6, 5, 0.015)]
    {
        let extent = Extent::new(atom).unwrap();
        let truth = Dictionary::random(extent, 1, atoms, 99).unwrap();
        let signals = planted(&truth, axes, signals, density, 0.02);
        let plain: Vec<Signal<f32>> = signals.iter().map(|s| s.signal.clone()).collect();
        // As many atoms as planted, and twice as many.
        for (name, first) in [
            ("patches", Dictionary::patches(&plain, extent, atoms, 1).unwrap()),
            ("random", Dictionary::random(extent, 1, atoms, 3).unwrap()),
            ("twice as many", Dictionary::patches(&plain, extent, 2 * atoms, 1).unwrap()),
        ] {
            let learnt = learn(params(), &signals, &first);
            let found = recovery(&truth, &learnt.dictionary);
            assert!(found.iter().all(|&r| r > 0.97), "{axes:?} {name}: recovered {found:?}");
            let at_first = recovery(&truth, &first);
            assert!(
                at_first.iter().any(|&r| r < 0.9),
                "{axes:?} {name}: there was nothing to learn, {at_first:?}"
            );
        }
    }
}

#[test]
fn the_objective_never_rises_and_is_that_of_dictionary_and_needles() {
    let truth = Dictionary::random(Extent::new(&[4, 6]).unwrap(), 1, 5, 7).unwrap();
    let mut signals = planted(&truth, &[40, 33], 1, 0.02, 0.05);
    signals.extend(planted(&truth, &[21, 52], 1, 0.02, 0.05));
    for border in Border::ALL {
        let params = params().with(|p| {
            p.border = border;
            p.passes = 25;
            p.tolerance = 1e-4;
        });
        let learnt = learn(params, &signals, &Dictionary::random(truth.extent(), 1, 9, 2).unwrap());
        let mut highest = f64::INFINITY;
        for point in &learnt.report.history {
            assert!(
                point.objective <= highest,
                "{border}: {} after {highest} in pass {}",
                point.objective,
                point.pass
            );
            highest = if point.replaced_atoms > 0 { f64::INFINITY } else { point.objective };
        }
        let report = &learnt.report.pursuit;
        assert_eq!(report.status, Status::Converged);
        assert!(
            report.total.objective <= highest * (1.0 + 1e-6),
            "{border}: the final pursuit is worse than learning"
        );
        if border == Border::Free {
            // Recompute the objective from dictionary and needles.
            let mut objective = 0.0;
            for (observed, needles) in signals.iter().zip(&learnt.needles) {
                let made = needles.synthesise(&learnt.dictionary).unwrap();
                let rest = observed.signal.minus(&made).unwrap();
                objective +=
                    rest.data().iter().map(|&r| 0.5 * f64::from(r) * f64::from(r)).sum::<f64>();
                objective +=
                    needles.codes().iter().map(|c| 0.3 * f64::from(c.value.abs())).sum::<f64>();
            }
            assert!(
                (objective / report.total.objective - 1.0).abs() < 1e-5,
                "{objective} against {}",
                report.total.objective
            );
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let truth = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 6, 99).unwrap();
    let signals = planted(&truth, &[50, 61], 3, 0.02, 0.05);
    let first = Dictionary::random(truth.extent(), 1, 10, 1).unwrap();
    let [one, two, three] = [1, 2, 3]
        .map(|threads| learn_on(threads, params().with(|p| p.passes = 12), &signals, &first));
    for other in [two, three] {
        assert_eq!(one.dictionary, other.dictionary);
        assert_eq!(one.needles, other.needles);
        assert_eq!(one.report.pursuit.total, other.report.pursuit.total);
    }
}

#[test]
fn masked_samples_do_not_affect_learning() {
    let truth = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 4, 99).unwrap();
    let mut signals = planted(&truth, &[50, 50], 2, 0.02, 0.02);
    let known: Vec<bool> = (0..2500).map(|i| i * 37 % 10 > 2).collect();
    for observed in &mut signals {
        observed.mask = Some(Mask::from_known(observed.signal.extent(), &known).unwrap());
    }
    let first = Dictionary::random(truth.extent(), 1, 8, 1).unwrap();
    let learnt = learn(params(), &signals, &first);
    let found = recovery(&truth, &learnt.dictionary);
    assert!(found.iter().all(|&r| r > 0.9), "recovered {found:?} from damaged signals");
    for observed in &mut signals {
        observed
            .signal
            .data_mut()
            .iter_mut()
            .zip(&known)
            .for_each(|(x, &k)| *x = if k { *x } else { f32::NAN });
    }
    assert_eq!(learnt.dictionary, learn(params(), &signals, &first).dictionary);
}

#[test]
fn colour_and_volume_atoms_are_learnt() {
    for (axes, atom, channels) in [(&[30, 31][..], &[4, 4][..], 3), (&[12, 13, 14], &[3, 3, 3], 1)]
    {
        let extent = Extent::new(atom).unwrap();
        let truth = Dictionary::random(extent, channels, 3, 5).unwrap();
        let signals = planted(&truth, axes, 2, 0.02, 0.02);
        let first = Dictionary::random(extent, channels, 6, 8).unwrap();
        let learnt = learn(params().with(|p| p.penalty = Penalty::Absolute(1.2)), &signals, &first);
        let last = learnt.report.history.last().unwrap().objective;
        assert!(
            last < 0.9 * learnt.report.history[0].objective,
            "{axes:?}: learning hardly improved"
        );
    }
}

#[test]
fn the_observer_and_the_target_end_learning() {
    let truth = Dictionary::random(Extent::new(&[9]).unwrap(), 1, 3, 5).unwrap();
    let signals = planted(&truth, &[300], 1, 0.03, 0.02);
    let first = Dictionary::random(truth.extent(), 1, 5, 8).unwrap();
    let mut stop =
        |now: &Progress| if now.pass == Some(4) { Control::Stop } else { Control::Continue };
    let learnt = params().check().unwrap().run(&cpu(0), &signals, &first, &mut stop).unwrap();
    assert_eq!((learnt.report.status, learnt.report.passes), (Status::Interrupted, 3));
    let goal = learn(params(), &signals, &first).report.history[9].objective;
    let reached =
        learn(params().with(|p| p.target_objective = Some(goal)), &signals, &first).report;
    assert_eq!(reached.status, Status::Converged);
    assert!(reached.passes <= 10 && reached.history.last().unwrap().objective <= goal);
}
