//! What a session keeps: atoms, planes, tiles and their codes.

pub mod atoms;
pub mod changes;
pub mod channels;
pub mod field;
pub mod footprint;
pub mod plane;
pub mod rank_one;
pub mod scratch;
pub mod state;
pub mod tile;
