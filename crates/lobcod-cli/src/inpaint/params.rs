//! Conversion of options to inpainting parameters.

use crate::args::InpaintArgs;
use crate::params::time_limit;
use crate::values::{LearnChoice, Preset};
use anyhow::Result;
use lobcod_tasks::inpaint::{InpaintParams, Inpainter};

/// The parameters for these options.
pub fn inpaint(args: &InpaintArgs) -> Result<Inpainter> {
    let (learn, windows, variants, density, groups) = match args.preset {
        Preset::Fast => (LearnChoice::None, vec![1.0], 1, 2.0, 0),
        Preset::Standard => (LearnChoice::None, vec![1.0], 2, 1.5, 0),
        Preset::Best => (LearnChoice::Image, vec![1.0, 0.5], 2, 1.0, 12),
    };
    let learn = args.learn.unwrap_or(learn) == LearnChoice::Image;
    let mut params = InpaintParams::default();
    params.penalty = args.penalty.0;
    params.learn = learn;
    params.variants = args.variants.unwrap_or(variants);
    params.windows = args.windows.clone().unwrap_or(windows);
    params.density = args.density.unwrap_or(density);
    params.groups = args.groups.unwrap_or(groups);
    params.held_out = args.held_out;
    params.everywhere = args.refit_known;
    params.seed = args.run.seed;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}
