//! The texts behind a fingerprint are part of the format: a change would void saved runs.

use super::{hash_numbers, learning_settings, pursuit_settings};
use crate::border::Border;
use crate::dictionary::Window;
use crate::extent::Extent;
use crate::learn::{Decay, LearnParams, Method, Step};
use crate::pursuit::{Local, Loss, Penalty, PursuitParams, Schedule};
use std::time::Duration;

#[test]
fn the_settings_of_a_pursuit_are_frozen() {
    type Change = fn(&mut PursuitParams);
    let cases: [(Change, &str); 23] = [
        (|_| (), ""),
        (|p| p.border = Border::Zero, "border=zero "),
        (|p| p.border = Border::Periodic, "border=periodic "),
        (|p| p.border = Border::Inside, "border=inside "),
        (|p| p.tolerance = 1e-4, "tolerance=0.0001 "),
        (|p| p.schedule = Schedule::Layers, "schedule=layers "),
        (|p| p.schedule = Schedule::Needles, "schedule=needles "),
        (|p| p.local = Local::Lars, "local=lars "),
        (|p| p.nonnegative = true, "nonnegative=true "),
        (|p| p.atom_weights = Some(vec![1.0, 0.25]), "atom_weights=1,0.25 "),
        (|p| p.elastic = 0.5, "elastic=0.5 "),
        (|p| p.joint = 0.5, "joint=0.5 "),
        (|p| p.debias = true, "debias=true "),
        (|p| p.loss = Loss::L1, "loss=l1 "),
        (|p| p.loss = Loss::Huber(2.5), "loss=huber:2.5 "),
        (|p| p.loss = Loss::Cauchy(2.5), "loss=cauchy:2.5 "),
        (|p| p.max_nonzeros = Some(3), "max_nonzeros=3 "),
        (|p| p.tile = Some(16), "tile=16 "),
        (|p| p.seed = 7, "seed=7 "),
        (|p| (p.seed, p.border) = (7, Border::Zero), "border=zero seed=7 "),
        // Limits do not affect the course.
        (|p| p.max_sweeps = 5, ""),
        (|p| p.time_limit = Some(Duration::from_secs(1)), ""),
        (|p| p.max_memory = Some(1), ""),
    ];
    for (change, words) in cases {
        let params = PursuitParams::new(Penalty::Absolute(0.1)).with(change);
        assert_eq!(pursuit_settings(&params), format!("penalty=absolute,0.1 {words}"));
    }
}

#[test]
fn the_settings_of_learning_are_frozen() {
    type Change = fn(&mut LearnParams);
    let cases: [(Change, &str); 19] = [
        (|_| (), ""),
        (|p| p.border = Border::Zero, "border=zero "),
        (|p| p.nonnegative = true, "nonnegative=true "),
        (|p| p.zero_mean = true, "zero_mean=true "),
        (|p| p.window = Some(Window::Tukey(0.5)), "window=tukey:0.5 "),
        (|p| p.sizes = vec![Extent::new(&[8, 8]).unwrap(); 2], "sizes=8x8,8x8, "),
        (|p| p.rank_one = true, "rank_one=true "),
        (|p| p.frozen = 2, "frozen=2 "),
        (|p| (p.grow, p.passes) = (true, 30), "grow=30 "),
        (|p| p.method = Method::Batch, "method=batch "),
        (|p| p.rounds = 4, "rounds=4 "),
        (|p| p.stream_memory = 8, "stream_memory=8 "),
        (|p| p.seed = 7, "seed=7 "),
        // The order of atoms and limits do not affect the course.
        (|p| p.sort = true, ""),
        (|p| p.passes = 5, ""),
        (|p| p.target_objective = Some(1.0), ""),
        (|p| p.time_limit = Some(Duration::from_secs(1)), ""),
        (|p| p.tolerance = 0.5, ""),
        (|p| p.max_memory = Some(1), ""),
    ];
    for (change, words) in cases {
        let params = LearnParams::new(Penalty::Relative(0.1)).with(change);
        assert_eq!(learning_settings(&params), format!("penalty=relative,0.1 {words}"));
    }
}

#[test]
fn the_words_of_penalties_steps_and_decays_are_frozen() {
    for (penalty, words) in [
        (Penalty::Absolute(2.0), "penalty=absolute,2 "),
        (Penalty::Relative(0.05), "penalty=relative,0.05 "),
        (Penalty::MaxError(1.5), "penalty=max_error,1.5 "),
    ] {
        assert_eq!(pursuit_settings(&PursuitParams::new(penalty)), words);
        assert_eq!(learning_settings(&LearnParams::new(penalty)), words);
    }
    let steps = [
        (Step::PAPER, "paper,30,0.02,0.0000001,0.8"),
        (Step::SGD, "sgd,0.02"),
        (Step::MOMENTUM, "momentum,0.0000001,0.8"),
        (Step::ADAGRAD, "adagrad,0.01,0.00000001"),
        (Step::ADADELTA, "adadelta,1,0.95,0.000001"),
        (Step::ADAM, "adam,0.001,0.9,0.999,0.00000001"),
    ];
    assert_eq!(steps.map(|(step, _)| step), Step::ALL);
    let decays = [
        (Decay::None, "none"),
        (Decay::Online { images: 200 }, "online:200"),
        (Decay::Exponential { factor: 0.9 }, "exponential:0.9"),
    ];
    for (step, of_step) in steps {
        for (decay, of_decay) in decays {
            let params = LearnParams::new(Penalty::Absolute(1.0))
                .with(|p| p.method = Method::Stochastic { step, decay });
            let words = format!("penalty=absolute,1 method=stochastic,{of_step},{of_decay} ");
            assert_eq!(learning_settings(&params), words);
        }
    }
}

/// Planes with equal measurements must not cancel, and their order matters.
#[test]
fn the_hash_of_measurements_depends_on_every_number_and_their_order() {
    let hash = |numbers: &[f64]| hash_numbers(numbers.iter());
    assert_ne!(hash(&[1.0, 2.0, 2.0]), hash(&[1.0, 3.0, 3.0]));
    assert_ne!(hash(&[1.0, 2.0, 3.0]), hash(&[1.0, 3.0, 2.0]));
    assert_ne!(hash(&[1.0, 2.0]), hash(&[1.0, 2.0, 0.0]));
}
