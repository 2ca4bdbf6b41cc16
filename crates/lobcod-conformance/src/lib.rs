//! Conformance tests for engines of lobcod: a slow, dense, simple oracle in `f64`, seeded small
//! problems, and the suite that runs an engine on them.
//!
//! ```no_run
//! let engine = lobcod::engine::CpuEngine::new(2)?;
//! lobcod_conformance::suite::check_engine_f32(&engine);
//! lobcod_conformance::suite::check_engine_f64(&engine);
//! # Ok::<(), lobcod::Error>(())
//! ```

pub mod faults;
pub mod fruit;
pub mod gradient;
pub mod gratings;
mod groups;
pub mod honesty;
pub mod hooked;
mod layer;
pub mod matrix;
pub mod oracle;
mod plane;
pub mod problems;
pub mod ranks;
pub mod suite;

pub use oracle::Oracle;
pub use problems::Problem;

/// Reports that a test, or a part of it, is skipped, and why. Bypasses the test harness, which
/// captures the output of passing tests.
pub fn skipped(why: impl std::fmt::Display) {
    use std::io::Write as _;
    // If writing fails, the test is still skipped.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// The CPU engine with this many threads, 0 for all cores.
///
/// # Panics
/// If the threads cannot be started.
pub fn cpu(threads: usize) -> lobcod::engine::CpuEngine {
    lobcod::engine::CpuEngine::new(threads).expect("threads can be started")
}
