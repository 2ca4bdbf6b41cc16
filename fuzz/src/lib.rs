//! Fuzz targets of lobcod.
//!
//! A target is a plain function of bytes that panics when an invariant is violated. It is written
//! once and run in three ways: by proptest for some seconds (`tests/short.rs`, in CI), by the
//! driver of this crate for any time (`cargo xtask fuzz TARGET SECONDS`), and, guided by coverage,
//! by cargo-fuzz (`guided/`, needs a nightly compiler).

pub mod bytes;

pub mod mutate;
pub mod repair;
pub mod scratch;
pub mod seeds;
pub mod targets;

/// A fuzz target.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Panics when an invariant is violated.
    pub run: fn(&[u8]),
    /// Valid inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 6] = [
    Target { name: "image", run: targets::image::run, seeds: seeds::images },
    Target { name: "archive", run: targets::archive::run, seeds: seeds::archives },
    Target { name: "mask", run: targets::mask::run, seeds: seeds::masks },
    Target { name: "lasso", run: targets::lasso::run, seeds: seeds::plain },
    Target { name: "pursuit", run: targets::pursuit::run, seeds: seeds::plain },
    Target { name: "arguments", run: targets::arguments::run, seeds: seeds::plain },
];

/// The target with this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
