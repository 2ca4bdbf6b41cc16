//! Learning is bit-identical for any number of ranks.

use lobcod::dictionary::{Constraints, Window};
use lobcod::engine::ranks::RankEngine;
use lobcod::engine::{
    Context, CpuEngine, Discovery, Engine, Measure, Plane, Problem as EngineProblem, Session,
    Support, Visit,
};
use lobcod::grid::Grouping;
use lobcod::learn::{Method, Step};
use lobcod::pursuit::Local;
use lobcod::{Border, LearnParams, Learnt, Penalty};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{Extra, Observation, Problem, Shape};
use lobcod_conformance::ranks::on_ranks;

/// The bits of everything learnt.
fn bits(learnt: &Learnt<f32>) -> Vec<u64> {
    let mut bits: Vec<u64> =
        learnt.dictionary.data().iter().map(|x| u64::from(x.to_bits())).collect();
    bits.extend(learnt.report.history.iter().map(|point| point.objective.to_bits()));
    bits.push(learnt.report.pursuit.total.objective.to_bits());
    for code in learnt.needles.iter().flat_map(|needles| needles.codes()) {
        bits.extend(code.position.map(|p| p as u64));
        bits.extend([
            u64::from(code.atom),
            u64::from(code.channel),
            u64::from(code.value.to_bits()),
        ]);
    }
    bits
}

fn ranks_change_nothing(
    set: impl Fn(&mut LearnParams),
    sizes: &[[usize; 2]],
    layouts: &[(usize, Option<[usize; 3]>)],
) {
    for border in Border::ALL {
        let problems: Vec<Problem> = sizes
            .iter()
            .map(|size| {
                let shape = Shape {
                    signal: Box::leak(Box::new(*size)),
                    atom: &[4, 5],
                    channels: (1, 1),
                    atoms: 6,
                    tile: 8,
                };
                Problem::new(4, shape, border, Observation::Known, Extra::Plain)
                    .expect("the atom fits")
            })
            .collect();
        let observed: Vec<_> = problems.iter().map(Problem::observed::<f32>).collect();
        let first = problems[0].dictionary.cast();
        let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
            p.border = border;
            p.passes = 3;
            set(p);
        });
        let named = format!("{:?}", params.method);
        let learner = params.check().expect("valid parameters");
        let alone = bits(&learner.run(&cpu(1), &observed, &first, &mut ()).expect("a dictionary"));
        for &(ranks, grid) in layouts {
            let answers = on_ranks(ranks, |world| {
                let engine = RankEngine::new(world, 1).expect("an engine");
                let engine =
                    if let Some(grid) = grid { engine.with_process_grid(grid) } else { engine };
                bits(&learner.run(&engine, &observed, &first, &mut ()).expect("a dictionary"))
            });
            assert!(
                answers.iter().all(|answer| *answer == alone),
                "{named}, {ranks} ranks, blocks {grid:?}, border {border}"
            );
        }
    }
}

const SIZES: [[usize; 2]; 4] = [[37, 41], [12, 60], [19, 9], [25, 25]];

#[test]
fn learning_from_images_on_several_ranks_is_bit_identical() {
    ranks_change_nothing(|_| {}, &SIZES, &[(2, None), (3, None), (6, None)]);
}

#[test]
fn constrained_and_growing_atoms_on_several_ranks_are_the_same() {
    let set = |p: &mut LearnParams| {
        p.nonnegative = true;
        p.zero_mean = true;
        p.window = Some(Window::Tukey(0.8));
        p.frozen = 3;
        p.grow = true;
        p.sort = true;
    };
    ranks_change_nothing(set, &SIZES[..2], &[(2, None), (4, Some([1, 2, 2]))]);
}

#[test]
fn gradients_of_planes_that_are_cut_are_the_same() {
    let stochastic = Method::Stochastic { step: Step::ADAM, decay: Default::default() };
    for method in [stochastic, Method::Batch] {
        ranks_change_nothing(
            |p| p.method = method,
            &SIZES[..2],
            &[(2, None), (4, Some([1, 2, 2])), (3, Some([1, 1, 3]))],
        );
    }
}

/// A masked plane of many tiles, so that the pass over its atoms uses bands.
fn large(border: Border, tile: usize) -> EngineProblem<f32> {
    let shape = Shape { signal: &[150, 121], atom: &[4, 3], channels: (1, 1), atoms: 7, tile };
    let problem =
        Problem::new(8, shape, border, Observation::Known, Extra::Plain).expect("the atom fits");
    let (signal, mask) =
        (problem.observed::<f32>().signal, problem.observed::<f32>().mask.expect("a mask"));
    let known =
        signal.data().iter().zip(mask.channel(0)).map(|(&x, &w)| if w == 0.0 { 0.0 } else { x });
    let weights = Some(mask.channel(0).to_vec());
    let plane = Plane { target: known.collect(), weights, ..Plane::empty(signal.extent()) };
    EngineProblem {
        planes: vec![plane],
        dictionary: problem.dictionary.cast(),
        border,
        grouping: Grouping::Tiles(tile),
        atom_weights: vec![1.0; 7],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: true,
    }
}

/// Finds codes, then alternates improving atoms and codes; returns atoms, objective and residual.
fn improve(engine: &dyn Engine<f32>, problem: EngineProblem<f32>) -> (Vec<f32>, f64, Vec<f32>) {
    let (mut session, context) =
        (engine.open(problem, None).expect("a session"), Context::default());
    let sweep =
        Discovery { penalty: 1.5, visit: Visit::All, local_tolerance: 1e-3, layer_seed: None };
    session.discover(&sweep, &context).expect("a sweep");
    let mut before = f64::INFINITY;
    for _ in 0..3 {
        session
            .support(&Support { penalty: 1.5, sweeps: 1, rounds: 2, tolerance: 1e-3 }, &context)
            .expect("sweeps");
        let objective = |session: &mut dyn Session<f32>, what: Measure| {
            session.measure(what, &Context::default()).expect("a measurement")[0].objective(1.5)
        };
        let now = objective(&mut *session, Measure::Objective);
        assert!(now < before, "codes did not lower the objective");
        assert!(
            session.learning().improve_atoms(&Constraints::default(), &context).expect("a pass")
                > 0.0
        );
        let followed = objective(&mut *session, Measure::Progress);
        before = objective(&mut *session, Measure::Objective);
        assert!(
            before < now && (followed - before).abs() < 1e-5 * before,
            "{now}, {followed}, {before}"
        );
    }
    (session.dictionary().data().to_vec(), before, session.residual(0).expect("a residual"))
}

#[test]
fn the_atoms_of_one_plane_that_is_cut_into_bands_are_the_same() {
    for border in Border::ALL {
        let alone = improve(&CpuEngine::new(1).expect("an engine"), large(border, 4));
        assert!(
            improve(&CpuEngine::new(3).expect("an engine"), large(border, 4)) == alone,
            "threads, border {border}"
        );
        for ranks in [2, 3, 6] {
            let answers = on_ranks(ranks, |world| {
                improve(&RankEngine::new(world, 1).expect("an engine"), large(border, 4))
            });
            assert!(
                answers.iter().all(|answer| *answer == alone),
                "{ranks} ranks, border {border}"
            );
        }
    }
}
