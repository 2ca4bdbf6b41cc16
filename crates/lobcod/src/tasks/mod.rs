//! Whole tasks: what the pursuit is for.

pub mod align;
pub mod colour;
pub mod denoise;
pub mod fuse;
pub mod inpaint;
pub mod separate;
