//! The gradient in the dictionary and the energy along a direction agree with the dense oracle, for
//! every border, rank and mask.

use lobcod::engine::CpuEngine;
use lobcod_conformance::gradient::gradient_is_that_of_the_data_term;
use lobcod_conformance::problems;

/// Problems small enough for a dense matrix with an atom for every sample.
fn small() -> impl Iterator<Item = problems::Problem> {
    problems::all().into_iter().filter(|p| p.shape.signal.iter().product::<usize>() <= 230)
}

#[test]
fn double_precision_agrees_with_the_oracle() {
    let engine = CpuEngine::new(2).unwrap();
    small().for_each(|problem| gradient_is_that_of_the_data_term::<f64>(&engine, &problem));
}

#[test]
fn single_precision_agrees_with_the_oracle() {
    let engine = CpuEngine::new(2).unwrap();
    small()
        .step_by(2)
        .for_each(|problem| gradient_is_that_of_the_data_term::<f32>(&engine, &problem));
}

#[test]
fn the_order_of_the_tiles_changes_no_bit() {
    use lobcod::engine::{Context, Discovery, Engine, Plane, Problem, Visit};
    use lobcod::pursuit::Local;
    use lobcod::{Border, Dictionary, Extent, grid::Grouping};
    let gradient = |engine: CpuEngine| {
        let extent = Extent::new(&[60, 50]).unwrap();
        let wave = |i: usize| ((i * i % 97) as f32 * 0.1).sin() * 3.0;
        let target = (0..3000).map(wave).collect();
        let problem = Problem {
            planes: vec![Plane { target, ..Plane::empty(extent) }],
            dictionary: Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 9, 1).unwrap(),
            border: Border::Free,
            grouping: Grouping::Tiles(8),
            atom_weights: vec![1.0; 9],
            elastic: 0.0,
            joint: None,
            nonnegative: false,
            local: Local::Coordinate,
            cap: None,
            learning: false,
        };
        let mut session = Engine::<f32>::open(&engine, problem, None).unwrap();
        let sweep =
            Discovery { penalty: 1.0, visit: Visit::All, local_tolerance: 1e-3, layer_seed: None };
        session.discover(&sweep, &Context::default()).unwrap();
        session.learning().gradient(None).unwrap()
    };
    let plain = gradient(CpuEngine::new(1).unwrap());
    assert!(plain.iter().any(|&g| g != 0.0));
    assert_eq!(plain, gradient(CpuEngine::new(3).unwrap()));
    assert_eq!(plain, gradient(CpuEngine::new(1).unwrap().with_reversed_tiles()));
}
