//! Smooth layers estimated with the codes: the optimum of the oracle, an honest gap, the layer that
//! belongs to the codes, and learning.

use lobcod::base::smooth;
use lobcod::learn::Method;
use lobcod::{
    Border, Dictionary, Extent, LearnParams, Mask, Observed, Penalty, PursuitParams, Signal, Status,
};
use lobcod_conformance::problems::{Extra, Observation, Problem, SHAPES};
use lobcod_conformance::suite::tight;
use lobcod_conformance::{Oracle, cpu};

const OBSERVATIONS: [Observation; 3] =
    [Observation::Full, Observation::Known, Observation::Fractional];

/// Problems of all shapes, with layers of different weights.
fn problems() -> impl Iterator<Item = Problem> {
    let cases = SHAPES.into_iter().enumerate().flat_map(|(i, shape)| {
        [Border::Free, Border::Zero, Border::Periodic].map(|border| (i, shape, border))
    });
    cases.filter_map(|(i, shape, border)| {
        let observation = OBSERVATIONS[i % 3];
        let mut problem = Problem::new(i as u64, shape, border, observation, Extra::Plain)?;
        problem.params.smooth_layer = [0.3, 2.0, 20.0][i % 3];
        Some(problem)
    })
}

#[test]
fn every_shape_is_solved_to_the_optimum_with_its_layer() {
    for problem in problems() {
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let best = oracle.objective(&oracle.solve());
        let params = tight::<f64>(&problem).with(|p| p.tolerance = 1e-10);
        let observed = std::slice::from_ref(&problem.observed);
        let answer =
            params.check().unwrap().run(&cpu(1), observed, &problem.dictionary, &mut ()).unwrap();
        let report = &answer.report;
        assert_eq!(report.status, Status::Converged, "{problem}");
        let objective = report.total.objective;
        assert!((objective - best).abs() <= 1e-9 * best, "{objective}, not {best}: {problem}");
        let most = oracle.penalty_max();
        let found = report.total.penalty_max;
        assert!((found - most).abs() <= 1e-7 * most, "{found}, not {most}: {problem}");
        // The layer is that of what the codes leave.
        let made = answer.needles[0].synthesise(&problem.dictionary).unwrap();
        let rest = problem.observed.signal.minus(&made).unwrap();
        let mask = problem.observed.mask.as_ref();
        let layer = smooth(&rest, mask, problem.params.smooth_layer).unwrap();
        for (a, b) in answer.layers[0].data().iter().zip(layer.data()) {
            assert!((a - b).abs() < 1e-4, "{a}, not {b}: {problem}");
        }
    }
}

#[test]
fn the_gap_is_honest_in_both_precisions() {
    for problem in problems().step_by(2) {
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let best = oracle.objective(&oracle.solve());
        for tolerance in [0.3, 1e-2, 1e-4] {
            let pursuit = problem.params.clone().with(|p| p.tolerance = tolerance).check().unwrap();
            let observed = [problem.observed::<f32>()];
            let dictionary = problem.dictionary.cast::<f32>();
            let answer = pursuit.run(&cpu(1), &observed, &dictionary, &mut ()).unwrap();
            let total = &answer.report.total;
            let codes = oracle.codes(&answer.needles[0]);
            // The oracle fits the layer itself, so it may be slightly better.
            let joint = oracle.objective(&codes);
            assert!(total.objective >= joint * (1.0 - 1e-5), "{problem}: {joint}");
            assert!(total.objective - best <= total.gap + 1e-5 * best, "{problem}: {total:?}");
            assert!(total.relative_gap() <= tolerance, "{problem}: {total:?}");
        }
    }
}

#[test]
fn codes_are_zero_from_penalty_max_on() {
    let problem = problems().nth(4).unwrap();
    let nonzeros = |fraction: f64| {
        let params = problem.params.clone().with(|p| {
            p.penalty = Penalty::Relative(fraction);
            p.tolerance = 1e-9;
        });
        let observed = std::slice::from_ref(&problem.observed);
        let pursuit = params.check().unwrap();
        pursuit.run(&cpu(1), observed, &problem.dictionary, &mut ()).unwrap().report.total.nonzeros
    };
    assert_eq!(nonzeros(1.0 + 1e-9), 0);
    assert!(nonzeros(0.99) > 0);
}

/// Waves on a slope, of which every fifth sample is missing.
fn slope(samples: usize) -> Observed<f64> {
    let wave = |i: usize| {
        let bump = if (i / 16).is_multiple_of(3) { (i as f64 * 0.8).sin() * 4.0 } else { 0.0 };
        30.0 + 0.2 * i as f64 + 10.0 * (i as f64 / 60.0).sin() + bump
    };
    let extent = Extent::new(&[samples]).unwrap();
    let signal = Signal::from_planar(extent, 1, (0..samples).map(wave).collect()).unwrap();
    let known: Vec<bool> = (0..samples).map(|i| i % 5 != 0).collect();
    Observed { mask: Some(Mask::from_known(extent, &known).unwrap()), ..signal.into() }
}

/// A constant atom competes with the layer for low frequencies, the slowest case.
#[test]
fn a_layer_next_to_a_constant_atom_converges() {
    let extent = Extent::new(&[12]).unwrap();
    let dictionary = Dictionary::<f64>::dct(extent, 1, 12).unwrap();
    let params = PursuitParams::new(Penalty::Relative(0.05)).with(|p| {
        p.smooth_layer = 5.0;
        p.tolerance = 1e-6;
    });
    let answer = params.check().unwrap().run(&cpu(1), &[slope(400)], &dictionary, &mut ()).unwrap();
    assert_eq!(answer.report.status, Status::Converged);
    assert!(answer.report.discovery_sweeps < 200, "{} sweeps", answer.report.discovery_sweeps);
}

#[test]
fn a_constant_signal_has_only_a_layer() {
    let extent = Extent::new(&[20, 17]).unwrap();
    let dictionary = Dictionary::<f32>::random(Extent::new(&[4, 4]).unwrap(), 1, 9, 0).unwrap();
    let signal = Signal::from_planar(extent, 1, vec![7.3f32; 340]).unwrap();
    let params =
        PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.smooth_layer = 5.0).check().unwrap();
    let answer = params.run(&cpu(1), &[signal.into()], &dictionary, &mut ()).unwrap();
    assert_eq!((answer.report.total.nonzeros, answer.report.status), (0, Status::Converged));
    assert!(answer.layers[0].data().iter().all(|b| (b - 7.3).abs() < 1e-5));
}

/// The objective of learning is that of codes, atoms and layers, and never rises.
#[test]
fn learning_lowers_the_objective_of_codes_atoms_and_layers() {
    let first = Dictionary::<f64>::random(Extent::new(&[9]).unwrap(), 1, 4, 1).unwrap();
    for method in [Method::Atomwise, Method::Batch, Method::STOCHASTIC] {
        let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
            p.smooth_layer = 5.0;
            p.passes = 12;
            p.tolerance = 1e-6;
            p.method = method;
        });
        let observed = [slope(300)];
        let learner = params.check().unwrap();
        let learnt = learner.run(&cpu(1), &observed, &first, &mut ()).unwrap();
        let history = &learnt.report.history;
        if method != Method::STOCHASTIC {
            let rose = |pair: &[lobcod::learn::LearnPoint]| {
                pair[1].merged_atoms == 0 && pair[1].objective > pair[0].objective * (1.0 + 1e-9)
            };
            assert!(!history.windows(2).any(rose), "{method:?}: {history:?}");
        }
        let pursuit = &learnt.report.pursuit;
        assert!(pursuit.total.objective <= history.last().unwrap().objective * (1.0 + 1e-5));
        let params = learner.params().pursuit(Penalty::Absolute(pursuit.penalty));
        let oracle = Oracle::new(&params, &observed[0], &learnt.dictionary);
        let objective = oracle.objective(&oracle.codes(&learnt.needles[0]));
        let reported = pursuit.total.objective;
        assert!((reported - objective).abs() < 1e-6 * objective, "{reported}, not {objective}");
        assert_eq!(learnt.layers.len(), 1);
    }
}
