//! From options to the parameters of inpainting.

use crate::args::InpaintArgs;
use crate::engine;
use crate::params::time_limit;
use crate::values::{LearnChoice, Preset};
use anyhow::Result;
use lobcod::tasks::inpaint::{Inpaint, InpaintParams};

/// What the options ask for.
pub fn inpaint(args: &InpaintArgs) -> Result<Inpaint> {
    engine::check(&args.run)?;
    let (learn, windows, density) = match args.preset {
        Preset::Fast => (LearnChoice::None, vec![1.0], 1.0),
        Preset::Standard => (LearnChoice::None, vec![1.0], 0.5),
        Preset::Best => (LearnChoice::Image, vec![1.0, 0.5], 0.5),
    };
    let learn = args.learn.unwrap_or(learn) == LearnChoice::Image;
    // Who has the time to learn has the time for a second copy, whose answer helps more surely than a learnt one.
    let variants = if learn { 2 } else { 1 };
    let params = InpaintParams {
        penalty: args.penalty.0,
        learn,
        variants: args.variants.unwrap_or(variants),
        windows: args.windows.clone().unwrap_or(windows),
        density: args.density.unwrap_or(density),
        held_out: args.held_out,
        seed: args.run.seed,
        time_limit: time_limit(&args.run)?,
        threads: args.run.threads,
        max_memory: args.run.max_memory.map(|bytes| bytes.0),
    };
    Ok(params.check()?)
}
