//! The CPU engine passes the conformance suite: it agrees with the dense oracle, and its reports
//! are true.

use lobcod::engine::CpuEngine;
use lobcod_conformance::suite;

#[test]
fn cpu_engine_agrees_with_the_oracle_in_single_precision() {
    suite::check_engine_f32(&CpuEngine::new(2).expect("two threads"));
}

#[test]
fn cpu_engine_agrees_with_the_oracle_in_double_precision() {
    suite::check_engine_f64(&CpuEngine::new(2).expect("two threads"));
}

#[test]
fn cpu_engine_solves_every_model_in_single_precision() {
    suite::check_models::<f32>(&CpuEngine::new(2).expect("two threads"));
}

#[test]
fn cpu_engine_solves_every_model_in_double_precision() {
    suite::check_models::<f64>(&CpuEngine::new(2).expect("two threads"));
}
