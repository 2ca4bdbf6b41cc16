//! All tests of the crate, in one program: what they share is compiled once.

mod align;
mod colour;
mod damage;
mod denoise;
mod fuse;
mod inpaint;
mod inpaint_copy;
mod metrics;
mod metrics_fusion;
mod numbers_tasks;
mod previews;
mod progress;
mod separate;
