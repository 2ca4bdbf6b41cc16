//! What a session keeps: atoms, planes, tiles and their codes.

pub mod atoms;
pub mod changes;
pub mod field;
pub mod footprint;
pub mod plane;
pub mod scratch;
pub mod state;
pub mod tile;
