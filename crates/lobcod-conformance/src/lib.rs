//! What every engine of lobcod must pass, and the means to tell: a slow, dense, obvious oracle in `f64`, seeded small problems,
//! and the suite that runs an engine on them.
//!
//! ```no_run
//! let engine = lobcod::engine::CpuEngine::new(2)?;
//! lobcod_conformance::suite::check_engine_f32(&engine);
//! lobcod_conformance::suite::check_engine_f64(&engine);
//! # Ok::<(), lobcod::Error>(())
//! ```

pub mod fruit;
pub mod gradient;
pub mod gratings;
pub mod honesty;
pub mod matrix;
pub mod oracle;
mod plane;
pub mod problems;
pub mod ranks;
pub mod suite;

pub use oracle::Oracle;
pub use problems::Problem;

/// Says that a test, or a part of it, does not run here, and why. Written past the harness, which keeps what passing tests print to
/// itself.
pub fn skipped(why: impl std::fmt::Display) {
    use std::io::Write as _;
    // Where nobody can be told, the test is still skipped.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
