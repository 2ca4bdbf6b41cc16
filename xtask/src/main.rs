//! Chores: `cargo xtask <name>`.

fn main() {}
