//! Dictionaries of atoms of several sizes: coded as the dense oracle does, and learnt.

use lobcod::{Border, Code, Dictionary, Extent, LearnParams, Needles, Observed, Penalty, Status};
use lobcod_conformance::problems::{Extra, Observation, Problem, SHAPES};
use lobcod_conformance::suite::{agrees_with_oracle, tight};
use lobcod_conformance::{Oracle, cpu};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Blocks of 16 atoms have zeros in the last half of every axis, in turn with blocks that have
/// none.
fn cut(dictionary: &Dictionary<f64>) -> Dictionary<f64> {
    let [_, height, width] = dictionary.extent().padded();
    let inside = |i: usize| {
        let at = [i / (height * width), i / width % height, i % width];
        at.iter().zip(dictionary.extent().padded()).all(|(&at, size)| at < size.div_ceil(2))
    };
    let mut data = dictionary.data().to_vec();
    for (k, atom) in data.chunks_exact_mut(dictionary.atom_len()).enumerate() {
        for (i, x) in atom.iter_mut().enumerate() {
            if k / 16 % 2 == 0 && !inside(i % dictionary.extent().volume()) {
                *x = 0.0;
            }
        }
    }
    Dictionary::new(dictionary.extent(), dictionary.channels(), data).expect("atoms with energy")
}

#[test]
fn smaller_atoms_are_coded_as_the_oracle_does() {
    let small = SHAPES.into_iter().filter(|s| s.signal.iter().product::<usize>() < 60);
    for (seed, shape) in (0..).zip(small) {
        for border in Border::ALL {
            let problem = Problem::new(seed, shape, border, Observation::Known, Extra::Plain);
            let Some(mut problem) = problem else { continue };
            problem.dictionary = cut(&problem.dictionary);
            agrees_with_oracle::<f64>(&cpu(1), &problem);
            agrees_with_oracle::<f32>(&cpu(2), &problem);
        }
    }
}

/// A small atom that is outside the signal at a position has no code there.
#[test]
fn positions_where_a_small_atom_misses_the_signal_have_no_code() {
    let mut problem =
        Problem::new(3, SHAPES[0], Border::Free, Observation::Full, Extra::Plain).unwrap();
    problem.dictionary = cut(&problem.dictionary);
    let params = tight::<f64>(&problem).with(|p| p.penalty = Penalty::Relative(1e-3));
    let (pursuit, observed) = (params.clone().check().unwrap(), [problem.observed.clone()]);
    let answer = pursuit.run(&cpu(1), &observed, &problem.dictionary, &mut ()).unwrap();
    let codes = answer.needles[0].codes();
    // Atoms of 3 samples in a box of 5.
    assert!(codes.iter().all(|c| c.position[2] >= -2), "{codes:?}");
    let oracle = Oracle::new(&params, &problem.observed, &problem.dictionary);
    let best = oracle.objective(&oracle.solve());
    assert!((answer.report.total.objective / best - 1.0).abs() < 1e-9);
}

/// Planted atoms of two sizes are recovered, each by an atom of its size.
#[test]
fn planted_atoms_of_two_sizes_are_recovered() {
    let (long, short) = (12, 5);
    let extent = Extent::new(&[long]).unwrap();
    let mut data = Dictionary::<f64>::random(extent, 1, 2, 4).unwrap().data().to_vec();
    data[short..long].fill(0.0);
    let truth = Dictionary::new(extent, 1, data).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let codes = (0..160).map(|i| Code {
        position: [0, 0, rng.random_range(0..2400)],
        atom: i % 2,
        channel: 0,
        value: rng.random_range(1.0..3.0),
    });
    let needles = Needles::new(Extent::new(&[2400]).unwrap(), 1, Border::Free, codes.collect());
    let observed: Observed<f64> = needles.synthesise(&truth).unwrap().into();
    let first = Dictionary::random(extent, 1, 2, 7).unwrap();
    let params = LearnParams::new(Penalty::Absolute(0.2)).with(|p| {
        p.sizes = [short, long].map(|length| Extent::new(&[length]).unwrap()).to_vec();
        p.passes = 60;
    });
    let learnt = params.check().unwrap().run(&cpu(1), &[observed], &first, &mut ()).unwrap();
    assert_eq!(learnt.report.status, Status::Completed);
    for k in 0..2 {
        let product: f64 =
            truth.atom(k).iter().zip(learnt.dictionary.atom(k)).map(|(a, b)| a * b).sum();
        assert!(product.abs() > 0.97, "atom {k} was recovered to {product}");
    }
    assert!(learnt.dictionary.atom(0)[short..].iter().all(|x| *x == 0.0));
}
