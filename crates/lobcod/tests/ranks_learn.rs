//! Learning does not depend on the number of ranks, to the last bit.

use lobcod::engine::ranks::RankEngine;
use lobcod::{Border, LearnParams, Learnt, Method, Penalty, Step};
use lobcod_conformance::problems::{Extra, Observation, Problem, Shape};
use lobcod_conformance::ranks::on_ranks;

/// Everything learnt, as bits.
fn bits(learnt: &Learnt<f32>) -> Vec<u64> {
    let mut bits: Vec<u64> = learnt.dictionary.data().iter().map(|x| u64::from(x.to_bits())).collect();
    bits.extend(learnt.report.history.iter().map(|point| point.objective.to_bits()));
    bits.push(learnt.report.pursuit.total.objective.to_bits());
    for code in learnt.needles.iter().flat_map(|needles| needles.codes()) {
        bits.extend(code.position.map(|p| p as u64));
        bits.extend([u64::from(code.atom), u64::from(code.channel), u64::from(code.value.to_bits())]);
    }
    bits
}

fn ranks_change_nothing(method: Method, sizes: &[[usize; 2]], layouts: &[(usize, Option<[usize; 3]>)]) {
    for border in Border::ALL {
        let problems: Vec<Problem> = sizes
            .iter()
            .map(|size| {
                let shape = Shape { signal: Box::leak(Box::new(*size)), atom: &[4, 5], channels: (1, 1), atoms: 6, tile: 8 };
                Problem::new(4, shape, border, Observation::Known, Extra::Plain).expect("the atom fits")
            })
            .collect();
        let observed: Vec<_> = problems.iter().map(Problem::observed::<f32>).collect();
        let first = problems[0].dictionary.cast();
        let params = LearnParams { method, border, passes: 3, threads: 1, ..LearnParams::new(Penalty::Relative(0.1)) };
        let learner = params.check().expect("valid parameters");
        let alone = bits(&learner.run(&observed, &first, &mut ()).expect("a dictionary"));
        for &(ranks, grid) in layouts {
            let answers = on_ranks(ranks, |world| {
                let engine = RankEngine::new(world, 1).expect("an engine");
                let engine = if let Some(grid) = grid { engine.with_process_grid(grid) } else { engine };
                bits(&learner.run_on(&engine, &observed, &first, &mut ()).expect("a dictionary"))
            });
            assert!(answers.iter().all(|answer| *answer == alone), "{method:?}, {ranks} ranks, blocks {grid:?}, border {border}");
        }
    }
}

const SIZES: [[usize; 2]; 4] = [[37, 41], [12, 60], [19, 9], [25, 25]];

#[test]
fn images_spread_over_ranks_are_learnt_alike() {
    ranks_change_nothing(Method::Atomwise, &SIZES, &[(2, None), (3, None), (6, None)]);
}

#[test]
fn gradients_of_planes_that_are_cut_are_the_same() {
    let stochastic = Method::Stochastic { step: Step::ADAM, decay: Default::default() };
    for method in [stochastic, Method::Batch] {
        ranks_change_nothing(method, &SIZES[..2], &[(2, None), (4, Some([1, 2, 2])), (3, Some([1, 1, 3]))]);
    }
}
