//! Threads, and how work is shared out among them.

pub mod pool;
pub mod shares;
pub mod team;
