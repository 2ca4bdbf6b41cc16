//! Runs every target briefly: valid inputs and some thousand mutated ones, the same in every run.

use lobcod_fuzz::mutate::mutate;
use lobcod_fuzz::target;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn fuzz(name: &str, cases: u32) {
    let target = target(name).expect("known target");
    let seeds = (target.seeds)();
    seeds.iter().for_each(|seed| (target.run)(seed));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let inputs = (0..seeds.len(), 0..seeds.len(), vec(any::<u8>(), 0..60));
    let run = |(seed, other, choices): (usize, usize, Vec<u8>)| {
        (target.run)(&mutate(&seeds[seed], &seeds[other], &choices));
        Ok(())
    };
    runner.run(&inputs, run).unwrap_or_else(|failure| panic!("{name}: {failure}"));
}

#[test]
fn images() {
    fuzz("image", 1500);
}

#[test]
fn archives() {
    fuzz("archive", 1000);
}

#[test]
fn masks() {
    fuzz("mask", 1500);
}

#[test]
fn lassos() {
    fuzz("lasso", 2000);
}

#[test]
fn pursuits() {
    fuzz("pursuit", 2000);
}
