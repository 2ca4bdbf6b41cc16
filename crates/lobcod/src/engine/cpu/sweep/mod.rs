//! Sweeps over needles: discovery and support, tile by tile.

pub mod bounds;
pub mod colours;
pub mod discovery;
pub mod fit;
pub mod groups;
pub mod support;
